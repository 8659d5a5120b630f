"""`ragauge doctor`: what works on this machine, and what to do about what does not."""

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
    """Check what an evaluation needs: judge, store, keys, packages, configuration. Exit 1 when something is wrong."""
    from ragauge.evaluation.doctor.verb import examine_machine
    from ragauge.verbs.coroutines import run_coroutine

    with redirect_prints():
        diagnosis = run_coroutine(lambda: examine_machine(command_options))
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
    summary_text = "Everything works." if diagnosis.is_healthy else f"{format_count(wrong, 'thing')} to mend."
    table = ReportTable(build_columns("", "part", "what was found"), tuple(rows))
    show(render_terminal([ReportSection(table=table, after=(summary_text,))]))
