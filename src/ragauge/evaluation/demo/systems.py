"""The demo's three systems answer the demo's questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ragauge.core.example import Example
from ragauge.core.identity import plain
from ragauge.core.response import Response


@dataclass(frozen=True, slots=True)
class DemoRun:
    """What one of the demo's systems returned.

    Attributes:
        name: of the configuration.
        about: what it is, and what was planted.
        config: the system's settings.
        pairs: every question with the system's response.
    """

    name: str
    about: str
    config: Mapping[str, Any]
    pairs: tuple[tuple[Example, Response], ...]


def demo_runs() -> Iterator[DemoRun]:
    """The good configuration first, then the broken ones; one index serves all."""
    from ragauge.evaluation.demo.demo_systems import SYSTEMS, build, golden
    from ragauge.models.embedders.wordllama import WordLlamaEmbedder

    systems = build(WordLlamaEmbedder().embed)
    questions = golden()
    for described in SYSTEMS:
        respond = systems[described.name].respond
        yield DemoRun(
            described.name,
            described.description,
            {"retriever": described.config.retriever, **plain(described.config), "faults": plain(described.faults)},
            tuple((example, respond(example)) for example in questions.examples),
        )
