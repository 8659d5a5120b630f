"""What judging a run has cost, for people and machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ragauge.analysis.judges.cost import JudgeCost, MetricCost, RunCost
from ragauge.analysis.results.paid import Paid
from ragauge.reporting.judged import money, paid_json, paid_words
from ragauge.reporting.words import line, safe

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

MOST_EXAMPLES = 10
HEADS = ("calls", "in vain", "tokens in", "tokens out", "cost")


def cost_json(cost: RunCost) -> dict[str, Any]:
    """Everything as JSON types."""
    return {
        "run_id": cost.run.run_id,
        "name": cost.run.name,
        **paid_json(cost.paid),
        "by_model": {model: paid_json(paid) for model, paid in cost.models.items()},
        "by_judge": [
            {
                "judge": judge.judge_id,
                **paid_json(judge.paid),
                "by_question": [
                    {"question": one.question, "model": one.model, **paid_json(one.paid)} for one in judge.asked
                ],
                "by_metric": {
                    one.metric: {
                        "questions": list(one.questions), **paid_json(one.paid), "alone": paid_json(one.alone),
                        "shared_with": list(one.shared_with),
                    }
                    for one in judge.metrics
                },
            }
            for judge in cost.judges
        ],
        "by_example": [
            {"query_id": one.query_id, "repeat": one.repeat, **paid_json(one.paid)} for one in cost.examples
        ],
    }     # fmt: skip


def cost_text(cost: RunCost) -> RenderableType:
    """Everything for a terminal, the most expensive examples alone."""
    from rich.console import Group
    from rich.text import Text

    head = Text(safe(cost.run.name), style="bold") + Text(f"  run {cost.run.run_id}", style="dim")
    if not cost.paid.calls:
        return Group(head, Text("No call to a model was made for this run."))
    return Group(head, *_parts(cost))


def _parts(cost: RunCost) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text(f"Judging it took {paid_words(cost.paid)}.")
    if cost.paid.unpriced:
        yield Text("RAGAUGE_PRICES names a file with prices of your own.", style="dim")
    if len(cost.models) > 1:
        yield Text("\nBy model", style="bold")
        yield _table(("model",), (((model,), paid) for model, paid in cost.models.items()))
    for judge in cost.judges:
        yield from _judge(judge)
    if cost.examples:
        most = f" ({MOST_EXAMPLES} of {len(cost.examples):,}; --json lists all)"
        yield Text(f"\nMost expensive examples{most if len(cost.examples) > MOST_EXAMPLES else ''}", style="bold")
        shown = (
            ((line(one.query_id) + (f" #{one.repeat}" if one.repeat else ""),), one.paid)
            for one in cost.examples[:MOST_EXAMPLES]
        )
        yield _table(("example",), shown)


def _judge(judge: JudgeCost) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text(f"\nJudge {safe(judge.judge_id) or 'not recorded'}", style="bold")
    if not judge.asked:
        yield Text("asked no model for this run")
        return
    yield _table(("question", "model"), (((one.question, one.model), one.paid) for one in judge.asked))
    if judge.metrics:
        yield _table(("metric", "asks", "shared with", "alone"), map(_metric, judge.metrics))
        yield Text(
            "Questions are asked once for all metrics that need them: costs of metrics do not add up. "
            "alone: what leaving the metric out would save.",
            style="dim",
        )


def _metric(one: MetricCost) -> tuple[tuple[str, ...], Paid]:
    shared = _shared(len(one.shared_with))
    return (one.metric, ", ".join(one.questions), shared, money(one.alone.known_cost)), one.paid


def _shared(others: int) -> str:
    return f"{others} metrics" if others > 1 else "1 metric" if others else "–"


def _table(names: tuple[str, ...], rows: Iterable[tuple[tuple[str, ...], Paid]]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name in names:
        table.add_column(name, overflow="fold")
    for head in HEADS:
        table.add_column(head, justify="right", no_wrap=True)
    for cells, paid in rows:
        numbers = (paid.calls, paid.failed, paid.input_tokens, paid.output_tokens)
        table.add_row(*(Text(safe(cell)) for cell in cells), *(f"{n:,}" for n in numbers), money(paid.known_cost))
    return table
