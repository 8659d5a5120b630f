"""The gaps of a run: found among the runs of the same system on the same set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragauge.core.errors import UsageError
from ragauge.core.messages import format_command
from ragauge.core.response import Run, Variant

if TYPE_CHECKING:
    from ragauge.comparison.gaps.oracle_gaps import PairsByVariant
    from ragauge.comparison.pairs import Pairs
    from ragauge.comparison.score_pairs import PairedScores
    from ragauge.metrics.base import Metric
    from ragauge.scores.results.overview import Gaps
    from ragauge.store.store_access import Store

OWN_VARIANTS = ("own", "replayed")
RUN_SETTINGS = ("selection", "context_from")  # what a configuration says of the run, not of the system
VARIANT_OPTIONS: dict[Variant, str] = {"oracle": "--oracle --corpus FILE", "closed_book": "--closed-book"}
VARIANT_CONTEXTS: dict[Variant, str] = {"oracle": "the gold passages", "closed_book": "no passages"}


def compute_gaps(store: Store, run: Run, judge_id: str | None, metrics: Sequence[str] = ()) -> Gaps:
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
    from ragauge.comparison.gaps.oracle_gaps import can_have_gaps
    from ragauge.metrics.catalogue import parse_metric, select_metrics

    if run.variant not in OWN_VARIANTS:
        raise UsageError(f"{run.name} has variant {run.variant}, but gaps need a run with its own retrieval.")
    metric_names = store.scores.metrics(run.run_id, judge_id)
    selected = select_metrics(metrics) if metrics else map(parse_metric, metric_names)
    requested = [metric for metric in selected if can_have_gaps(metric)]
    if not requested:
        raise UsageError(f"{run.name} has no answer scores. Evaluate it with an answer metric.")
    gaps = _build_gaps(store, run, judge_id, requested, {})
    if not gaps.oracle and not gaps.closed_book:
        raise UsageError(f"{run.name}: {' '.join(gaps.notes)}")
    return gaps


def compute_card_gaps(
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
    from ragauge.comparison.gaps.oracle_gaps import can_have_gaps

    requested = [metric for metric in metrics if can_have_gaps(metric)]
    gaps = _build_gaps(store, run, judge_id, requested, keep) if requested and run.variant in OWN_VARIANTS else None
    return gaps if gaps is not None and gaps.metrics else None


def _build_gaps(
    store: Store, run: Run, judge_id: str | None, requested: Sequence[Metric], keep: Mapping[str, str]
) -> Gaps:
    from ragauge.comparison.gaps.oracle_gaps import compute_metric_gaps, compute_segment_gaps
    from ragauge.scores.results.overview import Gaps

    notes: list[str] = []
    oracle, alone = (
        _join_variant(store, run, variant, judge_id, requested, keep, notes) for variant in VARIANT_OPTIONS
    )
    both: list[tuple[Metric, PairsByVariant]] = [
        (metric, (_match_pairs(oracle, metric), _match_pairs(alone, metric))) for metric in requested
    ]
    both = [(metric, sides) for metric, sides in both if any(pairs is not None and len(pairs) for pairs in sides)]
    frames = tuple(None if joined is None else joined[1].segments for joined in (oracle, alone))
    return Gaps(
        run.name,
        oracle[0].name if oracle else "",
        alone[0].name if alone else "",
        tuple(compute_metric_gaps(metric, *sides) for metric, sides in both),
        compute_segment_gaps(both, (frames[0], frames[1])),
        tuple(notes),
    )


def _join_variant(
    store: Store,
    run: Run,
    variant: Variant,
    judge_id: str | None,
    metrics: Sequence[Metric],
    keep: Mapping[str, str],
    notes: list[str],
) -> tuple[Run, PairedScores] | None:
    """The run of a variant, joined with this one; None where there is none, and a note why."""
    from ragauge.comparison.score_pairs import PairedRuns, PairedScores

    similar_runs = [other for other in store.runs.list_variant_runs(run, variant) if other.system == run.system]
    similar_runs.sort(key=lambda other: _list_settings(other) != _list_settings(run))  # the newest of each kind first
    reason = ""
    for candidate in similar_runs:
        try:
            paired = PairedScores(PairedRuns(store, run, candidate, judge_id), metrics, keep)
        except UsageError as error:
            reason = reason or str(error)
            continue
        if other := _describe_differences(_list_settings(candidate), _list_settings(run)):
            both = f"{candidate.name} and {run.name}"
            notes.append(f"{both} have different settings ({other}), not only different passages.")
        return candidate, paired
    make = format_command("run", "SYSTEM", "SET", *VARIANT_OPTIONS[variant].split(), "--evaluate")
    absent = f"No run of the same system and set with {VARIANT_CONTEXTS[variant]} to compare with"
    notes.append(reason or f"{absent}; `{make}` creates one.")
    return None


def _list_settings(run: Run) -> dict[str, object]:
    return {name: value for name, value in run.config.items() if name not in RUN_SETTINGS}


def _describe_differences(config: Mapping[str, object], run: Mapping[str, object]) -> str:
    """The settings that differ, by name."""
    return ", ".join(sorted(name for name in config.keys() | run.keys() if config.get(name) != run.get(name)))


def _match_pairs(joined: tuple[Run, PairedScores] | None, metric: Metric) -> Pairs | None:
    return None if joined is None or metric not in joined[1].metrics else joined[1].pairs(metric)
