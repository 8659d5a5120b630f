"""What judging a run has cost, as sections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ragauge.rendering.judge_usage import format_money, format_paid
from ragauge.rendering.sections import ReportColumn, ReportSection, ReportTable
from ragauge.rendering.words import make_safe, to_line
from ragauge.scores.judge_usage import JudgeCost, MetricCost, RunCost
from ragauge.scores.results.judge_usage import CallTotals

MAX_EXAMPLES = 10
SHARED_NOTE = (
    "Each judge question is asked once for all metrics that need it, so the costs of metrics do not add up. "
    "alone: what you would save without the metric."
)
HEADERS = ("calls", "failed", "tokens in", "tokens out", "cost")


def build_sections(cost: RunCost) -> Iterator[ReportSection]:
    """Everything, the most expensive examples alone."""
    name, run = make_safe(cost.run.name), f"run {cost.run.run_id}"
    if not cost.paid.calls:
        yield ReportSection(name, run, ("No model was called for this run.",))
        return
    notes = ("Set RAGAUGE_PRICES to a file with your own prices.",) if cost.paid.unpriced else ()
    yield ReportSection(name, run, (f"Judging it took {format_paid(cost.paid)}.",), notes=notes)
    if len(cost.models) > 1:
        yield ReportSection(
            "By model", table=_build_table(("model",), (((model,), paid) for model, paid in cost.models.items()))
        )
    for judge in cost.judges:
        yield from _build_judge_sections(judge)
    if cost.examples:
        limit_text = f" ({MAX_EXAMPLES} of {len(cost.examples):,}; --json lists all)"
        example_rows = (
            ((to_line(example.query_id) + (f" #{example.repeat}" if example.repeat else ""),), example.paid)
            for example in cost.examples[:MAX_EXAMPLES]
        )
        heading = f"Most expensive examples{limit_text if len(cost.examples) > MAX_EXAMPLES else ''}"
        yield ReportSection(heading, table=_build_table(("example",), example_rows))


def _build_judge_sections(judge: JudgeCost) -> Iterator[ReportSection]:
    heading = f"Judge {make_safe(judge.judge_id) or 'not recorded'}"
    if not judge.question_costs:
        yield ReportSection(heading, lead=("called no model for this run",))
        return
    question_rows = (((question.question, question.model), question.paid) for question in judge.question_costs)
    yield ReportSection(heading, table=_build_table(("question", "model"), question_rows))
    if judge.metrics:
        table = _build_table(("metric", "asks", "shared with", "alone"), map(_build_metric_row, judge.metrics))
        yield ReportSection(table=table, notes=(SHARED_NOTE,))


def _build_metric_row(cost: MetricCost) -> tuple[tuple[str, ...], CallTotals]:
    shared = _format_shared(len(cost.shared_with))
    return (cost.metric, ", ".join(cost.questions), shared, format_money(cost.alone.known_cost)), cost.paid


def _format_shared(others: int) -> str:
    return f"{others} metrics" if others > 1 else "1 metric" if others else "–"


def _build_table(names: tuple[str, ...], rows: Iterable[tuple[tuple[str, ...], CallTotals]]) -> ReportTable:
    numbers = (ReportColumn(head, "number", whole=True) for head in HEADERS)
    table_rows = []
    for cells, paid in rows:
        counts = (paid.calls, paid.failed, paid.input_tokens, paid.output_tokens)
        table_rows.append((*map(make_safe, cells), *(f"{n:,}" for n in counts), format_money(paid.known_cost)))
    return ReportTable((*(ReportColumn(name, fold=True) for name in names), *numbers), tuple(table_rows), tight=True)
