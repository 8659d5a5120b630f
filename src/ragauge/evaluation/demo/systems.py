"""The demo's three systems answer the demo's questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ragauge.core.example import Example
from ragauge.core.identity import to_json_value
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


def iter_demo_runs() -> Iterator[DemoRun]:
    """The good configuration first, then the broken ones; one index serves all."""
    from ragauge.evaluation.demo.demo_systems import SYSTEMS, build_systems, read_eval_set
    from ragauge.models.embedders.wordllama import WordLlamaEmbedder

    systems = build_systems(WordLlamaEmbedder().embed)
    questions = read_eval_set()
    for demo_system in SYSTEMS:
        respond = systems[demo_system.name].respond
        yield DemoRun(
            demo_system.name,
            demo_system.description,
            {
                "retriever": demo_system.config.retriever,
                **to_json_value(demo_system.config),
                "faults": to_json_value(demo_system.faults),
            },
            tuple((example, respond(example)) for example in questions.examples),
        )
