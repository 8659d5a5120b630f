"""`ragauge explain`: the formula with the numbers put in."""

from __future__ import annotations

from typing import Annotated

import typer

from ragauge.cli import options
from ragauge.cli.output import show, show_json


def explain(
    run: Annotated[str, typer.Argument(help="A stored run: id, name or latest.")],
    example: Annotated[str, typer.Argument(help="One example's query_id; the whole run when left out.")] = "",
    metrics: options.Metrics = "",
    repeat: Annotated[int, typer.Option(min=0, help="Which of the system's answers to the example.")] = 0,
    judge: Annotated[str, typer.Option("--judge", help="Whose verdicts; the last judge by default.")] = "",
    baseline: options.Baseline = "",
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Show how a number came about: of one example its facts, formulas and cause; of a run its means and findings."""
    from ragauge.api.runs import open_run
    from ragauge.errors import UsageError
    from ragauge.reporting import explain as explained

    opened, names = open_run(run, store=store or None), options.names(metrics)
    if example:
        if baseline:
            raise UsageError("--baseline holds a run against another one; it goes without an example.")
        one = opened.explain_example(example, names, repeat=repeat, judge=judge or None)
        show_json(explained.example_json(one)) if as_json else show(explained.example_terminal(one))
        return
    whole = opened.explain(names, judge=judge or None, baseline=baseline)
    show_json(explained.run_json(whole)) if as_json else show(explained.run_terminal(whole))
