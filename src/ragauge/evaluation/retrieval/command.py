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


@options.spread_options
def retrieval(
    command_options: RetrievalOptions, as_json: Annotated[options.Json, options.PlacedBefore("per_query")] = False
) -> None:
    """Measure a ranking against relevance labels, as trec_eval does."""
    from ragauge.evaluation.retrieval.compute import evaluate_retrieval
    from ragauge.readers.rankings import read_qrels, read_run

    selected = _select_metrics(options.parse_names(command_options.metrics))
    labels, results = (
        read_qrels(command_options.qrels),
        read_run(command_options.run, cast("ScoreBits", command_options.score_bits)),
    )
    report = evaluate_retrieval(labels, results, selected, cast("Topics", command_options.topics))
    for warning in report.warnings:
        warn(warning)
    if as_json:
        show_json(_build_json(report, command_options.per_query))
        return
    if command_options.per_query:
        sys.stdout.writelines(_iter_query_lines(report))
    show(_build_table(report))


def _select_metrics(names: Sequence[str]) -> list[Metric]:
    """The metrics asked for; of a preset, those that labels and a ranking suffice for."""
    from ragauge.evaluation.retrieval.compute import needs_ranking_only
    from ragauge.metrics.catalogue import PRESETS, select_metrics

    selected: dict[Metric, None] = {}
    for name in names:
        metrics = select_metrics([name])
        if name in PRESETS:
            skipped = [str(metric) for metric in metrics if not needs_ranking_only(metric)]
            metrics = [metric for metric in metrics if needs_ranking_only(metric)]
            if skipped:
                warn(f"{name}: skipped metrics that need more than labels and a ranking: {', '.join(skipped)}.")
        selected.update(dict.fromkeys(metrics))
    if not selected:
        raise UsageError(f"no metric to compute. Use -m {RetrievalOptions.metrics}.")
    return list(selected)


def _build_json(report: RetrievalReport, per_query: bool) -> dict[str, Any]:
    values: dict[str, Any] = {
        "topics": report.topics,
        "n": len(report.query_ids),
        "metrics": {summary.metric: summary for summary in report.summaries},
        "warnings": list(report.warnings),
    }
    if per_query:
        values["per_query"] = report.per_query()
    return values


def _build_table(report: RetrievalReport) -> RenderableType:
    from ragauge.rendering.sections import ReportColumn, ReportSection, ReportTable
    from ragauge.rendering.words import ARROWS, counts
    from ragauge.rendering.writers.terminal import render_terminal

    headers = (
        ReportColumn("metric"),
        ReportColumn("mean", "number", tone="strong"),
        ReportColumn("95% interval"),
        ReportColumn("counts", tone="faint"),
    )
    rows = []
    for summary in report.summaries:
        bounds = summary.interval
        interval = "" if bounds is None else f"[{bounds.low:.4f}, {bounds.high:.4f}]"
        rows.append(
            (summary.metric + ARROWS[summary.direction], _format_value(summary.mean), interval, counts(summary))
        )
    return render_terminal([ReportSection(table=ReportTable(headers, tuple(rows)))])


def _iter_query_lines(report: RetrievalReport) -> Iterator[str]:
    """A line a query, its values in columns."""
    from ragauge.rendering.words import make_safe

    ids = [make_safe(query_id) for query_id in report.query_ids]
    width = max(map(len, ids), default=0)
    widths = {name: max(len(name), 6) for name in report.values}
    yield "  ".join(["query".ljust(width), *(name.rjust(widths[name]) for name in widths)]) + "\n"
    for i, query_id in enumerate(ids):
        cells = [_format_value(values[i]).rjust(widths[name]) for name, values in report.values.items()]
        yield "  ".join([query_id.ljust(width), *cells]) + "\n"


def _format_value(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
