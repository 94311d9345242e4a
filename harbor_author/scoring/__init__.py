"""Graded reports: parse, match, score and aggregate; and the model benchmark on top.

`evaluate` is the main door. Everything else that other rooms and the command line may use is named here.
"""

from harbor_author.scoring.errors import ScoringError, TruthError
from harbor_author.scoring.evaluation import Evaluation, Evaluator, evaluate
from harbor_author.scoring.explanation import Explanation, explain
from harbor_author.scoring.files import read_report
from harbor_author.scoring.grading import Grade, Grader, Rubric, grade, read_rubric
from harbor_author.scoring.parsers import PARSERS, ParsedReport, parse_report
from harbor_author.scoring.scores import Scores
from harbor_author.scoring.truth import GroundTruth, TruthFinding, load_truth, load_truth_document, read_truth

__all__ = [
    "PARSERS",
    "Evaluation",
    "Evaluator",
    "Explanation",
    "Grade",
    "Grader",
    "GroundTruth",
    "ParsedReport",
    "Rubric",
    "Scores",
    "ScoringError",
    "TruthError",
    "TruthFinding",
    "evaluate",
    "explain",
    "grade",
    "load_truth",
    "load_truth_document",
    "parse_report",
    "read_report",
    "read_rubric",
    "read_truth",
]
