"""The model benchmark: agents (prompt files) times fixtures through a model API, scored by findings."""

from harbor_author.scoring.bench.api import API_KEY_VARIABLES, Answer, Model, anthropic_model, with_retries
from harbor_author.scoring.bench.inputs import Agent, Fixture, Inputs, load_inputs
from harbor_author.scoring.bench.kinds import KINDS, Kind
from harbor_author.scoring.bench.output import comparison, write_reports
from harbor_author.scoring.bench.runner import Run, run_benchmark

__all__ = [
    "API_KEY_VARIABLES",
    "KINDS",
    "Agent",
    "Answer",
    "Fixture",
    "Inputs",
    "Kind",
    "Model",
    "Run",
    "anthropic_model",
    "comparison",
    "load_inputs",
    "run_benchmark",
    "with_retries",
    "write_reports",
]
