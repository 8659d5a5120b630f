"""Scores as arrays, one metric at a time: what summaries and segments are computed from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ragauge.core.errors import DataError
from ragauge.core.score import STATUSES

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Floats = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.int64]
    Integers = npt.NDArray[np.integer]

SCORED, UNDEFINED, NOT_APPLICABLE, FAILED, NOT_READ = range(len(STATUSES))
NUMBER_COLUMNS = ("value", "numerator", "denominator", "low", "high")
LABEL_COLUMNS = ("people", "inclusion")
MERGE_BATCH_EXAMPLES = 2_000  # examples; the room that a frame's steps take stays taken for a while
NO_NUMBER_REASON = "the value is not a number"
REQUIRED_COLUMNS = ("query_id", "repeat", "metric", "status", *NUMBER_COLUMNS, "reason")


@dataclass(frozen=True, slots=True, eq=False)
class ResponseIndex:
    """Which responses are looked at, in example order: kept once, beside the scores of one metric after another.

    Every array has shape (responses,).
    """

    number: Codes  #: identity of each response, ascending.
    query: Codes  #: number of its example, from 0.
    repeat: Codes  #: which of the system's answers.
    weight: Floats | None  #: how many real requests it stands for; None where all are alike.
    cluster: Codes | None  #: number of what its example depends on; None where every example stands alone.
    query_ids: tuple[str, ...]  #: the examples, by number.
    #: how likely each was drawn for the judge, NaN = it was not; None where the judge is asked about all.
    chance: Floats | None = None

    def __len__(self) -> int:
        return int(self.number.size)

    def select_weights(self, positions: Codes, *, sampled: bool) -> Floats | None:
        """How many real requests the responses at some places stand for; None where all are alike.

        Args:
            positions: of the responses.
            sampled: what is weighed is known of those alone that were drawn for the judge, so that each stands for
                1 / its chance as many. One that was judged without being drawn stands for itself.
        """
        import numpy as np

        weight = None if self.weight is None else self.weight[positions]
        if sampled and self.chance is not None:
            chance = np.nan_to_num(self.chance[positions], nan=1.0)
            weight = (1.0 if weight is None else weight) / chance
        return None if weight is None or (weight == weight[:1]).all() else weight

    def left_out(self) -> npt.NDArray[np.bool_]:
        """Which responses were not drawn for the judge, shape (responses,)."""
        import numpy as np

        return np.zeros(len(self), dtype=bool) if self.chance is None else np.isnan(self.chance)

    @property
    def repeated(self) -> bool:
        """Whether an example was answered several times."""
        return len(self) > len(self.query_ids)

    def clusters(self, among: Collection[str] | None = None) -> int | None:
        """How many clusters there are, an example that stands alone counted as one; None where none is declared.

        Args:
            among: ids of the examples that count; None = all.
        """
        import numpy as np

        if self.cluster is None:
            return None
        counts = np.array([among is None or query_id in among for query_id in self.query_ids], dtype=bool)
        return int(np.unique(self.cluster[counts[self.query]]).size)


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """One metric's scores. Every array has shape (n,), an entry for each response; NaN = none."""

    place: Codes  #: place of the response in its index, from 0; of an example's several, the first.
    query: Codes  #: number of the example, from 0.
    status: Integers  #: index in STATUSES.
    value: Floats  #: NaN unless scored.
    numerator: Floats  #: NaN where there is none.
    denominator: Floats  #: likewise.
    low: Floats  #: least value that a failed score could have had.
    high: Floats  #: greatest such value.
    reason: Integers  #: number of the reason.
    weight: Floats | None  #: how many real requests the response stands for; None where all are alike.
    cluster: Codes | None  #: number of what the example depends on; None where every example stands alone.
    reasons: Sequence[str]  #: the reasons, by number; shared by all parts of one metric.
    #: the score by people's labels; NaN = nobody was asked, infinite = labels give none. None = no labels.
    people: Floats | None = None
    #: the chance that the response had of being drawn for people; None where all had the same.
    inclusion: Floats | None = None
    sampled: bool = False  #: a judge gave all of these scores, so those that were not drawn for it have none.

    def take(self, rows: Codes | slice) -> Columns:
        """Only these entries."""
        return Columns(
            self.place[rows],
            self.query[rows],
            self.status[rows],
            self.value[rows],
            self.numerator[rows],
            self.denominator[rows],
            self.low[rows],
            self.high[rows],
            self.reason[rows],
            None if self.weight is None else self.weight[rows],
            None if self.cluster is None else self.cluster[rows],
            self.reasons,
            None if self.people is None else self.people[rows],
            None if self.inclusion is None else self.inclusion[rows],
            self.sampled,
        )


class RawScores(NamedTuple):
    """One metric's scores as they are kept; arrays of shape (n,), as in `Columns`."""

    status: Integers
    value: Floats
    numerator: Floats
    denominator: Floats
    low: Floats
    high: Floats
    reason: Integers
    reasons: Sequence[str]


