"""`ragauge doctor`: what works on this machine, and what to do about what does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ragauge.api.queries.options import DoctorOptions
from ragauge.cli import options
from ragauge.cli.output import prints_apart, show, show_json

if TYPE_CHECKING:
    from ragauge.api.doctor import Diagnosis

MARKS = {"ok": ("ok", "green"), "note": ("note", "yellow"), "wrong": ("wrong", "bold red")}


@options.grouped
def doctor(wanted: DoctorOptions, as_json: options.Json = False) -> None:
    """Check what an evaluation needs: judge, store, keys, packages, configuration. Exit 1 when something is wrong."""
    from ragauge.api.doctor import examine
    from ragauge.api.verbs import finish

    with prints_apart():
        diagnosis = finish(lambda: examine(wanted))
    if as_json:
        show_json(diagnosis.to_dict())
    else:
        _show(diagnosis)
    if not diagnosis.healthy:
        raise typer.Exit(1)


def _show(diagnosis: Diagnosis) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for part in diagnosis.looked:
        mark, style = MARKS[part.state]
        text = Text(part.said)
        if part.hint:
            text.append(f"\n{part.hint}", style="dim")
        table.add_row(Text(mark, style=style), Text(part.name), text)
    show(table)
    wrong = sum(part.state == "wrong" for part in diagnosis.looked)
    show("Everything works." if diagnosis.healthy else f"{wrong} thing{'s' if wrong > 1 else ''} to mend.")
