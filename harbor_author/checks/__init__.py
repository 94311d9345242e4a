"""The rules of `author validate`, one module a theme (`rules/`), and their fixes."""

from harbor_author.checks.discovery import find_tasks
from harbor_author.checks.engine import validate
from harbor_author.checks.errors import CheckError
from harbor_author.checks.findings import SEVERITIES, Finding, Problem, Report, Severity, Summary
from harbor_author.checks.fixes import Change, apply_fixes, fixable, plan_fixes
from harbor_author.checks.registry import Rule, all_rules, get_rule

__all__ = [
    "SEVERITIES",
    "Change",
    "CheckError",
    "Finding",
    "Problem",
    "Report",
    "Rule",
    "Severity",
    "Summary",
    "all_rules",
    "apply_fixes",
    "find_tasks",
    "fixable",
    "get_rule",
    "plan_fixes",
    "validate",
]
