"""The responses that reports list, so that the marks of charts can point at them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ragauge.analysis.arrays import ResponseIndex
from ragauge.analysis.overview import Listed
from ragauge.analysis.values import Values

if TYPE_CHECKING:
    import polars as pl

MOST_LISTED = 2_000
MOST_QUERY = 200      # characters of a question
KEY = ["query_id", "repeat"]


def choose(index: ResponseIndex, causes: pl.DataFrame, quality: pl.DataFrame, most: int = MOST_LISTED) -> pl.DataFrame:
    """The responses to list: all failed ones, then the others; in each part the lowest quality first.

    Where more failed than can be listed, every cause keeps its worst: they are taken from each cause in turn.

    Args:
        index: the responses.
        causes: a cause frame.
        quality: query_id, repeat and quality of the responses that have one.
        most: how many at most.

    Returns:
        place, query_id, repeat, failed, cause, decided_by, quality.
    """
    import polars as pl

    ids = pl.Series("query_id", index.query_ids, dtype=pl.String)
    rows = pl.DataFrame({"query_id": ids.gather(index.query), "repeat": index.repeat}).with_row_index("place")
    failed = causes.select(*KEY, "cause", "decided_by").with_columns(pl.lit(value=True).alias("failed"))
    none = pl.when(pl.col("failed")).then(-1.0).otherwise(2.0)      # no quality: worst of the failed, else last
    return (
        rows.join(failed, on=KEY, how="left")
        .join(quality, on=KEY, how="left")
        .with_columns(pl.col("failed").fill_null(value=False), pl.col("cause", "decided_by").fill_null(""))
        .with_columns(pl.coalesce("quality", none).alias("order"))
        .sort("order", *KEY)
        .with_columns(pl.int_range(pl.len()).over("failed", "cause").alias("turn"))
        .sort("failed", "turn", descending=[True, False], maintain_order=True)
        .head(most)
        .sort("failed", "order", *KEY, descending=[True, False, False, False])
        .drop("turn", "order")
    )


def listed(
    chosen: pl.DataFrame,
    values: Values,
    segments: pl.DataFrame,
    questions: Mapping[int, str],
    used: Mapping[int, tuple[int, ...]],
    more: Mapping[str, Mapping[int, float]] | None = None,
) -> tuple[Listed, ...]:
    """A row a response, in the order chosen.

    Args:
        chosen: as `choose` gives them.
        values: every metric's values.
        segments: a tidy segment frame: query_id and the columns shown.
        questions: place -> question.
        used: place -> ranks of the passages used; absent = not known.
        more: name -> place -> value: numbers beside the metrics, where no metric of that name was measured.
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
            values=_beside(values, more or {}, row["place"]),
            segments={name: value for name, value in mine.get(row["query_id"], {}).items() if value is not None},
            used=used.get(row["place"]),
        )
        for row in chosen.iter_rows(named=True)
    )


def cut(query: str, most: int = MOST_QUERY) -> str:
    """A question, cut when long.

    >>> cut("How long is the warranty?", 8)
    'How long …'
    """
    return query if len(query) <= most else f"{query[:most].rstrip()} …"


def _beside(values: Values, more: Mapping[str, Mapping[int, float]], place: int) -> dict[str, float]:
    found = values.at(place)
    extra = {name: of[place] for name, of in more.items() if name not in values and place in of}
    return found | extra
