"""A system's answers to an eval set, or a stretch of its traffic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

State = Literal["running", "finished", "interrupted", "failed"]
Variant = Literal["own", "oracle", "closed_book", "replayed"]


@dataclass(frozen=True, slots=True)
class Run:
    """What one system returned, as a whole.

    Attributes:
        run_id: short unique id.
        name: what people call it.
        kind: over an eval set, or sampled traffic.
        set_name: the eval set's name.
        set_version: its content hash.
        system: what produced it.
        config: its settings.
        variant: own retrieval, gold passages, no passages, or another run's.
        git: commit and whether the tree was dirty.
        state: of collecting the responses.
        planned: how many responses there will be.
        done: how many there are.
        heartbeat: when it last moved, ISO time.
        created_at: ISO time.
    """

    run_id: str
    name: str
    kind: Literal["set", "traffic"] = "set"
    set_name: str = ""
    set_version: str = ""
    system: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    variant: Variant = "own"
    git: str = ""
    state: State = "finished"
    planned: int = 0
    done: int = 0
    heartbeat: str = ""
    created_at: str = ""

    @property
    def confirms(self) -> str:
        """The run whose causes it puts to the test, by id; "" for a system's answers in their own right."""
        return str(self.config.get("confirms", ""))
