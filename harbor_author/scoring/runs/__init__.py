"""Rewards of real Harbor jobs, summarised and compared."""

from harbor_author.scoring.runs.jobs import Anomaly, Trial, TrialSet, read_jobs
from harbor_author.scoring.runs.summary import Comparison, Summary, TaskSummary, compare, summarize

__all__ = [
    "Anomaly",
    "Comparison",
    "Summary",
    "TaskSummary",
    "Trial",
    "TrialSet",
    "compare",
    "read_jobs",
    "summarize",
]
