"""One answer from a model, with the benchmark's own retries around the client's."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from harbor_author.scoring.errors import ScoringError

API_KEY_VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
MAX_TOKENS = 8192
MAX_RETRIES = 5
_FIRST_DELAY_MS = 1000
_LONGEST_DELAY_MS = 60_000
#: An error is worth another try when its message holds one of these, in this case.
_TRANSIENT = ("529", "overloaded", "rate", "500")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said. Tokens are None when the API did not count them."""

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def total_tokens(self) -> int | None:
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens


class Model(Protocol):
    """Answers one user message under a system prompt; raises whatever went wrong."""

    def __call__(self, *, system: str, message: str) -> Answer: ...


def anthropic_model(
    model: str,
    *,
    environment: Mapping[str, str] | None = None,
    timeout_s: float = 600,
    client_retries: int = 2,
) -> Model:
    """The model of that name behind Anthropic's API.

    Args:
        environment: where key and address are read: ANTHROPIC_API_KEY, else ANTHROPIC_AUTH_TOKEN; ANTHROPIC_BASE_URL.
        client_retries: tries that the client adds by itself, with the waits that the server asks for.

    Raises:
        ScoringError: there is no key, or the client is not installed.
    """
    env = os.environ if environment is None else environment
    key, token = (env.get(name) or None for name in API_KEY_VARIABLES)
    if key is None and token is None:
        raise ScoringError(
            "ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN is not set",
            hint="export one of them, or use --dry-run",
        )
    try:
        import anthropic
    except ImportError as error:
        raise ScoringError(
            "the client of Anthropic's API is not installed", hint="pip install 'harbor-author[bench]'"
        ) from error
    client = anthropic.Anthropic(
        api_key=key,
        auth_token=None if key else token,
        base_url=env.get("ANTHROPIC_BASE_URL") or None,
        timeout=timeout_s,
        max_retries=client_retries,
    )

    def ask(*, system: str, message: str) -> Answer:
        response: Any = client.messages.create(
            model=model,
            max_tokens=MAX_TOKENS,
            system=system,
            messages=[{"role": "user", "content": message}],
        )
        return _read_answer(response)

    return ask


def _read_answer(response: Any) -> Answer:
    """The first block of text. The client hands on whatever a server sent, so nothing about its shape is sure."""
    blocks = getattr(response, "content", None)
    if not isinstance(blocks, list):
        raise ScoringError("the API's answer is no message")
    text = next((block.text for block in blocks if getattr(block, "type", None) == "text"), None)
    if not isinstance(text, str):
        raise ScoringError("No text content in Claude response")
    usage = getattr(response, "usage", None)
    return Answer(text, _count(usage, "input_tokens"), _count(usage, "output_tokens"))


def _count(usage: Any, field: str) -> int | None:
    value = getattr(usage, field, None)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def is_transient(error: Exception) -> bool:
    """Whether another try may help, judged by the error's message."""
    message = str(error)
    return any(mark in message for mark in _TRANSIENT)


def with_retries(
    call: Callable[[], Answer],
    *,
    say: Callable[[str], None],
    sleep: Callable[[float], None] = time.sleep,
    max_retries: int = MAX_RETRIES,
) -> Answer:
    """Call until it answers, waiting 1, 2, 4 ... seconds (at most 60) after each transient error.

    Raises:
        Exception: the last error, when it is not transient or the retries are used up.
    """
    attempt = 0
    while True:
        try:
            return call()
        except Exception as error:
            if attempt >= max_retries or not is_transient(error):
                raise
        delay_ms = min(_FIRST_DELAY_MS * 2**attempt, _LONGEST_DELAY_MS)
        attempt += 1
        say(f"\n    Retrying in {delay_ms // 1000}s (attempt {attempt}/{max_retries})... ")
        sleep(delay_ms / 1000)
