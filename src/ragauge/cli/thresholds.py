"""`ragauge thresholds`: which level of a metric serves."""

from __future__ import annotations

from typing import Annotated

import typer

from ragauge.cli import options
from ragauge.cli.output import show, show_json


def thresholds(
    metric: Annotated[str, typer.Argument(help="A metric that was evaluated, such as faithfulness.")],
    run: Annotated[str, typer.Argument(help="A run or baseline; the branch's baseline, main, or the latest run.")] = "",
    target: Annotated[float, typer.Option("--target", help="Wanted share of answers that turn out well.")] = 0.8,
    outcome: Annotated[str, typer.Option("--outcome", help="Such as solved; the one recorded most often.")] = "",
    good: Annotated[str, typer.Option("--good", help="Its good values, where they do not say: '>=4' or up,love.")] = "",
    judge: Annotated[str, typer.Option("--judge", help="Whose verdicts; the last judge's by default.")] = "",
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Say from which level of a metric on answers turn out well often enough.

    With outcomes (solved, thumbs, click): how often, by level. Without: what the run reaches, which is no target.
    """
    from ragauge.api.thresholds import thresholds as found_by

    found = found_by(
        metric, run or None, target=target, outcome=outcome, good=good, judge=judge or None, store=store or None
    )
    show_json(found.to_dict()) if as_json else show(found.to_terminal())
