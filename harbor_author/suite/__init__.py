"""What a suite is: settings, tasks, IDs, cards, contract, registers. Knows nothing of the rooms below."""

from harbor_author.suite.cards import CARD_ID, Card, CardFile, CardProblem, CardSet, load_cards
from harbor_author.suite.citations import Citation, find_citations
from harbor_author.suite.contract import (
    CONTRACT_MARKER,
    contract_block,
    contract_gaps,
    has_contract,
    without_fences,
)
from harbor_author.suite.errors import SuiteError
from harbor_author.suite.ids import (
    TaskId,
    TaskName,
    check_slug,
    gaps,
    parse_ranges,
    parse_task_id,
    parse_task_name,
    slugify,
)
from harbor_author.suite.model import Suite, Task, find_suite, find_suite_or_none, resolve_tasks, task_mode
from harbor_author.suite.registry import Reservation, check_series, next_id, reserve_task, used_ids
from harbor_author.suite.settings import (
    FILE_NAME,
    MODES,
    HostSettings,
    SeriesSettings,
    Settings,
    load_settings,
)
from harbor_author.suite.toml_source import TomlSource, parse_toml, read_plain, read_text

__all__ = [
    "CARD_ID",
    "CONTRACT_MARKER",
    "FILE_NAME",
    "MODES",
    "Card",
    "CardFile",
    "CardProblem",
    "CardSet",
    "Citation",
    "HostSettings",
    "Reservation",
    "SeriesSettings",
    "Settings",
    "Suite",
    "SuiteError",
    "Task",
    "TaskId",
    "TaskName",
    "TomlSource",
    "check_series",
    "check_slug",
    "contract_block",
    "contract_gaps",
    "find_citations",
    "find_suite",
    "find_suite_or_none",
    "gaps",
    "has_contract",
    "load_cards",
    "load_settings",
    "next_id",
    "parse_ranges",
    "parse_task_id",
    "parse_task_name",
    "parse_toml",
    "read_plain",
    "read_text",
    "reserve_task",
    "resolve_tasks",
    "slugify",
    "task_mode",
    "used_ids",
    "without_fences",
]
