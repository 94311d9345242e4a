"""The suite as one page to look at."""

from harbor_author.report.collect import collect
from harbor_author.report.model import SuiteView, TaskView
from harbor_author.report.page import html

__all__ = ["SuiteView", "TaskView", "collect", "html"]
