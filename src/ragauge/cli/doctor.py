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
    from ragauge.api.threads import finish

    with prints_apart():
        found = finish(lambda: examine(wanted))
    if as_json:
        show_json(found.to_dict())
    else:
        _show(found)
    if not found.healthy:
        raise typer.Exit(1)


def _show(found: Diagnosis) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for one in found.looked:
        mark, style = MARKS[one.state]
        said = Text(one.said)
        if one.hint:
            said.append(f"\n{one.hint}", style="dim")
        table.add_row(Text(mark, style=style), Text(one.name), said)
    show(table)
    wrong = sum(one.state == "wrong" for one in found.looked)
    show("Everything works." if found.healthy else f"{wrong} thing{'s' if wrong > 1 else ''} to mend.")
