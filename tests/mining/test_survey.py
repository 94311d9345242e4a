"""`author survey` on a plugin's whole life, through the command line and the library."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harbor_author.mining import MiningError
from harbor_author.mining import survey_repository as survey
from harbor_author.mining.hostdata import known_hosts, load_host
from harbor_author.suite import load_cards
from tests.conftest import REPOSITORY, AuthorRunner
from tests.mining.history import History
from tests.mining.replay import Replay, entry, make_replay, manifest


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> Replay:
    return make_replay(tmp_path_factory.mktemp("replay") / "board.git")


def test_forced_commits_rank_above_all_others(replay: Replay) -> None:
    found = survey(replay.path)
    assert {candidate.commits for candidate in found.candidates[:4]} == {(oid,) for oid in replay.forced}
    assert found.candidates[3].score > found.candidates[4].score + 5
    assert found.commits == 104


def test_reasons_name_what_the_host_sees(replay: Replay) -> None:
    reasons = {
        candidate.commits[0]: "\n".join(candidate.reasons) for candidate in survey(replay.path).candidates
    }
    assert "dsh.entry removed" in reasons[replay.bundle]
    assert "llm added although the code used it already" in reasons[replay.strict]
    assert "httpServer, tasks became jobs, webServer" in reasons[replay.renamed]
    assert "host file removed: .dsh-plugin/**" in reasons[replay.layout]
    assert "'适配'" in reasons[replay.strict]


def test_noise_is_no_candidate(replay: Replay) -> None:
    subjects = {candidate.subject for candidate in survey(replay.path).candidates}
    assert not {
        subject for subject in subjects if subject.startswith(("docs", "style", "refactor", "chore", "test"))
    }


def test_since_leaves_older_commits_out(replay: Replay) -> None:
    found = survey(replay.path, since=replay.renamed)
    assert [candidate.commits for candidate in found.candidates if candidate.commits[0] in replay.forced] == [
        (replay.layout,)
    ]


def test_json_has_the_promised_shape(replay: Replay, author: AuthorRunner) -> None:
    ran = author("survey", replay.path, "--json", "--limit", "3")
    document = json.loads(ran.out)
    assert (ran.status, ran.err) == (0, "")
    assert document["schema"] == "author/survey/1"
    assert len(document["candidates"]) == 3
    for candidate in document["candidates"]:
        assert {"commits", "score", "reasons", "cards"} <= candidate.keys()
    assert [candidate["score"] for candidate in document["candidates"]] == sorted(
        (candidate["score"] for candidate in document["candidates"]), reverse=True
    )


def test_text_ends_in_the_next_command(replay: Replay, author: AuthorRunner) -> None:
    ran = author("survey", replay.path)
    assert ran.status == 0
    assert ran.out.splitlines()[-1] == f"Next: author extract {replay.path} {replay.renamed[:12]} --series M"


def two_steps(path: Path, *, second_days: float) -> dict[int, str]:
    history = History(path)
    history.commit(
        "start",
        {"package.json": manifest(), "src/index.js": entry(inject=["tasks"], body="ctx.tasks.list()")},
    )
    history.commit(
        "fix: jobs in the new host",
        {"src/index.js": entry(inject=["jobs"], body="ctx.tasks.list()")},
        days=30,
    )
    history.commit(
        "fix: forgot the calls",
        {"src/index.js": entry(inject=["jobs"], body="ctx.jobs.list()")},
        days=second_days,
    )
    return history.write()


def test_a_fix_within_days_is_one_corridor_with_its_cause(tmp_path: Path) -> None:
    marks = two_steps(tmp_path / "r", second_days=1)
    (candidate,) = survey(tmp_path / "r").candidates
    assert candidate.commits == (marks[2], marks[3])
    assert any("the trap may lie there" in reason for reason in candidate.reasons)


def test_other_files_of_the_same_package_within_days_are_one_corridor(tmp_path: Path) -> None:
    bundle = manifest(main=None, dsh={"bundle": {"patch": "cordis.patch.yml"}})
    history = History(tmp_path / "r")
    history.commit(
        "start", {"p/package.json": manifest(), "p/.dsh-plugin/package.json": "{}\n", "q/a.js": "1\n"}
    )
    history.commit(
        "become a bundle", {"p/package.json": bundle, "p/cordis.patch.yml": "- insert: []\n"}, days=30
    )
    history.commit("fix: leftover manifest", {"p/.dsh-plugin/package.json": None}, days=1)
    marks = history.write()
    (candidate,) = survey(tmp_path / "r").candidates
    assert candidate.commits == (marks[2], marks[3])


def test_a_fix_months_later_stands_alone(tmp_path: Path) -> None:
    marks = two_steps(tmp_path / "r", second_days=100)
    assert {candidate.commits for candidate in survey(tmp_path / "r").candidates} == {
        (marks[2],),
        (marks[3],),
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "const a = ['x']\nexport const inject = ['tasks']\n",
            'const a = ["x",];\nexport const inject = ["tasks"];\n',
        ),
        (
            "export const inject = ['tasks']\n",
            "// inject = ['jobs'] in the next host\nexport const inject = ['tasks']\n",
        ),
        ("export const inject = ['tasks']\n", "export const inject =\n  [\n    'tasks',\n  ]\n"),
    ],
    ids=["quotes", "comment", "layout"],
)
def test_formatting_and_comments_are_no_change_for_the_host(tmp_path: Path, old: str, new: str) -> None:
    history = History(tmp_path / "r")
    history.commit("start", {"package.json": manifest(), "src/index.js": old})
    history.commit("migrate to the new host", {"src/index.js": new})
    history.write()
    assert survey(tmp_path / "r").candidates == ()


def test_code_that_moves_is_no_change_for_the_host(tmp_path: Path) -> None:
    history = History(tmp_path / "r")
    history.commit(
        "start", {"package.json": manifest(), "src/a.js": entry(inject=["tasks"], body="ctx.tasks.list()")}
    )
    history.commit(
        "upgrade host: move", {"src/a.js": None, "src/b.js": entry(inject=["tasks"], body="ctx.tasks.list()")}
    )
    history.write()
    assert survey(tmp_path / "r").candidates == ()


def test_a_new_plugin_ranks_low(tmp_path: Path) -> None:
    history = History(tmp_path / "r")
    history.commit("start", {"README.md": "x\n"})
    history.commit(
        "feat: new plugin for dsh",
        {"p/package.json": manifest(), "p/index.js": entry(inject=["jobs"], body="ctx.jobs.list()")},
    )
    history.write()
    (candidate,) = survey(tmp_path / "r").candidates
    assert candidate.score <= 15


def test_a_bare_bump_of_the_host_ranks_below_a_bump_with_code(tmp_path: Path) -> None:
    ranges = [{"@deepseek-ai/dsh-base": f"^0.1.{index}"} for index in range(3)]
    history = History(tmp_path / "r")
    history.commit(
        "start",
        {"package.json": manifest(peerDependencies=ranges[0]), "src/index.js": entry(inject=["tasks"])},
    )
    history.commit("bump", {"package.json": manifest(peerDependencies=ranges[1])}, days=40)
    history.commit(
        "upgrade",
        {"package.json": manifest(peerDependencies=ranges[2]), "src/index.js": entry(inject=["jobs"])},
        days=40,
    )
    marks = history.write()
    first, second = survey(tmp_path / "r").candidates
    assert (first.commits, second.commits) == ((marks[3],), (marks[2],))
    assert first.score >= second.score + 30


def test_escapes_in_a_message_do_not_reach_the_terminal(tmp_path: Path, author: AuthorRunner) -> None:
    history = History(tmp_path / "r")
    history.commit("start", {"package.json": manifest(), "src/index.js": entry(inject=["tasks"])})
    history.commit("fix \x1b[31mred\x1b[0m host", {"src/index.js": entry(inject=["jobs"])})
    history.write()
    ran = author("survey", tmp_path / "r")
    assert "\x1b" not in ran.out
    assert "\\x1b[31mred" in ran.out


def test_what_cannot_be_surveyed_is_a_sentence_and_status_2(tmp_path: Path, author: AuthorRunner) -> None:
    ran = author("survey", tmp_path)
    assert (ran.status, ran.out) == (2, "")
    assert "not a git repository" in ran.err
    with pytest.raises(MiningError, match="there is no host"):
        load_host("dhs")


def test_every_shipped_host_loads_and_its_cards_have_patterns() -> None:
    for name in known_hosts():
        host = load_host(name)
        for card in host.cards:
            assert any(card.old.values()) or any(card.new.values()), card.id


def test_cards_of_the_hosts_data_are_declared_in_our_references() -> None:
    declared = load_cards([REPOSITORY / "references"])
    assert [card.id for card in load_host("dsh").cards if declared.get(card.id) is None] == []


def test_a_hit_names_its_card(replay: Replay) -> None:
    cards = {candidate.commits[0]: candidate.cards for candidate in survey(replay.path).candidates}
    assert cards[replay.bundle] == ("DSH-0.1.0-R6-03",)
    assert cards[replay.renamed] == ("DSH-0.1.0-R6-01", "DSH-0.1.0-R6-02")
    assert cards[replay.layout] == ("DSH-0.1.2-A3-02",)


def test_another_range_of_a_package_is_not_its_end(tmp_path: Path) -> None:
    gone = "@deepseek-ai/dsh-client-runtime"
    history = History(tmp_path / "r")
    history.commit("start", {"package.json": manifest(peerDependencies={gone: "^0.1.0"})})
    history.commit("bump", {"package.json": manifest(peerDependencies={gone: "^0.1.1"})}, days=30)
    history.commit("drop", {"package.json": manifest(peerDependencies={})}, days=30)
    marks = history.write()
    cards = {candidate.commits[0]: candidate.cards for candidate in survey(tmp_path / "r").candidates}
    assert cards == {marks[2]: (), marks[3]: ("DSH-0.1.2-A3-11",)}


def test_another_host_by_a_data_file(tmp_path: Path) -> None:
    data = tmp_path / "kiosk.toml"
    data.write_text(
        'schema = 1\nname = "kiosk"\npackages = ["@kiosk/"]\nmanifest = ["kiosk"]\ncontexts = ["app"]\n'
        'services = ["screen"]\n[[card]]\nid = "K-1"\nwords = { old = ["drawAll"], new = ["paint"] }\n'
    )
    history = History(tmp_path / "r")
    history.commit("start", {"a.js": "app.screen.drawAll()\n"})
    history.commit("fix", {"a.js": "app.screen.paint()\n"})
    marks = history.write()
    (candidate,) = survey(tmp_path / "r", host=str(data)).candidates
    assert (candidate.commits, candidate.cards) == ((marks[2],), ("K-1",))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("schema = 2\n", "schema = 1"),
        ("schema = 1\n[[card]]\n", "has no id"),
        ('schema = 1\n[[card]]\nid = "A"\nword = 1\n', "unknown key 'word'"),
        ('schema = 1\n[[card]]\nid = "A"\nwords = { was = ["x"] }\n', "not 'was'"),
        ("schema = ", "cannot be read"),
    ],
)
def test_a_wrong_data_file_is_told(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "h.toml").write_text(text)
    with pytest.raises(MiningError, match=words):
        load_host(str(tmp_path / "h.toml"))
