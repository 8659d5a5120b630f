"""One example in a terminal: every claim and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragauge.analysis.results.scorecard import ExampleView
from ragauge.reporting.examples import (
    MARKS,
    answer_facts,
    checked,
    cited,
    label,
    missed,
    off_question,
    pieces,
    says,
    scored,
    untold,
    wanted,
)
from ragauge.reporting.passage_views import shelves
from ragauge.reporting.words import UNNAMED, safe

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

STYLES = {"supported": "green", "contradicted": "bold red", "not_in_context": "yellow", "failed": "dim"}
MOST_PASSAGE = 500


def example_text(view: ExampleView) -> RenderableType:
    """Question, cause, answer claim by claim, reference claims, passages, scores."""
    from rich.console import Group

    return Group(*_parts(view))


def _parts(view: ExampleView) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text(f"{safe(view.example.query_id)}  ", style="dim") + Text(safe(view.example.query), style="bold")
    if view.cause is not None:
        head = Text(f"failed: {view.cause.name or UNNAMED}", style="red")
        yield head + Text(f" · {safe(view.cause.decided_by)}" if view.cause.decided_by else "", style="default")
        if view.cause.fix:
            yield Text(f"fix: {view.cause.fix}")
        if view.cause.second:
            why = f", {safe(view.cause.second_by)}" if view.cause.second_by else ""
            yield Text(f"second opinion: {view.cause.second}{why}", style="dim")
        if view.cause.lacking:
            yield Text(f"not known: {safe('; '.join(view.cause.lacking))}", style="dim")
    elif view.unknown:
        yield Text(f"not known whether it failed: {safe(view.unknown)}", style="yellow")
    if view.response.error is not None:
        yield Text(f"the system failed: {safe(view.response.error)}", style="red")
    yield from _answer(view)
    yield from _reference(view)
    yield from _passages(view)
    known = [f"{name} {scored(name, score.value)}" for name, score in view.scores.items() if score.value is not None]
    others = [f"{name}: {s.status} ({s.reason})" for name, s in view.scores.items() if s.status != "scored"]
    yield Text("\nScores", style="bold cyan")
    yield Text(" · ".join(known))
    yield Text("\n".join(safe(line) for line in others), style="dim")


def _answer(view: ExampleView) -> Iterator[Text]:
    from rich.text import Text

    yield Text("\nAnswer", style="bold cyan")
    shown = Text()
    for piece in pieces(view):
        shown.append(safe(piece.text), style=STYLES.get(piece.label, ""))
    yield shown if shown else Text("not recorded" if view.response.answer is None else "empty", style="dim")
    facts = answer_facts(view)
    for claim in facts.claims if facts else ():
        found = label(claim)
        line = Text(f"  {MARKS[found]} {claim.n}. {safe(says(claim))}", style=STYLES[found])
        if claim.supporting:
            line.append(f"; by passage {', '.join(map(str, claim.supporting))}")
        if claim.contradicting:
            line.append(f"; against passage {', '.join(map(str, claim.contradicting))}")
        if claim.p is not None:
            line.append(f" (p {claim.p:.2f})", style="dim")
        line.append(f"  {safe(claim.text or '')}", style="default")
        yield line
    for one in cited(view):
        place = f"passage {', '.join(map(str, one.ranks))}" if one.ranks else "nothing that was retrieved"
        holds = "" if not one.ranks else ", which supports it" if one.supporting else ", which does not support it"
        yield Text(f"  cites {safe(one.target)}: {place}{holds}", style="default" if one.supporting else "yellow")
    for beside in off_question(view):
        chance = "" if beside.p is None else f" (p {beside.p:.2f})"
        yield Text(f"  off the question{chance}: {safe(beside.text)}", style="yellow")
    for part in checked(view):
        met = {True: "met", False: "not met", None: "no verdict"}[part.met]
        yield Text(f"  {part.kind} {met}: {safe(part.text)}", style="default" if part.met else "yellow")
    yield from _untold(view, "answer")


def _untold(view: ExampleView, part: str) -> Iterator[Text]:
    from rich.text import Text

    for line in untold(view, part):
        yield Text(f"  {safe(line)}", style="dim")


def _reference(view: ExampleView) -> Iterator[Text]:
    from rich.text import Text

    if not view.example.references:
        return
    yield Text("\nReference", style="bold cyan")
    yield Text(safe(view.example.references[0]))
    for claim in wanted(view):
        found = f"in passage {', '.join(map(str, claim.passages))}" if claim.covered else "missed by retrieval"
        told = {True: ", stated", False: ", not stated", None: ""}[claim.stated]
        style = "green" if claim.covered else "yellow"
        head = Text(f"  {'no verdict' if claim.covered is None else found}{told}", style=style)
        yield head + Text(f"  {safe(claim.text)}", style="default")
    if gone := missed(view):
        yield Text(f"  labelled but not handed on: {safe(', '.join(gone))}", style="red")
    yield from _untold(view, "reference")


def _passages(view: ExampleView) -> Iterator[Text]:
    from rich.text import Text

    yield Text("\nPassages", style="bold cyan")
    if view.response.passages is None:
        yield Text("not recorded", style="dim")
    elif not view.response.passages:
        yield Text("nothing was retrieved", style="red")
    yield from _untold(view, "passages")
    for shelf in shelves(view):
        told = (("gold", shelf.gold), ("used", shelf.used), ("relevant", shelf.relevant),
                ("off the question", shelf.relevant is False), ("stale", shelf.stale))     # fmt: skip
        marks = [mark for mark, there in told if there]
        head = Text(f"{shelf.rank}. {safe(shelf.passage.passage_id)}", style="bold")
        yield head + Text(f"  {' '.join(marks)}", style="green")
        text = safe(shelf.text)
        yield Text(text if len(text) <= MOST_PASSAGE else text[:MOST_PASSAGE] + " …", style="default")
