"""`ragauge retrieval`: a ranking measured against relevance labels."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, cast

from ragauge.core.errors import UsageError
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show, show_json, warn
from ragauge.verbs.options import RetrievalOptions

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ragauge.evaluation.retrieval.compute import RetrievalReport, Topics
    from ragauge.metrics.base import Metric
    from ragauge.readers.trec import ScoreBits


@options.grouped
def retrieval(wanted: RetrievalOptions, as_json: Annotated[options.Json, options.Before("per_query")] = False) -> None:
    """Measure a ranking against relevance labels, as trec_eval does."""
    from ragauge.evaluation.retrieval.compute import evaluate_retrieval
    from ragauge.readers.rankings import read_qrels, read_run

    chosen = _chosen(options.names(wanted.metrics))
    labels, results = read_qrels(wanted.qrels), read_run(wanted.run, cast("ScoreBits", wanted.score_bits))
    report = evaluate_retrieval(labels, results, chosen, cast("Topics", wanted.topics))
    for warning in report.warnings:
        warn(warning)
    if as_json:
        show_json(_json(report, wanted.per_query))
        return
    if wanted.per_query:
        sys.stdout.writelines(_lines(report))
    show(_table(report))


def _chosen(asked: Sequence[str]) -> list[Metric]:
    """The metrics asked for; of a preset, those that labels and a ranking suffice for."""
    from ragauge.evaluation.retrieval.compute import needs_ranking_only
    from ragauge.metrics.catalogue import PRESETS, select

    chosen: dict[Metric, None] = {}
    for name in asked:
        metrics = select([name])
        if name in PRESETS:
            left = [str(metric) for metric in metrics if not needs_ranking_only(metric)]
            metrics = [metric for metric in metrics if needs_ranking_only(metric)]
            if left:
                warn(f"{name}: left out, for labels and a ranking do not give what they need: {', '.join(left)}.")
        chosen.update(dict.fromkeys(metrics))
    if not chosen:
        raise UsageError(f"no metric to compute. Write -m {RetrievalOptions.metrics}.")
    return list(chosen)


def _json(report: RetrievalReport, per_query: bool) -> dict[str, Any]:
    values: dict[str, Any] = {
        "topics": report.topics,
        "n": len(report.query_ids),
        "metrics": {summary.metric: summary for summary in report.summaries},
        "warnings": list(report.warnings),
    }
    if per_query:
        values["per_query"] = report.per_query()
    return values


def _table(report: RetrievalReport) -> RenderableType:
    from ragauge.rendering.sections import ReportColumn, ReportSection, ReportTable
    from ragauge.rendering.words import ARROWS, counts
    from ragauge.rendering.writers.terminal import terminal

    heads = (
        ReportColumn("metric"),
        ReportColumn("mean", "number", tone="strong"),
        ReportColumn("95% interval"),
        ReportColumn("counts", tone="faint"),
    )
    rows = []
    for summary in report.summaries:
        ends = summary.interval
        interval = "" if ends is None else f"[{ends.low:.4f}, {ends.high:.4f}]"
        rows.append((summary.metric + ARROWS[summary.direction], _four(summary.mean), interval, counts(summary)))
    return terminal([ReportSection(table=ReportTable(heads, tuple(rows)))])


def _lines(report: RetrievalReport) -> Iterator[str]:
    """A line a query, its values in columns."""
    from ragauge.rendering.words import safe

    ids = [safe(query_id) for query_id in report.query_ids]
    width = max(map(len, ids), default=0)
    widths = {name: max(len(name), 6) for name in report.values}
    yield "  ".join(["query".ljust(width), *(name.rjust(widths[name]) for name in widths)]) + "\n"
    for i, query_id in enumerate(ids):
        cells = [_four(values[i]).rjust(widths[name]) for name, values in report.values.items()]
        yield "  ".join([query_id.ljust(width), *cells]) + "\n"


def _four(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
