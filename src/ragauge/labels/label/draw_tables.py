"""What was drawn for people to label, and how far each of them is, as sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragauge.core.messages import command, plural
from ragauge.rendering.sections import Phrase, ReportColumn, ReportSection, ReportTable, columns
from ragauge.rendering.words import line

if TYPE_CHECKING:
    from ragauge.core.label import DrawProgress

ASKED = {
    "support": "Do the passages support the answer?",
    "relevance": "Is each passage relevant?",
    "address": "Does the answer address the question?",
    "refuse": "Does the answer decline to answer?",
}
MOST_NAMES = 4  # annotators that a row names


def draw_sections(found: Sequence[DrawProgress], run: str = "") -> Iterator[ReportSection]:
    """A row a draw; where there is none, how to make one.

    Args:
        found: the draws, in the order of the rows.
        run: id of the run whose draws these are; "" = of all runs.
    """
    draws = command("label", "draw", run or "latest")
    if not found:
        of = "this run" if run else "any run"
        lead = f"Nothing was drawn from {of} for people to label. What they say also corrects the run's means:"
        yield ReportSection(lead=(lead,), commands=(draws,))
        return
    heads = (
        ReportColumn("draw", whole=True),
        ReportColumn("run", fold=True),
        ReportColumn("question"),
        *columns(numbers=("answers", "parts")),
        ReportColumn("labelled by"),
        ReportColumn("drawn", room=1),
    )
    rows = tuple(
        (
            Phrase(f"draw {one.draw}", to=("draw", one.draw)),
            Phrase(line(one.run, 60), to=("run", one.run_id)),
            f"{one.question}{', of whole answers' if one.by == 'answer' else ''}: {in_words(one.question)}",
            f"{one.answers:,}",
            f"{one.parts:,}",
            _people(one),
            f"{one.at[:16].replace('T', ' ')}, {one.scheme}",
        )
        for one in found
    )
    yield ReportSection(table=ReportTable(heads, rows), notes=("More are drawn by:",), commands=(draws,))


def in_words(question: str) -> str:
    """What people are asked, in words."""
    return ASKED.get(question, "What score does the answer get?")


def _people(one: DrawProgress) -> str:
    if not one.labelled:
        return "nobody yet"
    named = [f"{line(who, 60) or 'no name'} {count:,}" for who, count in list(one.labelled.items())[:MOST_NAMES]]
    more = len(one.labelled) - len(named)
    return ", ".join(named) + (f" and {more:,} more" if more else "")


def agreement_sections(about: DrawProgress, checked: Sequence[ReportSection]) -> Iterator[ReportSection]:
    """What was labelled of a draw, how far judges agree with it, and what more its labels do.

    Args:
        about: the draw.
        checked: the sections of the judges' agreement; () where there is none to show.
    """
    parts = plural(about.parts, "part")
    people = f"Labelled so far: {_people(about)} of {parts}."
    if not about.labelled:
        people = f"Nobody has labelled any of {parts} yet."
    if checked:
        yield ReportSection(lead=(people,))
        yield from checked
        said = (
            "By the verdicts that the store has: nothing was asked, and nothing is kept. To ask again, and keep how "
            "far the judge's means are off, so that the intervals of its scores include it:"
        )
        again = command("judge", "check", about.run_id, "--guideline", about.guideline)
        yield ReportSection(notes=(said,), commands=(again,))
    elif about.question == "support":
        to = (Phrase(f"Label draw {about.draw}", to=("draw", about.draw)), ".") if not about.labelled else ("",)
        yield ReportSection(lead=(people, ("Agreement is shown from the first label on. ", *to)))
    else:
        told = f"Labels of {about.question} make people a judge of the run, whose means stand beside the judge's:"
        again = command("evaluate", about.run_id, "--judge", f"people:{about.guideline}")
        yield ReportSection(lead=(people,), notes=(told,), commands=(again,))