class ScoreColumns(Protocol):
    """A run's scores, one metric at a time: held in memory, or read from where they are kept."""

    @property
    def index(self) -> ResponseIndex:
        """The responses."""

    def column(self, metric: str) -> Columns | None:
        """A metric's scores, one entry a response; None where it has none."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreArrays:
    """All scores of a run, in memory."""

    index: ResponseIndex  #: the responses.
    columns: Mapping[str, Columns]  #: printed name -> scores, one entry a response.

    @property
    def query_ids(self) -> tuple[str, ...]:
        """The examples, by number."""
        return self.index.query_ids

    def column(self, metric: str) -> Columns | None:
        """A metric's scores; None where it has none."""
        return self.columns.get(metric)

    @classmethod
    def of(cls, scores: pl.DataFrame) -> ScoreArrays:
        """Reads a score frame (see `summarize.build_score_frame`); weight and cluster may be absent.

        Raises:
            DataError: a column is absent, or a status is not known.
        """
        import polars as pl

        frame, key = _validate_frame(scores), ["query_id", "repeat"]
        # a judge's scores of a sample stand for more than those that every response has
        min_weight = pl.col("weight").min().over(key)
        responses = frame.select(*key, min_weight, "cluster").unique(key, keep="first", maintain_order=True)
        responses = responses.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("response_no"))
        frame = frame.join(responses.select(*key, "response_no"), on=key, how="left", maintain_order="left")
        query_ids, query = number_values(responses["query_id"])
        index = ResponseIndex(
            number=responses["response_no"].to_numpy(),
            query=query.to_numpy(),
            repeat=responses["repeat"].to_numpy(),
            weight=responses["weight"].to_numpy(),
            cluster=_number_clusters(responses),
            query_ids=query_ids,
        )
        frames_by_metric = frame.partition_by("metric", as_dict=True, maintain_order=True)
        return cls(
            index, {str(key[0]): build_columns(metric_frame, index) for key, metric_frame in frames_by_metric.items()}
        )


def build_columns(metric_frame: pl.DataFrame, index: ResponseIndex) -> Columns:
    """One metric's scores as arrays; those of responses that are not in the index are left out.

    Args:
        metric_frame: columns response_no, status, value, numerator, denominator, low, high, reason, weight.
        index: the responses looked at.
    """
    import numpy as np
    import polars as pl

    metric_frame = metric_frame.filter(pl.col("response_no").is_in(index.number))
    status = metric_frame["status"].replace_strict(list(STATUSES), range(len(STATUSES)), return_dtype=pl.Int64)
    reasons, reason = number_values(metric_frame["reason"].fill_null(""))
    numbers = {name: metric_frame[name].to_numpy() for name in NUMBER_COLUMNS}
    raw = RawScores(status=status.to_numpy(), reason=reason.to_numpy(), reasons=reasons, **numbers)
    columns = place_scores(index, np.searchsorted(index.number, metric_frame["response_no"].to_numpy()), raw)
    weight = metric_frame["weight"].to_numpy()
    return replace(columns, weight=None if (weight == weight[:1]).all() else weight)


def place_scores(index: ResponseIndex, positions: Codes, raw: RawScores, *, sampled: bool = False) -> Columns:
    """One metric's scores as they are kept, at their places in an index.

    A scored value that is no number is a failed one.

    Args:
        index: the responses looked at.
        positions: of the response of each score, shape (n,).
        raw: the scores.
        sampled: a judge gave all of them.
    """
    import numpy as np

    status, value, numerator, denominator, low, high, reason, reasons = raw
    no_number = (status == SCORED) & ~np.isfinite(value)
    if no_number.any():
        status, reason = np.where(no_number, FAILED, status), np.where(no_number, len(reasons), reason)
        low, high, reasons = (
            np.where(no_number, np.nan, low),
            np.where(no_number, np.nan, high),
            (*reasons, NO_NUMBER_REASON),
        )
    is_complete = positions.size == len(index) and bool((positions[1:] > positions[:-1]).all())
    scored = status == SCORED
    return Columns(
        place=positions,
        query=index.query if is_complete else index.query[positions],
        status=status,
        value=value if scored.all() else np.where(scored, value, np.nan),
        numerator=numerator,
        denominator=denominator,
        low=low,
        high=high,
        reason=reason,
        weight=index.select_weights(positions, sampled=sampled),
        cluster=None if index.cluster is None else index.cluster[positions],
        reasons=reasons,
        sampled=sampled,
    )


