"""`ragauge doctor`: what works on this machine, and what to do about what does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ragauge.core.messages import plural
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import prints_apart, show, show_json
from ragauge.verbs.options import DoctorOptions

if TYPE_CHECKING:
    from ragauge.evaluation.doctor.verb import Diagnosis
    from ragauge.rendering.sections import Tone

TONES: dict[str, Tone] = {"ok": "good", "note": "unsure", "wrong": "bad"}


@options.grouped
def doctor(wanted: DoctorOptions, as_json: options.Json = False) -> None:
    """Check what an evaluation needs: judge, store, keys, packages, configuration. Exit 1 when something is wrong."""
    from ragauge.evaluation.doctor.verb import examine
    from ragauge.verbs.coroutines import finish

    with prints_apart():
        diagnosis = finish(lambda: examine(wanted))
    if as_json:
        show_json(diagnosis.to_dict())
    else:
        _show(diagnosis)
    if not diagnosis.healthy:
        raise typer.Exit(1)


def _show(diagnosis: Diagnosis) -> None:
    from ragauge.rendering.sections import Phrase, ReportSection, ReportTable, columns
    from ragauge.rendering.writers.terminal import terminal

    rows = []
    for part in diagnosis.looked:
        hint = (Phrase(f"\n{part.hint}", "faint"),) if part.hint else ()
        rows.append((Phrase(part.state, TONES[part.state]), part.name, (part.said, *hint)))
    wrong = sum(part.state == "wrong" for part in diagnosis.looked)
    told = "Everything works." if diagnosis.healthy else f"{plural(wrong, 'thing')} to mend."
    table = ReportTable(columns("", "part", "what was found"), tuple(rows))
    show(terminal([ReportSection(table=table, after=(told,))]))
