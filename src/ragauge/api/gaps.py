"""The gaps of a run: found among the runs of the same system on the same set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragauge.data.run import Run, Variant
from ragauge.errors import UsageError

if TYPE_CHECKING:
    from ragauge.analysis.gaps import Gaps, Sides
    from ragauge.analysis.pairs import Pairs
    from ragauge.api.paired import Paired
    from ragauge.metrics.base import Metric
    from ragauge.store.open import Store

PLAIN = ("selection", "context_from")     # what a configuration says of the run, not of the system
HOW: dict[Variant, str] = {"oracle": "--oracle --corpus FILE", "closed_book": "--closed-book"}


def gaps_of_run(store: Store, run: Run, judge: str | None = None, metrics: Sequence[str] = ()) -> Gaps:
    """The oracle gap and the closed-book gap of a run, overall and by segment.

    Held against are the newest runs of the same system and set on the labelled passages and without passages that
    were measured alike; one of the same configuration comes first.

    Args:
        store: where the runs are.
        run: on its own retrieval.
        judge: whose verdicts; None = the last judge's.
        metrics: names and presets; () = all that speak of the answer.

    Raises:
        UsageError: not a run on own retrieval, not evaluated, or there is nothing to hold it against, with the
            commands that make it.
    """
    from ragauge.analysis.gaps import Gaps, by_segment, gaps_of, measurable
    from ragauge.api.cards import judged
    from ragauge.metrics.catalogue import parse, select

    if run.variant not in ("own", "replayed"):
        raise UsageError(f"{run.name} is a run of variant {run.variant}: gaps are those of a run on own retrieval.")
    judge_id = judged(store, run, judge)
    there = store.scores.metrics(run.run_id, judge_id)
    asked = [one for one in (select(metrics) if metrics else map(parse, there)) if measurable(one)]
    if not asked:
        raise UsageError(f"{run.name} has no score that speaks of the answer. Evaluate it with such a metric.")
    notes: list[str] = []
    oracle, alone = (_held(store, run, variant, judge_id, asked, notes) for variant in ("oracle", "closed_book"))
    if oracle is None and alone is None:
        raise UsageError(f"{run.name}: {' '.join(notes)}")
    both: list[tuple[Metric, Sides]] = [(one, (_pairs(oracle, one), _pairs(alone, one))) for one in asked]
    both = [(one, sides) for one, sides in both if any(part is not None and len(part) for part in sides)]
    frames = tuple(None if held is None else held[1].segments for held in (oracle, alone))
    return Gaps(
        run.name, oracle[0].name if oracle else "", alone[0].name if alone else "",
        tuple(gaps_of(one, *sides) for one, sides in both), by_segment(both, (frames[0], frames[1])), tuple(notes),
    )  # fmt: skip


def _held(
    store: Store, run: Run, variant: Variant, judge_id: str | None, metrics: Sequence[Metric], notes: list[str]
) -> tuple[Run, Paired] | None:
    """The run of a variant, joined with this one; None where there is none, and a note why."""
    from ragauge.api.paired import Paired

    alike = [
        one for one in store.runs.list()
        if one.variant == variant and one.set_version == run.set_version and one.system == run.system
    ]  # fmt: skip
    alike.sort(key=lambda one: _settings(one) != _settings(run))     # stable: the newest of each kind stays first
    why = ""
    for one in alike:
        try:
            return one, Paired(store, run, one, judge_id, metrics)
        except UsageError as error:
            why = why or str(error)
    notes.append(
        why or f"There is no run of {run.system} on {run.set_name} in the variant {variant}. Make it with: "
        f"ragauge run SYSTEM SET {HOW[variant]} --evaluate"
    )
    return None


def _settings(run: Run) -> dict[str, object]:
    return {name: value for name, value in run.config.items() if name not in PLAIN}


def _pairs(held: tuple[Run, Paired] | None, metric: Metric) -> Pairs | None:
    return None if held is None or metric not in held[1].metrics else held[1].pairs(metric)
