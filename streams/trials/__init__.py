"""`cuestream try STAGE`: one module a stage, each with ``build(settings)`` that loads its models and returns case -> fields."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from models.language import primary
from streams.settings import Settings

if TYPE_CHECKING:
    from streams.models import Models

Case = dict[str, Any]
Trial = Callable[[Case], dict[str, Any]]


def own_models(settings: Settings | None) -> Models | None:
    """What a worker with these settings would run on; None where they leave encoder, weights and lists as shipped.

    Raises ResourceError for a bad file.
    """
    plain = Settings()
    if settings is None or all(
        getattr(settings, name) == getattr(plain, name) for name in ("encoder", "weights", "lists")
    ):
        return None
    from streams.models import Models  # everything heavy: only where it is asked for

    return Models.load(settings)


def answer_lines(trial: Trial, lines: Iterable[str]) -> Iterable[bytes]:
    """Each JSON line's answer: the case's id and the stage's fields. A bad line is answered with an ``error``."""
    for line in lines:
        if not line.strip():
            continue
        case: Case = {}
        try:
            case = msgspec.json.decode(line, type=dict[str, Any])
            if not isinstance(case.get("text"), str):
                raise ValueError("`text` must be a string")
            case["lang"] = primary(case["lang"]) if isinstance(case.get("lang"), str) else None
            fields = trial(case)
        except (msgspec.DecodeError, ValueError) as error:
            fields = {"error": str(error)}
        yield msgspec.json.encode({"id": case.get("id"), **fields}) + b"\n"


def run_lines(build: Callable[[], Trial]) -> None:
    """Answers standard input line by line on standard output."""
    trial = build()
    for answer in answer_lines(trial, sys.stdin):
        sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
