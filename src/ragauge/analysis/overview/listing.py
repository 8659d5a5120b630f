"""The responses that reports list, so that the marks of charts can point at them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ragauge.analysis.results.overview import Listed
from ragauge.analysis.scores.arrays import ResponseIndex
from ragauge.analysis.scores.values import Values

if TYPE_CHECKING:
    import polars as pl

MOST_LISTED = 1_000   # a page of more does not open at once
MOST_QUERY = 200      # characters of a question
KEY = ["query_id", "repeat"]


class Beside(NamedTuple):
    """What a listed response has beside its scores, so that marks lead to it; place -> value, absent = not known.

    Attributes:
        used: ranks of the passages that its answer uses.
        relevant: ranks of its relevant passages, of those that count for alignment.
        handed: passages handed on.
        kept: stage of retrieval -> share of the labelled documents still there.
        timings: stage -> milliseconds.
        numbers: name -> place -> value, where no metric of that name was measured.
    """

    used: Mapping[int, tuple[int, ...]] = {}
    relevant: Mapping[int, tuple[int, ...]] = {}
    handed: Mapping[int, int] = {}
    kept: Mapping[int, Mapping[str, float]] = {}
    timings: Mapping[int, Mapping[str, float]] = {}
    numbers: Mapping[str, Mapping[int, float]] = {}


def choose(index: ResponseIndex, causes: pl.DataFrame, quality: pl.DataFrame, most: int = MOST_LISTED) -> pl.DataFrame:
    """The responses to list: all failed ones, then the others; in each part the lowest quality first.

    Where more failed than can be listed, every cause keeps its worst: they are taken from each cause in turn.

    Args:
        index: the responses.
        causes: a cause frame.
        quality: query_id, repeat and quality of the responses that have one.
        most: how many at most.

    Returns:
        place, query_id, repeat, cause, failed, quality, decided_by.
    """
    import polars as pl

    ids = pl.Series("query_id", index.query_ids, dtype=pl.String)
    rows = pl.DataFrame({"query_id": ids.gather(index.query), "repeat": index.repeat}).with_row_index("place")
    failed = causes.select(*KEY, "cause").with_columns(pl.lit(value=True).alias("failed"))
    none = pl.when(pl.col("failed")).then(-1.0).otherwise(2.0)      # no quality: worst of the failed, else last
    return (
        rows.join(failed, on=KEY, how="left")
        .join(quality, on=KEY, how="left")
        .with_columns(pl.col("failed").fill_null(value=False), pl.col("cause").fill_null(""))
        .with_columns(pl.coalesce("quality", none).alias("order"))
        .sort("order", *KEY)
        .with_columns(pl.int_range(pl.len()).over("failed", "cause").alias("turn"))
        .sort("failed", "turn", descending=[True, False], maintain_order=True)
        .head(most)
        .sort("failed", "order", *KEY, descending=[True, False, False, False])
        .drop("turn", "order")
        .join(causes.select(*KEY, "decided_by"), on=KEY, how="left", maintain_order="left")     # long texts: last
        .with_columns(pl.col("decided_by").fill_null(""))
    )


def listed(
    chosen: pl.DataFrame,
    values: Values,
    segments: pl.DataFrame,
    questions: Mapping[int, str],
    beside: Beside,
) -> tuple[Listed, ...]:
    """A row a response, in the order chosen.

    Args:
        chosen: as `choose` gives them.
        values: every metric's values.
        segments: a tidy segment frame: query_id and the columns shown.
        questions: place -> question.
        beside: what there is beside the scores.
    """
    wanted = chosen.select("query_id").unique().join(segments, on="query_id", how="inner")
    mine = {row.pop("query_id"): row for row in wanted.to_dicts()}
    return tuple(
        Listed(
            query_id=row["query_id"],
            repeat=row["repeat"],
            query=cut(questions.get(row["place"], "")),
            failed=row["failed"],
            cause=row["cause"],
            decided_by=row["decided_by"],
            quality=row["quality"],
            values=_numbers(values, beside.numbers, row["place"]),
            segments={name: value for name, value in mine.get(row["query_id"], {}).items() if value is not None},
            used=beside.used.get(row["place"]),
            relevant=beside.relevant.get(row["place"]),
            handed=beside.handed.get(row["place"], 0),
            kept=beside.kept.get(row["place"], {}),
            timings=beside.timings.get(row["place"], {}),
        )
        for row in chosen.iter_rows(named=True)
    )


def cut(query: str, most: int = MOST_QUERY) -> str:
    """A question, cut when long.

    >>> cut("How long is the warranty?", 8)
    'How long …'
    """
    return query if len(query) <= most else f"{query[:most].rstrip()} …"


def _numbers(values: Values, others: Mapping[str, Mapping[int, float]], place: int) -> dict[str, float]:
    found = values.at(place)
    extra = {name: of[place] for name, of in others.items() if name not in values and place in of}
    return found | extra
