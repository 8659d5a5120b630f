"""One example as sections: every claim and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragauge.diagnosis.causes.attribution import describe_missing
from ragauge.diagnosis.examples.passage_views import build_passage_views
from ragauge.diagnosis.examples.tables import (
    MARKS,
    STATED_WORDS,
    build_checked_aspects,
    build_citations,
    build_reference_claims,
    describe_claim_verdict,
    describe_found_claims,
    describe_missed_documents,
    describe_supported_claims,
    format_score,
    get_answer_facts,
    label_claims,
    list_off_topic,
    list_unknown,
    split_answer,
)
from ragauge.rendering.sections import Phrase, ReportSection, Tone, Wording
from ragauge.rendering.verdict_texts import VERDICTS, labels_decide, settled_by, verdict_pair
from ragauge.rendering.words import UNNAMED, make_safe
from ragauge.scores.results.scorecard import ExampleView

TONES: Mapping[str, Tone] = {
    "supported": "good",
    "contradicted": "bad",
    "not_in_context": "unsure",
    "unclear": "unsure",
    "failed": "faint",
}
MAX_TEXT_CHARS = 500


def build_sections(view: ExampleView) -> Iterator[ReportSection]:
    """Question, cause, answer claim by claim, reference claims, passages, scores."""
    heading = Phrase(f"{make_safe(view.example.query_id)}  ", "faint"), Phrase(make_safe(view.example.query), "strong")
    yield ReportSection(heading, lead=tuple(_describe_outcome(view)))
    if view.example.history:
        turns = tuple((Phrase(f"{turn.role}: ", "faint"), _cut_text(turn.text)) for turn in view.example.history)
        yield ReportSection(Phrase("Conversation so far", "title"), lead=turns)
    yield ReportSection(Phrase("Answer", "title"), lead=(*_describe_answer(view), *_describe_unknown(view, "answer")))
    if view.example.references:
        lead = *_describe_reference(view), *_describe_unknown(view, "reference")
        yield ReportSection(Phrase("Reference", "title"), lead=lead)
    yield ReportSection(Phrase("Passages", "title"), lead=tuple(_describe_passages(view)))
    scored_texts = [
        f"{name} {format_score(name, score.value)}" for name, score in view.scores.items() if score.value is not None
    ]
    others = [
        f"{name}: {s.reason}" if s.status == "scored" else f"{name}: {s.status} ({s.reason})"
        for name, s in view.scores.items()
        if s.status != "scored" or s.reason
    ]
    yield ReportSection(
        Phrase("Scores", "title"), lead=(" · ".join(scored_texts),), notes=tuple(map(make_safe, others))
    )


def _describe_outcome(view: ExampleView) -> Iterator[Wording]:
    cause = view.cause
    if cause is not None:
        by = f" · {make_safe(cause.decided_by)}" if cause.decided_by else ""
        yield Phrase(f"failed: {cause.name or UNNAMED}", "bad"), Phrase(by)
        if cause.fix:
            yield f"fix: {cause.fix}"
        if cause.second:
            second_reason = f", {make_safe(cause.second_by)}" if cause.second_by else ""
            yield Phrase(f"second opinion: {cause.second}{second_reason}", "faint")
        if cause.lacking:
            yield Phrase(make_safe(describe_missing(cause.lacking)), "faint")
    else:
        reason = f": {make_safe(view.reason)}" if view.reason else ""
        yield Phrase(f"{VERDICTS[view.verdict]}{reason}", "good" if view.verdict == "passed" else "unsure")
    for words in (settled_by(view.verdicts.settled_by), verdict_pair(view.verdicts)):
        if words:
            yield Phrase(words, "faint")
    if view.response.error is not None:
        yield Phrase(f"the system failed: {make_safe(view.response.error)}", "bad")


def _describe_answer(view: ExampleView) -> Iterator[Wording]:
    answer_phrases = tuple(
        Phrase(make_safe(answer_piece.text), TONES.get(answer_piece.label, "")) for answer_piece in split_answer(view)
    )
    yield answer_phrases or Phrase("not recorded" if view.response.answer is None else "empty", "faint")
    facts = get_answer_facts(view)
    if words := labels_decide(view):
        yield f"  {words}"
    verdicts = label_claims(view)
    for claim in facts.claims if facts else ():
        verdict = verdicts[claim.n]
        words = f"  {MARKS[verdict]} {claim.n}. {make_safe(describe_claim_verdict(claim, verdict))}"
        if claim.supporting:
            words += f"; supported by passage {_format_ranks(claim.supporting)}"
        if claim.contradicting:
            words += f"; contradicted by passage {_format_ranks(claim.contradicting)}"
        chance = f" (p {claim.p:.2f})" if claim.p is not None else ""
        yield Phrase(words, TONES[verdict]), Phrase(chance, "faint"), f"  {make_safe(claim.text or '')}"
    if supported_text := describe_supported_claims(view):
        yield f"  {supported_text}"
    for citation in build_citations(view):
        target = f"passage {_format_ranks(citation.ranks)}" if citation.ranks else "not among the retrieved passages"
        holds = (
            ""
            if not citation.ranks
            else ", which supports it"
            if citation.supporting
            else ", which does not support it"
        )
        yield Phrase(f"  cites {make_safe(citation.target)}: {target}{holds}", "" if citation.supporting else "unsure")
    for off_topic in list_off_topic(view):
        chance = "" if off_topic.p is None else f" (p {off_topic.p:.2f})"
        yield Phrase(f"  off-topic{chance}: {make_safe(off_topic.text)}", "unsure")
    for aspect in build_checked_aspects(view):
        yield Phrase(f"  {aspect.kind} {aspect.says}: {make_safe(aspect.text)}", "" if aspect.met else "unsure")
        if aspect.reason:
            yield Phrase(f"    {make_safe(aspect.reason)}", "faint")


def _format_ranks(ranks: tuple[int, ...]) -> str:
    return ", ".join(map(str, ranks))


def _describe_unknown(view: ExampleView, subject: str) -> Iterator[Wording]:
    yield from (Phrase(f"  {make_safe(sentence)}", "faint") for sentence in list_unknown(view, subject))


def _describe_reference(view: ExampleView) -> Iterator[Wording]:
    yield make_safe(view.example.references[0])
    for claim in build_reference_claims(view):
        where = (
            f"{claim.where} {_format_ranks(claim.passages)}"
            if claim.in_passages == "yes" and claim.passages
            else claim.where
        )
        chance = "" if claim.p is None else f" (p {claim.p:.2f})"
        stated = f"; {STATED_WORDS[claim.stated]}" if claim.stated else ""
        yield (
            Phrase(f"  {where}", "good" if claim.in_passages == "yes" else "unsure"),
            Phrase(chance, "faint"),
            Phrase(stated, "good" if claim.stated == "yes" else "unsure"),
            f"  {make_safe(claim.text)}",
        )
    if found_text := describe_found_claims(view):
        yield f"  {found_text}"
    if gone := describe_missed_documents(view):
        yield Phrase(f"  gold but not retrieved: {make_safe(', '.join(gone))}", "bad")


def _describe_passages(view: ExampleView) -> Iterator[Wording]:
    if view.response.passages is None:
        yield Phrase("not recorded", "faint")
    elif not view.response.passages:
        yield Phrase("nothing was retrieved", "bad")
    yield from _describe_unknown(view, "passages")
    for shelf in build_passage_views(view):
        mark_flags = (
            ("gold", shelf.gold),
            ("used", shelf.used),
            ("relevant", shelf.relevant),
            ("off-topic", shelf.relevant is False),
            ("stale", shelf.stale),
        )
        marks = " ".join(mark for mark, is_set in mark_flags if is_set)
        yield Phrase(f"{shelf.rank}. {make_safe(shelf.passage.passage_id)}", "strong"), Phrase(f"  {marks}", "good")
        yield _cut_text(shelf.text)


def _cut_text(text: str) -> str:
    text = make_safe(text)
    return text if len(text) <= MAX_TEXT_CHARS else f"{text[:MAX_TEXT_CHARS]} …"
