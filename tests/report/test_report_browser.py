"""The report as a person meets it: in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harbor_author.report import collect, html
from harbor_author.scaffold import TaskRequest, new_task
from harbor_author.suite import find_suite
from tests.report.test_report import ABLATION, HOSTILE, TRIALS, receipt

if TYPE_CHECKING:
    from selenium.webdriver.chrome.webdriver import WebDriver

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDriver]:
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver") or "chromedriver")
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


@pytest.fixture
def report_file(suite_root: Path, tmp_path: Path) -> Path:
    made = new_task(find_suite(suite_root), TaskRequest(series="H", slug="one", title=HOSTILE[:100])).path
    receipt(made, TRIALS, ablation=ABLATION)
    for number in range(24, 34):
        shutil.copytree(made, suite_root / "tasks" / f"H{number}-{'long-' * 9}name")
    suite = find_suite(suite_root)
    path = tmp_path / "report.html"
    path.write_text(html(collect(suite, suite.tasks())), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [360, 800, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_at_any_width(browser: WebDriver, report_file: Path, width: int, scheme: str) -> None:
    # Device metrics, since a window has a least width.
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    browser.get(report_file.as_uri())
    overflow = browser.execute_script(
        """
        const inScroller = (element) => element.closest('.scroll, pre') !== null;
        return [...document.querySelectorAll('body *')]
          .filter((e) => !inScroller(e) && !e.closest('.skip') && !(e instanceof SVGElement)
            && e.getBoundingClientRect().right > window.innerWidth + 1)
          .map((e) => e.outerHTML.slice(0, 80));
        """
    )
    assert overflow == []
    cut = browser.execute_script(
        """
        return [...document.querySelectorAll('.chart svg text')]
          .filter((e) => { const box = e.getBBox(), all = e.ownerSVGElement.viewBox.baseVal;
            return box.x < -1 || box.x + box.width > all.width + 1 || box.y + box.height > all.height + 1; })
          .map((e) => e.textContent);
        """
    )
    assert cut == []
    ink, ground = browser.execute_script(
        "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]"
    )
    assert (_brightness(ink) > _brightness(ground)) == (scheme == "dark")
    assert browser.get_log("browser") == []


def _brightness(colour: str) -> float:
    return sum(float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3])


def test_labels_of_a_chart_do_not_overlap(browser: WebDriver, report_file: Path) -> None:
    browser.get(report_file.as_uri())
    overlaps = browser.execute_script(
        """
        const found = [];
        for (const svg of document.querySelectorAll('.chart svg')) {
          const boxes = [...svg.querySelectorAll('text')].map((e) => [e.textContent, e.getBoundingClientRect()]);
          for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
            const [a, b] = [boxes[i][1], boxes[j][1]];
            if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
              found.push([boxes[i][0], boxes[j][0]]);
          }
        }
        return found;
        """
    )
    assert overlaps == []


def test_it_is_read_and_walked_without_scripts(browser: WebDriver, report_file: Path) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(report_file.as_uri())
        link = browser.find_element("link text", "H24")
        link.click()
        assert browser.current_url.endswith("#task-1")
        article = browser.find_element("id", "task-1")
        assert "Separation" in article.text
        summary = article.find_element("css selector", "details > summary")
        table = article.find_element("css selector", "details table")
        assert not table.is_displayed()
        summary.send_keys("\n")
        assert table.is_displayed()
        article.find_element("link text", "Back to all tasks").click()
        assert browser.current_url.endswith("#tasks")
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
