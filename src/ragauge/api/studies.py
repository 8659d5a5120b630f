"""Studies in the store: made, listed, removed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.api.inputs.sources import store_url

if TYPE_CHECKING:
    from ragauge.data.example import EvalSet
    from ragauge.data.study import Study
    from ragauge.engine.studies.maker import TrialMaker


def conduct_study(
    name: str, maker: TrialMaker, eval_set: EvalSet, grid: Sequence[Mapping[str, Any]], *, fresh: bool = False,
    store: str | None = None, say: Callable[[str], None] | None = None,
) -> Study:     # fmt: skip
    """Makes the trials of a grid that are not there yet, as `engine.studies.conduct` says, in a store by its URL."""
    from ragauge.engine.studies.conduct import conduct
    from ragauge.store.open import open_store

    with open_store(store_url(store)) as opened:
        return conduct(opened, name, maker, eval_set, grid, fresh=fresh, say=say)


def studies(*, store: str | None = None) -> list[dict[str, Any]]:
    """The stored studies, newest first: name, kind, set, created_at, and how many trials are in which state."""
    from ragauge.store.open import open_store

    with open_store(store_url(store)) as opened:
        found = opened.studies.list()
    rows = []
    for study in found:
        states = [trial.state for trial in study.trials]
        rows.append({
            "name": study.name, "kind": study.kind, "set": study.set_name, "created_at": study.created_at,
            "trials": {state: states.count(state) for state in dict.fromkeys(states)},
        })  # fmt: skip
    return rows


def delete_study(name: str, *, store: str | None = None) -> int:
    """Removes a study with the runs of its trials; returns how many trials it had.

    Raises:
        UnknownName: no such study.
        UsageError: a baseline stands for one of its runs.
    """
    from ragauge.store.open import open_store

    with open_store(store_url(store)) as opened:
        trials = len(opened.studies.read(name).trials)
        opened.studies.delete(name)
    return trials
