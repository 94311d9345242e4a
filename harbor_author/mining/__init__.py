"""A plugin's git history -> candidates for tasks; a commit -> a task.

`survey_repository` ranks commits by how likely the host forced them; `extract_task` makes a task of one.
"""

from harbor_author.mining.errors import MiningError
from harbor_author.mining.extract import Extraction, ExtractRequest
from harbor_author.mining.survey import Candidate, Survey, survey_repository
from harbor_author.mining.task import Extracted, extract_task

__all__ = [
    "Candidate",
    "ExtractRequest",
    "Extracted",
    "Extraction",
    "MiningError",
    "Survey",
    "extract_task",
    "survey_repository",
]
