"""The report as a person meets it: in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harbor_author.report import collect, html
from harbor_author.suite import find_suite
from tests.conftest import make_suite
from tests.report.scenes import make_scenes

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


@pytest.fixture(scope="module")
def report_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    suite = find_suite(make_scenes(make_suite(tmp_path_factory.mktemp("scenes"))))
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(html(collect(suite, suite.tasks())), encoding="utf-8")
    return path


#: What is wrong with the page as it is laid out now: [kind, text] of each fault.
FAULTS = """
const faults = [];
const seen = (e) => e.getClientRects().length > 0;
const scroller = (e) => e.closest('.scroll, pre') !== null;
if (document.documentElement.scrollWidth > window.innerWidth)
  faults.push(['page is wider than the window', document.documentElement.scrollWidth]);
for (const e of document.querySelectorAll('body *')) {
  if (!seen(e) || scroller(e) || e.closest('.skip')) continue;
  const box = e.getBoundingClientRect();
  if (box.right > window.innerWidth + 1 || box.left < -1) faults.push(['out of the window', e.outerHTML.slice(0, 90)]);
  if (getComputedStyle(e).overflowX === 'hidden' && e.scrollWidth > e.clientWidth + 1)
    faults.push(['cut', e.outerHTML.slice(0, 90)]);
}
const overlap = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2;
for (const svg of document.querySelectorAll('svg')) {
  if (!seen(svg)) continue;
  const whole = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll('text')];
  const boxes = texts.map((e) => e.getBoundingClientRect());
  texts.forEach((e, i) => {
    const box = boxes[i];
    if (box.left < whole.left - 1 || box.right > whole.right + 1
        || box.top < whole.top - 2 || box.bottom > whole.bottom + 2)
      faults.push(['label out of its chart', e.textContent]);
    // A rotated label's box is larger than the label; those of a heat map's columns are equally far apart.
    if (e.hasAttribute('transform')) return;
    for (let j = i + 1; j < boxes.length; j++)
      if (!texts[j].hasAttribute('transform') && overlap(box, boxes[j]))
        faults.push(['labels overlap', e.textContent, texts[j].textContent]);
    for (const cell of svg.querySelectorAll('.cells'))
      if (overlap(box, cell.getBoundingClientRect())) { faults.push(['label over cells', e.textContent]); break; }
  });
}
const words = [...document.querySelectorAll('h1, h2, h3, p, li, dt, dd, summary, td, th, caption, nav a')].filter(
  (e) => seen(e) && !scroller(e));
const places = words.map((e) => e.getBoundingClientRect());
for (let i = 0; i < words.length; i++)
  for (let j = i + 1; j < words.length; j++)
    if (!words[i].contains(words[j]) && !words[j].contains(words[i]) && overlap(places[i], places[j]))
      faults.push(['text over text', words[i].textContent.slice(0, 60), words[j].textContent.slice(0, 60)]);
return faults;
"""


@pytest.mark.parametrize("width", [360, 800, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overlaps_and_nothing_is_cut(
    browser: WebDriver, report_file: Path, width: int, scheme: str
) -> None:
    # Device metrics, since a window has a least width.
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    browser.get(report_file.as_uri())
    pages = browser.execute_script("return [...document.querySelectorAll('article')].map((e) => e.id)")
    assert len(pages) == 8
    for page in ("", *pages):
        browser.execute_script("location.hash = arguments[0]", page)
        browser.execute_script(
            "document.querySelectorAll('article:target details').forEach((e) => e.open = true)"
        )
        assert browser.execute_script(FAULTS) == [], page
    ink, ground = browser.execute_script(
        "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]"
    )
    assert (_brightness(ink) > _brightness(ground)) == (scheme == "dark")
    assert browser.get_log("browser") == []


CONTRAST = """
const parse = (text) => text.match(/[\\d.]+/g).map(Number);
const linear = (v) => v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4;
const light = (c) => { const [r, g, b] = c.slice(0, 3).map(linear);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const ground = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
  if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
const faint = {};
for (const e of document.querySelectorAll('body *')) {
  if (!e.getClientRects().length || ![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
  const style = getComputedStyle(e), ink = parse(e instanceof SVGElement ? style.fill : style.color);
  const [a, b] = [light(ink), light(ground(e))].sort((x, y) => y - x);
  if ((a + 0.05) / (b + 0.05) < 4.5) faint[style.color] = [e.outerHTML.slice(0, 80), (a + 0.05) / (b + 0.05)];
}
return faint;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_stands_out_from_its_ground(browser: WebDriver, report_file: Path, scheme: str) -> None:
    """By the ratio of 4.5 that the web's accessibility guidelines ask for."""
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    browser.get(report_file.as_uri())
    for page in ("", "task-0", "task-1", "task-2", "task-4"):
        browser.execute_script("location.hash = arguments[0]", page)
        assert browser.execute_script(CONTRAST) == {}, page


def _brightness(colour: str) -> float:
    return sum(float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3])


def test_it_is_read_and_walked_by_keyboard_without_scripts(browser: WebDriver, report_file: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(report_file.as_uri())
        assert not browser.find_element("id", "task-1").is_displayed()
        link = browser.find_element("link text", "H24")
        link.send_keys(Keys.ENTER)
        assert browser.current_url.endswith("#task-1")
        article = browser.find_element("id", "task-1")
        assert article.is_displayed()
        assert not browser.find_element("id", "cards").is_displayed(), "a task is a page of its own"
        assert "Separation" in article.text
        summary = article.find_element("css selector", "details > summary")
        table = article.find_element("css selector", "details table")
        assert not table.is_displayed()
        summary.send_keys(Keys.ENTER)
        assert table.is_displayed()
        article.find_element("css selector", "nav a[rel=next]").send_keys(Keys.ENTER)
        assert browser.find_element("id", "task-2").is_displayed()
        assert not article.is_displayed()
        browser.find_element("css selector", "#task-2 .back a").send_keys(Keys.ENTER)
        assert browser.current_url.endswith("#tasks")
        assert browser.find_element("id", "cards").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_a_bar_tells_its_trial_to_who_points_at_it(browser: WebDriver, report_file: Path) -> None:
    browser.get(report_file.as_uri() + "#task-2")
    told = browser.execute_script("""
    return [...document.querySelectorAll('#task-2 .chart > svg')].map((svg) => {
      svg.scrollIntoView();
      const bar = svg.querySelector('.hit').getBoundingClientRect();
      const at = document.elementFromPoint(bar.left + 1, bar.top + bar.height / 2);
      return at.closest('g').querySelector('title').textContent;
    });
    """)
    assert told == ["untouched: 0 of 100, expected 0, pass", "6.0 s, of it submission 0.8 s, judge 2.0 s"]


def test_the_first_key_leads_past_the_head_and_paper_has_every_task(
    browser: WebDriver, report_file: Path
) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.get(report_file.as_uri())
    browser.find_element("tag name", "body").send_keys(Keys.TAB)
    assert browser.switch_to.active_element.text == "Skip to the tasks"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        shown = [page.is_displayed() for page in browser.find_elements("tag name", "article")]
        assert shown == [True] * 8
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
