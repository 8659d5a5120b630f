"""The scorecard, put together from tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from ragauge.analysis.arrays import ScoreArrays
from ragauge.analysis.diagnose import diagnose
from ragauge.analysis.frames import failures
from ragauge.analysis.patterns import PATTERNS
from ragauge.analysis.scorecard import ExampleView, JudgeNote, Scorecard, Summary
from ragauge.analysis.segments import by_segment, tidy
from ragauge.analysis.summarize import summarize
from ragauge.data.example import Example
from ragauge.data.response import Response
from ragauge.data.run import Run
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import describe, parse

if TYPE_CHECKING:
    import polars as pl

FEW = 30              # examples below which every interval is wide
MOST_FAILED = 0.02    # share of failed scores that a gate lets pass
MOST_UNCERTAIN = 0.25
MOST_LACKING = 0.20   # share of examples without an input from which it is worth a warning


@dataclass(frozen=True, slots=True)
class IdMatch:
    """How far labelled document ids are found among retrieved ones.

    Attributes:
        labelled: different labelled documents.
        matched: those that some response retrieved.
        example_labelled: a labelled id that none did.
        example_retrieved: a retrieved id that is not labelled.
    """

    labelled: int
    matched: int
    example_labelled: str = ""
    example_retrieved: str = ""


def id_match(pairs: Iterable[tuple[Example, Response]]) -> IdMatch:
    """Compares the labelled ids (grade above 0) of a run with everything that it retrieved."""
    labelled: set[str] = set()
    retrieved: set[str] = set()
    for example, response in pairs:
        labelled.update(doc_id for item in example.relevant or () if item.grade > 0 for doc_id in item.doc_ids)
        for passages in (response.passages, response.candidates):
            retrieved.update(passage.doc_id for passage in passages or ())
    matched = labelled & retrieved
    return IdMatch(
        len(labelled), len(matched), min(labelled - retrieved, default=""), min(retrieved - labelled, default="")
    )


def build(
    run: Run,
    judge_note: JudgeNote,
    n: int,
    pending: int,
    metrics: Sequence[Metric],
    scores: pl.DataFrame,
    segments: pl.DataFrame,
    causes: pl.DataFrame,
    worst: Sequence[ExampleView] = (),
    warnings: Sequence[str] = (),
    took: Mapping[str, Any] | None = None,
    *,
    match: IdMatch | None = None,
    level: float = 0.95,
) -> Scorecard:
    """The scorecard of a run.

    Args:
        run: whose responses.
        judge_note: who judged.
        n: examples evaluated, an example of several repeats once.
        pending: examples not yet evaluated.
        metrics: in the order asked.
        scores: a score frame.
        segments: a segment frame, not tidied; it may hold pending examples.
        causes: a cause frame.
        worst: the examples to look at first; `pick_worst` says which.
        warnings: of the caller; ours come after them.
        took: evaluation facts.
        match: of labelled with retrieved ids, where there are labels.
        level: of the intervals.
    """
    arrays = ScoreArrays.of(scores)
    summaries = summarize(arrays, metrics, level=level)
    shown = tidy(segments, among=arrays.query_ids)
    in_segments = by_segment(arrays, metrics, shown, summaries, level=level)
    counts = Counter(failures(causes)["cause"].to_list())
    return Scorecard(
        run, judge_note, n, pending, summaries, in_segments,
        findings=diagnose(
            summaries, in_segments, causes, n, segments=_labelled(shown, segments), judge_id=judge_note.judge_id,
            answerable=_answerable(arrays, metrics, segments, level),
        ),
        causes=dict(counts.most_common()), failed_examples=counts.total(), worst=tuple(worst),
        warnings=(*warnings, *warn(summaries, judge_note, n, match)),
        definitions={str(metric): describe(metric) for metric in metrics},
        level=level,
        took=dict(took or {}),
    )     # fmt: skip


def _labelled(shown: pl.DataFrame, segments: pl.DataFrame) -> pl.DataFrame:
    """The segments shown, with the labels of answerable even where too few differ to show them."""
    if "answerable" not in segments.columns:
        return shown
    labels = segments.select("query_id", "answerable").unique("query_id")
    return shown.drop("answerable", strict=False).join(labels, on="query_id", how="left", maintain_order="left")


def _answerable(
    arrays: ScoreArrays, metrics: Sequence[Metric], segments: pl.DataFrame, level: float
) -> tuple[Summary, ...] | None:
    """What patterns look at, over the examples that are not labelled unanswerable; None where none is."""
    import numpy as np
    import polars as pl

    labelled = segments.filter(pl.col("answerable") == "no") if "answerable" in segments.columns else segments.clear()
    if labelled.is_empty():
        return None
    left_out = set(labelled["query_id"])
    kept = np.array([query_id not in left_out for query_id in arrays.query_ids], dtype=bool)
    looked_at = {name for pattern in PATTERNS if pattern.answerable for name in pattern.when}
    return summarize(arrays.only(kept), [metric for metric in metrics if str(metric) in looked_at], level=level)


def warn(summaries: Sequence[Summary], judge: JudgeNote, n: int, match: IdMatch | None = None) -> Iterator[str]:
    """What the reader must know before believing a number."""
    if 0 < n < FEW:
        few = f"Only {n} example{'s' if n > 1 else ''}"
        yield f"{few}: every interval is wide, and small differences mean nothing. Aim for 100 or more."
    if match is not None and 2 * match.matched < match.labelled:
        yield (
            f"Only {match.matched} of {match.labelled} labelled document ids are among those retrieved. If the ids are "
            f"written differently (labelled {match.example_labelled!r}, retrieved {match.example_retrieved!r}), recall "
            "is silently 0: map them to each other first."
        )
    failed = [summary for summary in summaries if summary.failed > MOST_FAILED * summary.n]
    if failed:
        worst = max(failed, key=lambda summary: summary.failed / summary.n)
        bounds = f", so its mean lies between {worst.low:.2f} and {worst.high:.2f}" if _bounded(worst) else ""
        reason = next(iter(worst.reasons), "") if worst.scored + worst.failed == worst.n else ""
        yield (
            f"More than {MOST_FAILED:.0%} of the examples failed on {', '.join(summary.metric for summary in failed)}: "
            f"{worst.metric} on {worst.failed} of {worst.n}{bounds}.{f' Most often: {reason}.' if reason else ''}"
        )
    if judge.uncertain is not None and judge.uncertain > MOST_UNCERTAIN:
        yield (
            f"The judge is unsure about {judge.uncertain:.0%} of the claims: read scores built on them as a range. "
            "A model judge, or 50 labels of your own, would sharpen them."
        )
    yield from _lacking(summaries)


def _bounded(summary: Summary) -> bool:
    return summary.low is not None and summary.high is not None and summary.kind != "amount"


def _lacking(summaries: Sequence[Summary]) -> Iterator[str]:
    """Inputs that a good part of the examples lack, with the metrics that go without; most examples first."""
    without: dict[tuple[str, int, int], list[str]] = {}
    for summary in summaries:
        if summary.scored + summary.undefined + summary.failed == 0:
            continue     # applies to no example: reports list it apart
        if summary.not_applicable > MOST_LACKING * summary.n:
            known = (why for why, count in summary.reasons.items() if count <= summary.not_applicable)
            reason = next(known, "an input is lacking")
            without.setdefault((reason, summary.not_applicable, summary.n), []).append(summary.metric)
    for (reason, count, n), metrics in sorted(without.items(), key=lambda item: -item[0][1]):
        yield f"{count} of {n} examples are left out of {', '.join(metrics)}: {reason}."


def pick_worst(causes: pl.DataFrame, scores: pl.DataFrame, count: int = 20) -> list[tuple[str, int]]:
    """The responses to look at first: (query_id, repeat), spread over the causes.

    One of each cause in turn, the most frequent cause first, within a cause the lowest mean score first (every score
    on its range, turned so that 1 is best). Where fewer responses failed than asked for, those of the lowest mean
    score below 1 follow.

    Args:
        causes: the failed responses.
        scores: all scores.
        count: how many at most.
    """
    import polars as pl

    scored = quality(scores)
    key = ["query_id", "repeat"]
    often = pl.len().over("cause").alias("often")
    failed = (
        causes.select(*key, "cause", often)
        .join(scored, on=key, how="left")
        .with_columns(pl.col("quality").fill_null(0.0))
        .sort("quality", *key)
        .with_columns(pl.int_range(pl.len()).over("cause").alias("turn"))
        .sort("turn", "often", "cause", descending=[False, True, False], maintain_order=True)
    )
    rest = scored.filter(pl.col("quality") < 1).join(causes, on=key, how="anti").sort("quality", *key)
    return [*failed.select(key).head(count).rows(), *rest.select(key).head(max(0, count - failed.height)).rows()]


def quality(scores: pl.DataFrame) -> pl.DataFrame:
    """query_id, repeat and quality: the mean of a response's scores on their ranges, 1 = best, amounts left out."""
    import polars as pl

    scales = [scale for name in scores["metric"].unique(maintain_order=True) for scale in _scale(name)]
    table = pl.DataFrame(scales, schema={"metric": pl.String, "worst": pl.Float64, "best": pl.Float64}, orient="row")
    part = (pl.col("value") - pl.col("worst")) / (pl.col("best") - pl.col("worst"))
    return (
        scores.filter(pl.col("status") == "scored")
        .join(table, on="metric")
        .group_by("query_id", "repeat", maintain_order=True)
        .agg(part.mean().alias("quality"))
    )


def _scale(name: str) -> list[tuple[str, float, float]]:
    """A metric's worst and best value; nothing where it has none."""
    metric = parse(name)
    low, high = metric.range
    if metric.direction == "neither" or not (isfinite(low) and isfinite(high)):
        return []
    return [(name, low, high) if metric.direction == "higher" else (name, high, low)]