def merge_repeats(columns: Columns) -> Columns:
    """One entry an example: an example that was answered several times counts once.

    Its value is the mean over its scored repeats, people's score that over those that they labelled. If one of them
    failed, the example failed, bounded by the means of the bounds.
    """
    import numpy as np

    if (columns.query[1:] > columns.query[:-1]).all() or np.unique(columns.query).size == columns.query.size:
        return columns
    batch_numbers = columns.query // MERGE_BATCH_EXAMPLES
    merged = [_merge_batch(columns.take(np.flatnonzero(batch_numbers == n))) for n in np.unique(batch_numbers)]
    order = np.argsort(np.concatenate([batch["place"] for batch in merged]))
    arrays: dict[str, Any] = {name: np.concatenate([batch[name] for batch in merged])[order] for name in merged[0]}
    absent = [name for name in ("weight", "cluster", "people", "inclusion") if getattr(columns, name) is None]
    return Columns(**(arrays | dict.fromkeys(absent)), reasons=columns.reasons, sampled=columns.sampled)


def _validate_frame(scores: pl.DataFrame) -> pl.DataFrame:
    """The columns needed, every status a known one."""
    import polars as pl

    absent = [name for name in REQUIRED_COLUMNS if name not in scores.columns]
    if absent:
        raise DataError(f"no column {absent[0]!r} (found: {', '.join(scores.columns)}).", source="score frame")
    weight = pl.col("weight") if "weight" in scores.columns else pl.lit(1.0, dtype=pl.Float64).alias("weight")
    cluster = pl.col("cluster") if "cluster" in scores.columns else pl.lit(None, dtype=pl.String).alias("cluster")
    frame = scores.select(*REQUIRED_COLUMNS, weight.fill_null(1.0), cluster)
    unknown = set(frame["status"].unique()) - set(STATUSES)
    if unknown:
        problem = f"status must be one of {', '.join(STATUSES)}, got {sorted(map(str, unknown))[0]!r}."
        raise DataError(problem, source="score frame")
    return frame


def _merge_batch(columns: Columns) -> dict[str, Any]:
    """Means over repeats. A failed repeat makes the example failed; otherwise a scored one makes it scored."""
    import numpy as np
    import polars as pl

    frame = pl.DataFrame(
        {
            "place": columns.place,
            "query": columns.query,
            "status": columns.status,
            "reason": columns.reason,
            **{name: getattr(columns, name) for name in NUMBER_COLUMNS},
            "weight": np.ones(columns.query.size) if columns.weight is None else columns.weight,
            "cluster": columns.query if columns.cluster is None else columns.cluster,
            **{
                name: np.full(columns.query.size, np.nan)
                if (label_values := getattr(columns, name)) is None
                else label_values
                for name in LABEL_COLUMNS
            },
        }
    ).with_columns(pl.col([*NUMBER_COLUMNS, "people"]).fill_nan(None))
    status = pl.col("status")
    rank = status.replace_strict([NOT_APPLICABLE, NOT_READ, UNDEFINED, SCORED, FAILED], range(5), return_dtype=pl.Int64)
    top = status.get(rank.arg_max())
    scored, valued = status == SCORED, status.is_in([SCORED, FAILED])
    low = pl.when(scored).then(pl.col("value")).otherwise(pl.col("low"))
    high = pl.when(scored).then(pl.col("value")).otherwise(pl.col("high"))

    def mean_bound(expression: pl.Expr) -> pl.Expr:
        open_end = expression.filter(valued).is_null().any()
        return pl.when((top == FAILED) & ~open_end).then(expression.filter(valued).mean())

    means = frame.group_by("query", maintain_order=True).agg(
        pl.col("place").first(),
        top.alias("status"),
        pl.when(top == SCORED).then(pl.col("value").filter(scored).mean()).alias("value"),
        pl.col("numerator").filter(scored).mean(),
        pl.col("denominator").filter(scored).mean(),
        mean_bound(low).alias("low"),
        mean_bound(high).alias("high"),
        pl.col("reason").get(rank.arg_max()),
        pl.col("weight").mean(),
        pl.col("cluster").first(),
        pl.col("people").mean(),
        pl.col("inclusion").first(),
    )
    return {name: means[name].to_numpy() for name in means.columns}


def _number_clusters(responses: pl.DataFrame) -> Codes | None:
    """Numbers of the clusters; an example without one is a cluster of its own. None where none has one."""
    import polars as pl

    if responses["cluster"].null_count() == responses.height:
        return None
    alone = pl.lit("\0") + pl.col("query_id")
    return number_values(responses.select(pl.coalesce("cluster", alone).alias("cluster"))["cluster"])[1].to_numpy()


def number_values(column: pl.Series) -> tuple[tuple[Any, ...], pl.Series]:
    """The values of a column in order of appearance, and the column as their numbers, from 0."""
    import polars as pl

    values = column.unique(maintain_order=True).to_frame()
    coded = values.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("number"))
    joined = column.to_frame().join(coded, on=column.name, how="left", maintain_order="left", nulls_equal=True)
    return tuple(values.to_series()), joined["number"].alias(column.name)
