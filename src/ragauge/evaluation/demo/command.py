"""`ragauge demo`: the main job on the built-in RAG."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import report_interrupt, show, show_json, show_progress


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Output file for the report.")] = Path(
        "demo-report.html"
    ),
    store: options.Store = "",
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Evaluate a real RAG system on a small corpus: one good configuration, two with planted faults. No API key."""
    from ragauge.evaluation.demo.verb import demo as run_demo

    with report_interrupt(), show_progress(quiet) as progress:
        demo_result = run_demo(output, store or None, progress)
    show_json(demo_result.to_dict()) if as_json else show(demo_result.to_terminal())
