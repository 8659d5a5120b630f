"""One example as sections: every claim and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragauge.diagnosis.causes.missing_facts import describe_missing
from ragauge.diagnosis.examples.passage_views import shelves
from ragauge.diagnosis.examples.tables import (
    MARKS,
    STATED_WORDS,
    answer_facts,
    checked,
    cited,
    found_in_answer,
    found_of_reference,
    labels,
    missed,
    off_question,
    pieces,
    says,
    scored,
    untold,
    wanted,
)
from ragauge.rendering.sections import Phrase, ReportSection, Tone, Wording
from ragauge.rendering.verdict_texts import VERDICTS, labels_decide, settled_by, verdict_pair
from ragauge.rendering.words import UNNAMED, safe
from ragauge.scores.results.scorecard import ExampleView

TONES: Mapping[str, Tone] = {
    "supported": "good",
    "contradicted": "bad",
    "not_in_context": "unsure",
    "unclear": "unsure",
    "failed": "faint",
}
MOST_TEXT = 500


def sections(view: ExampleView) -> Iterator[ReportSection]:
    """Question, cause, answer claim by claim, reference claims, passages, scores."""
    heading = Phrase(f"{safe(view.example.query_id)}  ", "faint"), Phrase(safe(view.example.query), "strong")
    yield ReportSection(heading, lead=tuple(_outcome(view)))
    if view.example.history:
        turns = tuple((Phrase(f"{turn.role}: ", "faint"), _cut(turn.text)) for turn in view.example.history)
        yield ReportSection(Phrase("Earlier turns", "title"), lead=turns)
    yield ReportSection(Phrase("Answer", "title"), lead=(*_answer(view), *_untold(view, "answer")))
    if view.example.references:
        lead = *_reference(view), *_untold(view, "reference")
        yield ReportSection(Phrase("Reference", "title"), lead=lead)
    yield ReportSection(Phrase("Passages", "title"), lead=tuple(_passages(view)))
    known = [f"{name} {scored(name, score.value)}" for name, score in view.scores.items() if score.value is not None]
    others = [
        f"{name}: {s.reason}" if s.status == "scored" else f"{name}: {s.status} ({s.reason})"
        for name, s in view.scores.items()
        if s.status != "scored" or s.reason
    ]
    yield ReportSection(Phrase("Scores", "title"), lead=(" · ".join(known),), notes=tuple(map(safe, others)))


def _outcome(view: ExampleView) -> Iterator[Wording]:
    cause = view.cause
    if cause is not None:
        by = f" · {safe(cause.decided_by)}" if cause.decided_by else ""
        yield Phrase(f"failed: {cause.name or UNNAMED}", "bad"), Phrase(by)
        if cause.fix:
            yield f"fix: {cause.fix}"
        if cause.second:
            why = f", {safe(cause.second_by)}" if cause.second_by else ""
            yield Phrase(f"second opinion: {cause.second}{why}", "faint")
        if cause.lacking:
            yield Phrase(safe(describe_missing(cause.lacking)), "faint")
    else:
        reason = f": {safe(view.reason)}" if view.reason else ""
        yield Phrase(f"{VERDICTS[view.verdict]}{reason}", "good" if view.verdict == "passed" else "unsure")
    for words in (settled_by(view.verdicts.settled_by), verdict_pair(view.verdicts)):
        if words:
            yield Phrase(words, "faint")
    if view.response.error is not None:
        yield Phrase(f"the system failed: {safe(view.response.error)}", "bad")


def _answer(view: ExampleView) -> Iterator[Wording]:
    shown = tuple(Phrase(safe(piece.text), TONES.get(piece.label, "")) for piece in pieces(view))
    yield shown or Phrase("not recorded" if view.response.answer is None else "empty", "faint")
    facts = answer_facts(view)
    if words := labels_decide(view):
        yield f"  {words}"
    verdicts = labels(view)
    for claim in facts.claims if facts else ():
        verdict = verdicts[claim.n]
        words = f"  {MARKS[verdict]} {claim.n}. {safe(says(claim, verdict))}"
        if claim.supporting:
            words += f"; by passage {_ranks(claim.supporting)}"
        if claim.contradicting:
            words += f"; against passage {_ranks(claim.contradicting)}"
        chance = f" (p {claim.p:.2f})" if claim.p is not None else ""
        yield Phrase(words, TONES[verdict]), Phrase(chance, "faint"), f"  {safe(claim.text or '')}"
    if found := found_in_answer(view):
        yield f"  {found}"
    for citation in cited(view):
        target = f"passage {_ranks(citation.ranks)}" if citation.ranks else "nothing that was retrieved"
        holds = (
            ""
            if not citation.ranks
            else ", which supports it"
            if citation.supporting
            else ", which does not support it"
        )
        yield Phrase(f"  cites {safe(citation.target)}: {target}{holds}", "" if citation.supporting else "unsure")
    for beside in off_question(view):
        chance = "" if beside.p is None else f" (p {beside.p:.2f})"
        yield Phrase(f"  off the question{chance}: {safe(beside.text)}", "unsure")
    for part in checked(view):
        yield Phrase(f"  {part.kind} {part.says}: {safe(part.text)}", "" if part.met else "unsure")
        if part.reason:
            yield Phrase(f"    {safe(part.reason)}", "faint")


def _ranks(ranks: tuple[int, ...]) -> str:
    return ", ".join(map(str, ranks))


def _untold(view: ExampleView, part: str) -> Iterator[Wording]:
    yield from (Phrase(f"  {safe(sentence)}", "faint") for sentence in untold(view, part))


def _reference(view: ExampleView) -> Iterator[Wording]:
    yield safe(view.example.references[0])
    for claim in wanted(view):
        where = f"{claim.where} {_ranks(claim.passages)}" if claim.found == "yes" and claim.passages else claim.where
        chance = "" if claim.p is None else f" (p {claim.p:.2f})"
        stated = f"; {STATED_WORDS[claim.stated]}" if claim.stated else ""
        yield (
            Phrase(f"  {where}", "good" if claim.found == "yes" else "unsure"),
            Phrase(chance, "faint"),
            Phrase(stated, "good" if claim.stated == "yes" else "unsure"),
            f"  {safe(claim.text)}",
        )
    if found := found_of_reference(view):
        yield f"  {found}"
    if gone := missed(view):
        yield Phrase(f"  labelled but not handed on: {safe(', '.join(gone))}", "bad")


def _passages(view: ExampleView) -> Iterator[Wording]:
    if view.response.passages is None:
        yield Phrase("not recorded", "faint")
    elif not view.response.passages:
        yield Phrase("nothing was retrieved", "bad")
    yield from _untold(view, "passages")
    for shelf in shelves(view):
        told = (
            ("gold", shelf.gold),
            ("used", shelf.used),
            ("relevant", shelf.relevant),
            ("off the question", shelf.relevant is False),
            ("stale", shelf.stale),
        )
        marks = " ".join(mark for mark, there in told if there)
        yield Phrase(f"{shelf.rank}. {safe(shelf.passage.passage_id)}", "strong"), Phrase(f"  {marks}", "good")
        yield _cut(shelf.text)


def _cut(text: str) -> str:
    text = safe(text)
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]} …"
