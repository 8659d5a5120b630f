"""The gaps of a run: found among the runs of the same system on the same set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragauge.core.errors import UsageError
from ragauge.core.messages import command
from ragauge.core.response import Run, Variant

if TYPE_CHECKING:
    from ragauge.comparison.gaps.oracle_gaps import Sides
    from ragauge.comparison.pairs import Pairs
    from ragauge.comparison.score_pairs import Paired
    from ragauge.metrics.base import Metric
    from ragauge.scores.results.gap_rows import Gaps
    from ragauge.store.store_access import Store

OWN = ("own", "replayed")
PLAIN = ("selection", "context_from")  # what a configuration says of the run, not of the system
HOW: dict[Variant, str] = {"oracle": "--oracle --corpus FILE", "closed_book": "--closed-book"}
SEES: dict[Variant, str] = {"oracle": "the labelled passages", "closed_book": "no passages"}


def gaps_of_run(store: Store, run: Run, judge_id: str | None, metrics: Sequence[str] = ()) -> Gaps:
    """The oracle gap and the closed-book gap of a run, overall and by segment.

    Held against are the newest runs of the same system and set on the labelled passages and without passages that
    were measured alike; one of the same configuration comes first.

    Args:
        store: where the runs are.
        run: on its own retrieval.
        judge_id: whose verdicts; None = nobody's.
        metrics: names and presets; () = all that speak of the answer.

    Raises:
        UsageError: not a run on own retrieval, or there is nothing to hold it against, with the
            commands that make it.
    """
    from ragauge.comparison.gaps.oracle_gaps import measurable
    from ragauge.metrics.catalogue import parse, select

    if run.variant not in OWN:
        raise UsageError(f"{run.name} is a run of variant {run.variant}: gaps are those of a run on own retrieval.")
    there = store.scores.metrics(run.run_id, judge_id)
    asked = [metric for metric in (select(metrics) if metrics else map(parse, there)) if measurable(metric)]
    if not asked:
        raise UsageError(f"{run.name} has no score that speaks of the answer. Evaluate it with such a metric.")
    gaps = _gaps(store, run, judge_id, asked, {})
    if not gaps.oracle and not gaps.closed_book:
        raise UsageError(f"{run.name}: {' '.join(gaps.notes)}")
    return gaps


def gaps_beside(
    store: Store, run: Run, judge_id: str | None, metrics: Sequence[Metric], keep: Mapping[str, str]
) -> Gaps | None:
    """The gaps of a run for its scorecard; None where there is nothing to hold it against.

    Args:
        store: where the runs are.
        run: any run.
        judge_id: whose verdicts.
        metrics: those of the scorecard.
        keep: segment column or "tag" -> value; only examples that match.
    """
    from ragauge.comparison.gaps.oracle_gaps import measurable

    asked = [metric for metric in metrics if measurable(metric)]
    gaps = _gaps(store, run, judge_id, asked, keep) if asked and run.variant in OWN else None
    return gaps if gaps is not None and gaps.metrics else None


def _gaps(store: Store, run: Run, judge_id: str | None, asked: Sequence[Metric], keep: Mapping[str, str]) -> Gaps:
    from ragauge.comparison.gaps.oracle_gaps import by_segment, gaps_of
    from ragauge.scores.results.gap_rows import Gaps

    notes: list[str] = []
    oracle, alone = (_held(store, run, variant, judge_id, asked, keep, notes) for variant in HOW)
    both: list[tuple[Metric, Sides]] = [(metric, (_pairs(oracle, metric), _pairs(alone, metric))) for metric in asked]
    both = [(metric, sides) for metric, sides in both if any(part is not None and len(part) for part in sides)]
    frames = tuple(None if held is None else held[1].segments for held in (oracle, alone))
    return Gaps(
        run.name,
        oracle[0].name if oracle else "",
        alone[0].name if alone else "",
        tuple(gaps_of(metric, *sides) for metric, sides in both),
        by_segment(both, (frames[0], frames[1])),
        tuple(notes),
    )


def _held(
    store: Store,
    run: Run,
    variant: Variant,
    judge_id: str | None,
    metrics: Sequence[Metric],
    keep: Mapping[str, str],
    notes: list[str],
) -> tuple[Run, Paired] | None:
    """The run of a variant, joined with this one; None where there is none, and a note why."""
    from ragauge.comparison.score_pairs import Paired, PairedRuns

    alike = [other for other in store.runs.like(run, variant) if other.system == run.system]
    alike.sort(
        key=lambda candidate: _settings(candidate) != _settings(run)
    )  # stable: the newest of each kind stays first
    why = ""
    for candidate in alike:
        try:
            paired = Paired(PairedRuns(store, run, candidate, judge_id), metrics, keep)
        except UsageError as error:
            why = why or str(error)
            continue
        if other := _other(_settings(candidate), _settings(run)):
            notes.append(
                f"{candidate.name} has other settings than {run.name} ({other}): not only the passages differ."
            )
        return candidate, paired
    make = command("run", "SYSTEM", "SET", *HOW[variant].split(), "--evaluate")
    notes.append(why or f"No run of the same system and set on {SEES[variant]} to hold it against; `{make}` makes one.")
    return None


def _settings(run: Run) -> dict[str, object]:
    return {name: value for name, value in run.config.items() if name not in PLAIN}


def _other(config: Mapping[str, object], run: Mapping[str, object]) -> str:
    """The settings that differ, by name."""
    return ", ".join(sorted(name for name in config.keys() | run.keys() if config.get(name) != run.get(name)))


def _pairs(held: tuple[Run, Paired] | None, metric: Metric) -> Pairs | None:
    return None if held is None or metric not in held[1].metrics else held[1].pairs(metric)
