"""`ragauge retrieval`: a ranking measured against relevance labels."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ragauge.cli.options import Json, Metrics, names
from ragauge.cli.output import show, show_json, warn
from ragauge.errors import UsageError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ragauge.analysis.ranking.retrieval import RetrievalReport, Topics
    from ragauge.data.readers.trec import ScoreBits
    from ragauge.metrics.base import Metric

DEFAULT = "recall@5,precision@5,mrr,map,ndcg@10"


def retrieval(
    qrels: Annotated[Path, typer.Argument(help="Relevance labels: TREC qrels, BEIR TSV, JSON lines or Parquet.")],
    run: Annotated[Path, typer.Argument(help="The ranking: a TREC run, JSON lines or Parquet.")],
    metrics: Metrics = DEFAULT,
    as_json: Json = False,
    per_query: Annotated[bool, typer.Option("--per-query", help="Every query's values too.")] = False,
    topics: Annotated[
        str, typer.Option("--topics", help="Queries to average over: all the labelled ones, or trec_eval's choice.")
    ] = "all",
    score_bits: Annotated[
        int, typer.Option("--score-bits", help="Precision in which scores tie: 64, or 32 as trec_eval 9 has it.")
    ] = 64,
) -> None:
    """Measure a ranking against relevance labels, as trec_eval does."""
    from ragauge.analysis.ranking.retrieval import evaluate_retrieval
    from ragauge.data.readers.rankings import read_qrels, read_run

    chosen = _chosen(names(metrics))
    labels = read_qrels(qrels)
    results = read_run(run, cast("ScoreBits", score_bits))
    report = evaluate_retrieval(labels, results, chosen, cast("Topics", topics))
    for warning in report.warnings:
        warn(warning)
    if as_json:
        show_json(_json(report, per_query))
        return
    if per_query:
        sys.stdout.writelines(_lines(report))
    show(_table(report))


def _chosen(asked: Sequence[str]) -> list[Metric]:
    """The metrics asked for; of a preset, those that labels and a ranking suffice for."""
    from ragauge.analysis.ranking.retrieval import needs_ranking_only
    from ragauge.metrics.catalogue import select
    from ragauge.metrics.presets import PRESETS

    chosen: dict[Metric, None] = {}
    for name in asked:
        found = select([name])
        if name in PRESETS:
            left = [str(metric) for metric in found if not needs_ranking_only(metric)]
            found = [metric for metric in found if needs_ranking_only(metric)]
            if left:
                warn(f"{name}: left out, for labels and a ranking do not give what they need: {', '.join(left)}.")
        chosen.update(dict.fromkeys(found))
    if not chosen:
        raise UsageError(f"no metric to compute. Write -m {DEFAULT}.")
    return list(chosen)


def _json(report: RetrievalReport, per_query: bool) -> dict[str, Any]:
    from ragauge.reporting.as_json import summary_json

    found: dict[str, Any] = {
        "topics": report.topics,
        "n": len(report.query_ids),
        "metrics": {summary.metric: summary_json(summary) for summary in report.summaries},
        "warnings": list(report.warnings),
    }
    if per_query:
        found["per_query"] = report.per_query()
    return found


def _table(report: RetrievalReport) -> RenderableType:
    from ragauge.reporting.sections import ReportColumn, ReportSection, ReportTable
    from ragauge.reporting.words import ARROWS, counts
    from ragauge.reporting.writers.terminal import terminal

    heads = (
        ReportColumn("metric"), ReportColumn("mean", "number", tone="strong"), ReportColumn("95% interval"),
        ReportColumn("counts", tone="faint"),
    )     # fmt: skip
    rows = []
    for summary in report.summaries:
        found = summary.interval
        interval = "" if found is None else f"[{found.low:.4f}, {found.high:.4f}]"
        rows.append((summary.metric + ARROWS[summary.direction], _four(summary.mean), interval, counts(summary)))
    return terminal([ReportSection(table=ReportTable(heads, tuple(rows)))])


def _lines(report: RetrievalReport) -> Iterator[str]:
    """A line a query, its values in columns."""
    from ragauge.reporting.words import safe

    ids = [safe(query_id) for query_id in report.query_ids]
    width = max(map(len, ids), default=0)
    widths = {name: max(len(name), 6) for name in report.values}
    yield "  ".join(["query".ljust(width), *(name.rjust(widths[name]) for name in widths)]) + "\n"
    for i, query_id in enumerate(ids):
        cells = [_four(values[i]).rjust(widths[name]) for name, values in report.values.items()]
        yield "  ".join([query_id.ljust(width), *cells]) + "\n"


def _four(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
