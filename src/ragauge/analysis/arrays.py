"""Scores as arrays, one a metric, one entry an example: what summaries and segments are computed from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.data.score import STATUSES
from ragauge.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Floats = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.int64]

SCORED, UNDEFINED, NOT_APPLICABLE, FAILED = range(len(STATUSES))
NUMBERS = ("value", "numerator", "denominator", "low", "high")
NEEDED = ("query_id", "repeat", "metric", "status", "value", "numerator", "denominator", "low", "high", "reason")


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """One metric's scores. Every array has shape (n,), an entry for each example; NaN = none.

    Attributes:
        query: number of the example, from 0.
        status: index in STATUSES.
        value: NaN unless scored.
        numerator: NaN where there is none.
        denominator: likewise.
        low: least value that a failed score could have had.
        high: greatest such value.
        reason: number of the reason.
        weight: how many real requests the example stands for; None where all are alike.
        cluster: number of what the example depends on; None where every example stands alone.
    """

    query: Codes
    status: Codes
    value: Floats
    numerator: Floats
    denominator: Floats
    low: Floats
    high: Floats
    reason: Codes
    weight: Floats | None
    cluster: Codes | None

    def take(self, rows: Codes | slice) -> Columns:
        """Only these entries."""
        return Columns(
            self.query[rows], self.status[rows], self.value[rows], self.numerator[rows], self.denominator[rows],
            self.low[rows], self.high[rows], self.reason[rows],
            None if self.weight is None else self.weight[rows],
            None if self.cluster is None else self.cluster[rows],
        )     # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class ScoreArrays:
    """All scores of a run.

    Attributes:
        query_ids: the examples, by number.
        reasons: the reasons, by number.
        columns: printed name -> scores.
    """

    query_ids: tuple[str, ...]
    reasons: tuple[str, ...]
    columns: Mapping[str, Columns]

    @classmethod
    def of(cls, scores: pl.DataFrame) -> ScoreArrays:
        """Reads a score frame (see `frames.score_frame`); weight and cluster may be absent.

        An example that was answered several times counts once: its value is the mean over its scored repeats. If one
        of them failed, the example failed, bounded by the means of the bounds.

        Raises:
            DataError: a column is absent, or a status is not known.
        """
        import polars as pl

        frame = _complete(scores)
        if not frame.is_empty() and frame["repeat"].max() != frame["repeat"].min():
            frame = _one_an_example(frame)
        alone = pl.lit("\0") + pl.col("query_id")     # an example without a cluster is one of its own
        frame = frame.with_columns(pl.coalesce("cluster", alone).alias("cluster")) if _clustered(frame) else frame
        (queries, query), (reasons, reason) = numbered(frame["query_id"]), numbered(frame["reason"])
        frame = frame.with_columns(query, reason, *([numbered(frame["cluster"])[1]] if _clustered(frame) else []))
        parts = frame.partition_by("metric", as_dict=True, maintain_order=True)
        return cls(queries, reasons, {str(key[0]): _columns(part) for key, part in parts.items()})

    def only(self, kept: npt.NDArray[np.bool_]) -> ScoreArrays:
        """The scores of some examples, which keep their numbers.

        Args:
            kept: shape (examples,).
        """
        import numpy as np

        parts = {name: part.take(np.flatnonzero(kept[part.query])) for name, part in self.columns.items()}
        return ScoreArrays(self.query_ids, self.reasons, parts)


def _complete(scores: pl.DataFrame) -> pl.DataFrame:
    """The columns needed, statuses as numbers; a scored value that is no number is a failed one."""
    import polars as pl

    absent = [name for name in NEEDED if name not in scores.columns]
    if absent:
        raise DataError(f"no column {absent[0]!r} (found: {', '.join(scores.columns)}).", source="score frame")
    defaults = {"weight": pl.lit(1.0), "cluster": pl.lit(None, dtype=pl.String)}
    frame = scores.select(*NEEDED, *(pl.col(c) if c in scores.columns else d.alias(c) for c, d in defaults.items()))
    unknown = set(frame["status"].unique()) - set(STATUSES)
    if unknown:
        problem = f"status must be one of {', '.join(STATUSES)}, got {sorted(map(str, unknown))[0]!r}."
        raise DataError(problem, source="score frame")
    status = pl.col("status").replace_strict(list(STATUSES), range(len(STATUSES)), return_dtype=pl.Int64)
    no_number = (status == SCORED) & ~pl.col("value").is_finite().fill_null(value=False)
    return frame.with_columns(
        pl.when(no_number).then(FAILED).otherwise(status).alias("status"),
        pl.when(no_number).then(pl.lit("the value is not a number")).otherwise(pl.col("reason")).fill_null("")
        .alias("reason"),
        pl.when(no_number).then(None).otherwise(pl.col("low")).alias("low"),
        pl.when(no_number).then(None).otherwise(pl.col("high")).alias("high"),
        pl.when(status == SCORED).then(pl.col("value")).alias("value"),
        pl.col("weight").fill_null(1.0),
    )     # fmt: skip


def _one_an_example(frame: pl.DataFrame) -> pl.DataFrame:
    """Means over repeats. A failed repeat makes the example failed; otherwise a scored one makes it scored."""
    import polars as pl

    status = pl.col("status")
    rank = status.replace_strict([NOT_APPLICABLE, UNDEFINED, SCORED, FAILED], range(4), return_dtype=pl.Int64)
    top = status.get(rank.arg_max())
    scored, valued = status == SCORED, status.is_in([SCORED, FAILED])
    low = pl.when(scored).then(pl.col("value")).otherwise(pl.col("low"))
    high = pl.when(scored).then(pl.col("value")).otherwise(pl.col("high"))

    def bound(of: pl.Expr) -> pl.Expr:
        open_end = of.filter(valued).is_null().any()
        return pl.when((top == FAILED) & ~open_end).then(of.filter(valued).mean())

    return frame.group_by("metric", "query_id", maintain_order=True).agg(
        top.alias("status"),
        pl.when(top == SCORED).then(pl.col("value").filter(scored).mean()).alias("value"),
        pl.col("numerator").filter(scored).mean(),
        pl.col("denominator").filter(scored).mean(),
        bound(low).alias("low"),
        bound(high).alias("high"),
        pl.col("reason").get(rank.arg_max()),
        pl.col("weight").mean(),
        pl.col("cluster").first(),
    )


def _clustered(frame: pl.DataFrame) -> bool:
    return frame["cluster"].null_count() < frame.height


def numbered(column: pl.Series) -> tuple[tuple[Any, ...], pl.Series]:
    """The values of a column in order of appearance, and the column as their numbers, from 0."""
    import polars as pl

    values = column.unique(maintain_order=True).to_frame()
    coded = values.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("number"))
    joined = column.to_frame().join(coded, on=column.name, how="left", maintain_order="left", nulls_equal=True)
    return tuple(values.to_series()), joined["number"].alias(column.name)


def _columns(part: pl.DataFrame) -> Columns:
    numbers = {name: part[name].to_numpy() for name in NUMBERS}
    alike = part["weight"].min() == part["weight"].max()
    return Columns(
        query=part["query_id"].to_numpy(),
        status=part["status"].to_numpy(),
        reason=part["reason"].to_numpy(),
        weight=None if alike else part["weight"].to_numpy(),
        cluster=part["cluster"].to_numpy() if _clustered(part) else None,
        **numbers,
    )

