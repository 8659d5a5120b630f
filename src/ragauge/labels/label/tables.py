"""What was drawn for people to label, and how far each of them is, as sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragauge.core.messages import format_command, format_count
from ragauge.rendering.sections import Col, Phrase, ReportSection, build_table
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
        lead = f"Nothing has been drawn from {run_text} for people to label. Human labels also correct the run's means:"
        yield ReportSection(lead=(lead,), commands=(draw_command,))
        return
    table = build_table(
        draws,
        Col("draw", lambda draw: f"draw {draw.draw}", link=lambda draw: ("draw", draw.draw), whole=True),
        Col("run", cut=60, link=lambda draw: ("run", draw.run_id), fold=True),
        Col("question", _describe_draw_question),
        Col("answers", "answers", "count"),
        Col("parts", "parts", "count"),
        Col("labeled by", _describe_annotators),
        Col("drawn", lambda draw: f"{draw.at[:16].replace('T', ' ')}, {draw.scheme}", room=1),
    )
    yield ReportSection(table=table, notes=("To draw more:",), commands=(draw_command,))


def describe_question(question: str) -> str:
    """What people are asked, in words."""
    return QUESTION_WORDS.get(question, "What score does the answer get?")


def _describe_draw_question(draw: DrawProgress) -> str:
    whole = ", whole answers" if draw.by == "answer" else ""
    return f"{draw.question}{whole}: {describe_question(draw.question)}"


def _describe_annotators(draw: DrawProgress) -> str:
    if not draw.labelled:
        return "no one yet"
    annotators = [
        f"{to_line(who, 60) or 'unnamed'} {count:,}" for who, count in list(draw.labelled.items())[:MAX_NAMES]
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
    people = f"Labeled so far: {_describe_annotators(draw)} of {parts_text}."
    if not draw.labelled:
        people = f"None of {parts_text} has been labeled yet."
    if checked:
        yield ReportSection(lead=(people,))
        yield from checked
        note = (
            "Based on stored verdicts: no judge was called and nothing was saved. To ask the judge again and "
            "save how far its means are off, so that its score intervals include it:"
        )
        again = format_command("judge", "check", draw.run_id, "--guideline", draw.guideline)
        yield ReportSection(notes=(note,), commands=(again,))
    elif draw.question == "support":
        to = (Phrase(f"Label draw {draw.draw}", to=("draw", draw.draw)), ".") if not draw.labelled else ("",)
        yield ReportSection(lead=(people, ("Agreement is shown after the first label. ", *to)))
    else:
        note_text = f"To use the {draw.question} labels as a judge, and see their means next to the judge's:"
        again = format_command("evaluate", draw.run_id, "--judge", f"people:{draw.guideline}")
        yield ReportSection(lead=(people,), notes=(note_text,), commands=(again,))
