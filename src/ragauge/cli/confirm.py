"""`ragauge confirm`: answer failed examples again with other passages."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from ragauge.api.options import ConfirmOptions
from ragauge.cli import options
from ragauge.cli.output import kept_on_interrupt, progress_line, show, show_json, warn

Run = Annotated[str, typer.Argument(help="An evaluated run: id, name or latest.")]
System = Annotated[
    str, typer.Option("--system", help="The system that answered it, as `ragauge run` takes it; it must take passages.")
]
Corpus = Annotated[
    str,
    typer.Option("--corpus", help="The documents' texts: .jsonl, .csv, a folder of text; else what was recorded."),
]
Limit = Annotated[
    int, typer.Option("--limit", min=1, help="Experiments, at most: each cause in turn, its examples drawn at random.")
]
Seed = Annotated[int, typer.Option("--seed", help="Of the draw.")]
Control = Annotated[
    bool,
    typer.Option("--control", help="Answer from the unchanged passages too, for systems that vary: twice the calls."),
]
Judge = Annotated[str, typer.Option("--judge", help="Whose causes; the judge that judged the run last by default.")]
Settings = Annotated[str, typer.Option("--system-config", help="YAML with the system's settings.")]
Concurrency = Annotated[int, typer.Option("--concurrency", min=1, help="Questions under way, at most.")]
Timeout = Annotated[float, typer.Option("--timeout", min=0.01, help="Seconds for one attempt at a question.")]
MaxCost = Annotated[float | None, typer.Option("--max-cost", help="US dollars that the judge may spend; a hard stop.")]


options.GROUPS[ConfirmOptions] = {
    "run": Run, "system": System, "corpus": Corpus, "limit": Limit, "seed": Seed, "control": Control, "judge": Judge,
    "settings": Settings, "concurrency": Concurrency, "timeout": Timeout, "max_cost": MaxCost, "store": options.Store,
}     # fmt: skip


@options.grouped
def confirm(
    wanted: ConfirmOptions,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Confirm a run's causes: change the passages of failed examples, answer again, and see. Makes extra calls."""
    from ragauge.api.confirm import confirm_causes
    from ragauge.api.threads import finish
    from ragauge.reporting.confirmed import sections
    from ragauge.reporting.writers.terminal import terminal

    with kept_on_interrupt("Every answer so far is kept."), progress_line(quiet, "done") as progress:
        found = finish(lambda: confirm_causes(replace(wanted, progress=progress, warn=warn)))
    if as_json:
        show_json(found.to_dict())
        return
    parts = sections(found.run, found.answers, found.judge_id, found.causes, found.outcomes, found.asked)
    show(terminal(parts))
