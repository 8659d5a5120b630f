"""`ragauge show` and `ragauge runs export`, and the table of `ragauge runs list`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragauge.core.messages import format_count
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show as shown
from ragauge.verbs.command_output import show_json
from ragauge.verbs.options import ShowOptions

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ragauge.evaluation.runs.verb import OpenRun


def build_list(rows: Sequence[Any], given: Mapping[str, Any]) -> RenderableType:
    """The table that `ragauge runs list` prints."""
    from ragauge.evaluation.runs.run_rows import build_runs_table
    from ragauge.studies.verb import list_stored_studies

    others = [] if rows else [study["name"] for study in list_stored_studies(store=given.get("store"))]
    return build_runs_table(rows, study=given.get("study", ""), studies=others)


@options.spread_options
def show(command_options: ShowOptions, as_json: options.Json = False) -> None:
    """Shows a run, one example or one view of it."""
    from ragauge.evaluation.runs.verb import open_run

    as_data, as_text = _build_view(open_run(command_options.run, store=command_options.store), command_options)
    show_json(as_data()) if as_json else shown(as_text())


def _build_view(stored_run: OpenRun, command_options: ShowOptions) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """What makes the JSON of a view, and what makes its text."""
    from ragauge.comparison.gaps import losses as lost
    from ragauge.core.json_keys import encode
    from ragauge.diagnosis.examples import one_example
    from ragauge.evaluation.runs import run_cost
    from ragauge.evaluation.scorecard import alignment
    from ragauge.rendering.writers.terminal import render_terminal

    match command_options.view:
        case "cost":
            paid = stored_run.cost()
            return partial(encode, paid), partial(render_terminal, run_cost.build_sections(paid))
        case "gaps":
            gaps = stored_run.gaps()
            return partial(encode, gaps), partial(render_terminal, lost.build_sections(gaps))
        case "alignment":
            card = stored_run.scorecard(baseline=command_options.baseline).card
            return partial(encode, card, "alignment"), partial(render_terminal, alignment.build_sections(card))
        case "example":
            view = stored_run.example(command_options.example)
            return partial(encode, view), partial(render_terminal, one_example.build_sections(view))
    shown_run = stored_run.scorecard(baseline=command_options.baseline) if command_options.baseline else stored_run
    return shown_run.to_dict, shown_run.to_terminal


def export(
    run: Annotated[str, typer.Argument(help="A stored run: id, name or latest.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Output file: .jsonl; for scores also .csv or .parquet.")
    ],
    content: Annotated[str, typer.Option(help="responses or scores; defaults to what the file name implies.")] = "",
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Writes a run's responses or its scores."""
    from ragauge.evaluation.export.exports import derive_content
    from ragauge.evaluation.runs.verb import open_run

    count = open_run(run, store=store or None).export(output, content)
    content = content or derive_content(output)
    typer.echo(f"wrote the {content} to {output} ({format_count(count, 'line')})", err=True)
    if as_json:
        show_json({"path": str(output), "content": content, "lines": count})
