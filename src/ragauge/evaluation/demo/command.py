"""`ragauge demo`: the main job on the built-in RAG."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import kept_on_interrupt, progress_line, show, show_json


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="The report to write.")] = Path("demo-report.html"),
    store: options.Store = "",
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Evaluate a real RAG over a small corpus, in three configurations: one good, two with a planted fault. No key."""
    from ragauge.evaluation.demo.verb import demo as run_demo

    with kept_on_interrupt(), progress_line(quiet) as progress:
        shown = run_demo(output, store or None, progress)
    show_json(shown.to_dict()) if as_json else show(shown.to_terminal())
