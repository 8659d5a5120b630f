"""What judging a run has cost, as sections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ragauge.rendering.judge_usage import money, paid_words
from ragauge.rendering.sections import ReportColumn, ReportSection, ReportTable
from ragauge.rendering.words import line, safe
from ragauge.scores.judge_usage import JudgeCost, MetricCost, RunCost
from ragauge.scores.results.judge_usage import Paid

MOST_EXAMPLES = 10
SHARED = (
    "Questions are asked once for all metrics that need them: costs of metrics do not add up. "
    "alone: what leaving the metric out would save."
)
HEADS = ("calls", "failed", "tokens in", "tokens out", "cost")


def sections(cost: RunCost) -> Iterator[ReportSection]:
    """Everything, the most expensive examples alone."""
    name, run = safe(cost.run.name), f"run {cost.run.run_id}"
    if not cost.paid.calls:
        yield ReportSection(name, run, ("No call to a model was made for this run.",))
        return
    notes = ("RAGAUGE_PRICES names a file with prices of your own.",) if cost.paid.unpriced else ()
    yield ReportSection(name, run, (f"Judging it took {paid_words(cost.paid)}.",), notes=notes)
    if len(cost.models) > 1:
        yield ReportSection(
            "By model", table=_table(("model",), (((model,), paid) for model, paid in cost.models.items()))
        )
    for judge in cost.judges:
        yield from _judge(judge)
    if cost.examples:
        most = f" ({MOST_EXAMPLES} of {len(cost.examples):,}; --json lists all)"
        shown = (
            ((line(example.query_id) + (f" #{example.repeat}" if example.repeat else ""),), example.paid)
            for example in cost.examples[:MOST_EXAMPLES]
        )
        heading = f"Most expensive examples{most if len(cost.examples) > MOST_EXAMPLES else ''}"
        yield ReportSection(heading, table=_table(("example",), shown))


def _judge(judge: JudgeCost) -> Iterator[ReportSection]:
    heading = f"Judge {safe(judge.judge_id) or 'not recorded'}"
    if not judge.asked:
        yield ReportSection(heading, lead=("asked no model for this run",))
        return
    asked = (((question.question, question.model), question.paid) for question in judge.asked)
    yield ReportSection(heading, table=_table(("question", "model"), asked))
    if judge.metrics:
        table = _table(("metric", "asks", "shared with", "alone"), map(_metric, judge.metrics))
        yield ReportSection(table=table, notes=(SHARED,))


def _metric(cost: MetricCost) -> tuple[tuple[str, ...], Paid]:
    shared = _shared(len(cost.shared_with))
    return (cost.metric, ", ".join(cost.questions), shared, money(cost.alone.known_cost)), cost.paid


def _shared(others: int) -> str:
    return f"{others} metrics" if others > 1 else "1 metric" if others else "–"


def _table(names: tuple[str, ...], rows: Iterable[tuple[tuple[str, ...], Paid]]) -> ReportTable:
    numbers = (ReportColumn(head, "number", whole=True) for head in HEADS)
    shown = []
    for cells, paid in rows:
        counts = (paid.calls, paid.failed, paid.input_tokens, paid.output_tokens)
        shown.append((*map(safe, cells), *(f"{n:,}" for n in counts), money(paid.known_cost)))
    return ReportTable((*(ReportColumn(name, fold=True) for name in names), *numbers), tuple(shown), tight=True)
