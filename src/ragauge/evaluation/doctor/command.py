"""`ragauge doctor` and `ragauge store check`: what works on this machine, and what to do about what does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ragauge.core.messages import format_count
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import redirect_prints, show, show_json
from ragauge.verbs.options import DoctorOptions

if TYPE_CHECKING:
    from ragauge.evaluation.doctor.verb import Diagnosis
    from ragauge.rendering.sections import Tone

TONES: dict[str, Tone] = {"ok": "good", "note": "unsure", "wrong": "bad"}


@options.spread_options
def doctor(command_options: DoctorOptions, as_json: options.Json = False) -> None:
    """Check what an evaluation needs: judge, store, keys, packages, configuration. Exit 1 if something is wrong.

    With a file: every mistake in it with its line, and gates that can never fail. Exit 0: right, 2: mistakes.
    """
    from ragauge.evaluation.doctor.verb import examine_machine
    from ragauge.verbs.coroutines import run_coroutine

    if command_options.file is not None:
        _check_file(command_options, as_json=as_json)
        return
    with redirect_prints():
        diagnosis = run_coroutine(lambda: examine_machine(command_options))
    _show_diagnosis(diagnosis, as_json=as_json)


def check_store(store: options.Store = "", as_json: options.Json = False) -> None:
    """Look for damage in the store, and say what mends it. Exit 1 where something is damaged."""
    from ragauge.evaluation.doctor.verb import Diagnosis, examine_store

    _show_diagnosis(Diagnosis((examine_store(store or None),)), as_json=as_json)


def _check_file(command_options: DoctorOptions, *, as_json: bool) -> None:
    from ragauge.evaluation.doctor.validate import validate

    path, eval_set = command_options.file or "", command_options.eval_set or None
    validated = validate(path, set=eval_set, columns=command_options.columns, segments=command_options.segments)
    if as_json:
        show_json(validated.to_dict())
        return
    typer.echo(f"{validated.source} is valid. {'A run passes the gate when' if validated.rules else 'It has no gate.'}")
    for rule in validated.rules:
        typer.echo(f"- {rule}")
    if validated.monitor:
        typer.echo("Production monitoring:")
    for monitor_line in validated.monitor:
        typer.echo(f"- {monitor_line}")
    for note in validated.notes:
        typer.echo(f"note: {note}")


def _show_diagnosis(diagnosis: Diagnosis, *, as_json: bool) -> None:
    if as_json:
        show_json(diagnosis.to_dict())
    else:
        _print_diagnosis(diagnosis)
    if not diagnosis.is_healthy:
        raise typer.Exit(1)


def _print_diagnosis(diagnosis: Diagnosis) -> None:
    from ragauge.rendering.sections import Phrase, ReportSection, ReportTable, build_columns
    from ragauge.rendering.writers.terminal import render_terminal

    rows = []
    for item in diagnosis.looked:
        hint = (Phrase(f"\n{item.hint}", "faint"),) if item.hint else ()
        rows.append((Phrase(item.state, TONES[item.state]), item.name, (item.said, *hint)))
    wrong = sum(item.state == "wrong" for item in diagnosis.looked)
    summary_text = "Everything works." if diagnosis.is_healthy else f"{format_count(wrong, 'thing')} to fix."
    table = ReportTable(build_columns("", "part", "result"), tuple(rows))
    show(render_terminal([ReportSection(table=table, after=(summary_text,))]))
