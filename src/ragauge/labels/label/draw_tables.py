"""What was drawn for people to label, and how far each of them is, as sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragauge.core.messages import format_command, format_count
from ragauge.rendering.sections import Phrase, ReportColumn, ReportSection, ReportTable, build_columns
from ragauge.rendering.words import to_line

if TYPE_CHECKING:
    from ragauge.core.label import DrawProgress

QUESTION_WORDS = {
    "support": "Do the passages support the answer?",
    "relevance": "Is each passage relevant?",
    "address": "Does the answer address the question?",
    "refuse": "Does the answer decline to answer?",
}
MAX_NAMES = 4  # annotators that a row names


def build_draw_sections(draws: Sequence[DrawProgress], run: str = "") -> Iterator[ReportSection]:
    """A row a draw; where there is none, how to make one.

    Args:
        draws: the draws, in the order of the rows.
        run: id of the run whose draws these are; "" = of all runs.
    """
    draw_command = format_command("label", "draw", run or "latest")
    if not draws:
        run_text = "this run" if run else "any run"
        lead = f"Nothing was drawn from {run_text} for people to label. What they say also corrects the run's means:"
        yield ReportSection(lead=(lead,), commands=(draw_command,))
        return
    headers = (
        ReportColumn("draw", whole=True),
        ReportColumn("run", fold=True),
        ReportColumn("question"),
        *build_columns(numbers=("answers", "parts")),
        ReportColumn("labelled by"),
        ReportColumn("drawn", room=1),
    )
    rows = tuple(
        (
            Phrase(f"draw {draw.draw}", to=("draw", draw.draw)),
            Phrase(to_line(draw.run, 60), to=("run", draw.run_id)),
            f"{draw.question}{', of whole answers' if draw.by == 'answer' else ''}: {describe_question(draw.question)}",
            f"{draw.answers:,}",
            f"{draw.parts:,}",
            _describe_annotators(draw),
            f"{draw.at[:16].replace('T', ' ')}, {draw.scheme}",
        )
        for draw in draws
    )
    yield ReportSection(table=ReportTable(headers, rows), notes=("More are drawn by:",), commands=(draw_command,))


def describe_question(question: str) -> str:
    """What people are asked, in words."""
    return QUESTION_WORDS.get(question, "What score does the answer get?")


def _describe_annotators(draw: DrawProgress) -> str:
    if not draw.labelled:
        return "nobody yet"
    annotators = [
        f"{to_line(who, 60) or 'no name'} {count:,}" for who, count in list(draw.labelled.items())[:MAX_NAMES]
    ]
    more = len(draw.labelled) - len(annotators)
    return ", ".join(annotators) + (f" and {more:,} more" if more else "")


def build_agreement_sections(draw: DrawProgress, checked: Sequence[ReportSection]) -> Iterator[ReportSection]:
    """What was labelled of a draw, how far judges agree with it, and what more its labels do.

    Args:
        draw: the draw.
        checked: the sections of the judges' agreement; () where there is none to show.
    """
    parts_text = format_count(draw.parts, "part")
    people = f"Labelled so far: {_describe_annotators(draw)} of {parts_text}."
    if not draw.labelled:
        people = f"Nobody has labelled any of {parts_text} yet."
    if checked:
        yield ReportSection(lead=(people,))
        yield from checked
        note = (
            "By the verdicts that the store has: nothing was asked, and nothing is kept. To ask again, and keep how "
            "far the judge's means are off, so that the intervals of its scores include it:"
        )
        again = format_command("judge", "check", draw.run_id, "--guideline", draw.guideline)
        yield ReportSection(notes=(note,), commands=(again,))
    elif draw.question == "support":
        to = (Phrase(f"Label draw {draw.draw}", to=("draw", draw.draw)), ".") if not draw.labelled else ("",)
        yield ReportSection(lead=(people, ("Agreement is shown from the first label on. ", *to)))
    else:
        note_text = f"Labels of {draw.question} make people a judge of the run, whose means stand beside the judge's:"
        again = format_command("evaluate", draw.run_id, "--judge", f"people:{draw.guideline}")
        yield ReportSection(lead=(people,), notes=(note_text,), commands=(again,))
