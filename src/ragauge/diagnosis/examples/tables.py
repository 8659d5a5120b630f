"""One example laid out for reading: which words of the answer rest on what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ragauge.core.facts import AnswerFacts, Claim, CoverFacts, CriteriaFacts, RelevanceFacts
from ragauge.core.json_keys import json_property
from ragauge.core.messages import format_metric_value
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.decided_facts import Decision
from ragauge.diagnosis.explain.causes import count_found, count_stated, count_supported
from ragauge.metrics.base import Failed, NotAsked
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts, resolve_fact
from ragauge.metrics.specifics import find_named_passages, list_targets
from ragauge.rendering.words import LABELS
from ragauge.scores.results.scorecard import ExampleView
from ragauge.text.sentences import split_sentences

MARKS = {"supported": "✓", "contradicted": "✗", "not_in_context": "○", "unclear": "~", "failed": "?"}
ORDER = ("supported", "failed", "unclear", "not_in_context", "contradicted")  # a sentence shows its worst claim

FOUND_WORDS: Mapping[Decision | None, str] = {
    "yes": "in the passages",
    "no": "missed by retrieval",
    "open": "unclear whether the passages contain it",
    None: "no verdict",
}
STATED_WORDS: Mapping[Decision | None, str] = {
    "yes": "stated in the answer",
    "no": "not stated in the answer",
    "open": "unclear whether the answer states it",
    None: "",
}
UNVERIFIED = "not asked, because the passages were not recorded"
FACT_MEANINGS: Mapping[str, tuple[tuple[str, str], ...]] = {  # part -> (fact, what it tells)
    "answer": (
        ("verify_answer.support", "whether the passages support it"),
        ("verify_answer.address", "whether it addresses the question"),
        ("cover_aspects.met", "which aspects it meets"),
        ("cover_criteria.met", "which criteria it meets"),
    ),
    "reference": (
        ("verify_reference.claims", "whether the passages contain it"),
        ("agree.reference", "whether the answer states it"),
    ),
    "passages": (("rate_passages.relevant", "which are relevant to the question"),),
}


@dataclass(frozen=True, slots=True)
class AnswerPiece:
    """A stretch of the answer with the label of the claims that it makes; "" between claims."""

    text: str  #: as answered.
    label: str = ""  #: the worst of its claims.
    claims: tuple[Claim, ...] = ()  #: those made here.
    #: the text cut into (words, whether they are what the passages lack or say otherwise).
    parts: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class ReferenceClaimView:
    """One reference claim: whether the passages hold it and whether the answer states it."""

    text: str  #: of the claim.
    in_passages: Decision | None  #: whether the passages hold it; None = not judged.
    passages: tuple[int, ...]  #: those that support it; () where a probability alone says that some does.
    stated: Decision | None = None  #: whether the answer states it; None = not judged.
    p: float | None = None  #: the judge's probability that the passages hold it.

    @property
    def where(self) -> str:
        """Whether the passages hold it, in words, but for the numbers of those named."""
        if self.in_passages == "yes":
            return "in passage" if self.passages else "found, but no passage named"
        return FOUND_WORDS[self.in_passages]


@dataclass(frozen=True, slots=True)
class CheckedAspect:
    """One aspect or criterion and whether the answer meets it; None = not judged."""

    kind: str  #: aspect, criterion, or what a criterion of the whole run is called.
    text: str  #: of it.
    met: bool | None  #: the verdict.
    reason: str = ""  #: the judge's sentence.
    level: str = ""  #: such as "level 2 of 3"; "" of one without levels.

    @property
    def says(self) -> str:
        """The verdict in words."""
        words = {True: "met", False: "not met", None: "no verdict"}[self.met]
        return f"{words}, {self.level}" if self.level else words


@dataclass(frozen=True, slots=True)
class CitationView:
    """One citation: the words credited, the target named, its ranks, and those of them that support a claim there."""

    text: str
    target: str
    ranks: tuple[int, ...]
    supporting: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OffTopicSentence:
    """A sentence of the answer, by its number, that does not bear on the question; p that it does, where known."""

    n: int
    text: str
    p: float | None


def build_cause_context(view: ExampleView) -> CauseContext:
    """What the judge found about the example, as the causes are found from it."""
    return CauseContext(_build_facts(view))


def _build_facts(view: ExampleView) -> Facts:
    return Facts(view.example, view.response, view.evidence, readability=view.readability)


def get_answer_facts(view: ExampleView) -> AnswerFacts | None:
    """What the judge found about the answer; a claim whose support was not asked has no verdict on it."""
    evidence = view.evidence.get("verify_answer")
    if evidence is None or not isinstance(evidence.facts, AnswerFacts):
        return None
    if evidence.facts.support_asked or view.response.passages == ():
        return evidence.facts
    return replace(
        evidence.facts,
        claims=tuple(replace(claim, status="failed", reason=UNVERIFIED) for claim in evidence.facts.claims),
    )


def format_score(name: str, value: float) -> str:
    """A score of one example as people read it, with the unit of its metric.

    >>> (format_score("latency", 840.2), format_score("cost", 0.00042), format_score("tokens", 551.0),
    ...     format_score("recall@5", 0.5))
    ('840 ms', '$0.00042', '551', '0.50')
    """
    return format_metric_value(value, name, "amount" if parse_metric(name).scale == "amount" else "mean")


def label_claims(view: ExampleView) -> dict[int, str]:
    """Number of a claim of the answer -> its label: unclear where a probability decides nothing, failed without any."""
    facts, context = get_answer_facts(view), build_cause_context(view)
    return {claim.n: _label_claim(claim, context.is_supported(claim)) for claim in (facts.claims if facts else ())}


def _label_claim(claim: Claim, decision: Decision | None) -> str:
    return {"yes": "supported", "no": claim.label or "", "open": "unclear", None: "failed"}[decision]


def list_unknown(view: ExampleView, subject: str) -> tuple[str, ...]:
    """What is not known of the "answer", "reference" or "passages", in words: not asked, or without a verdict and why.

    What nothing was recorded or labelled for is left out: no question could be put about it.
    """
    if view.response.error is not None:
        return ()
    facts, notes = _build_facts(view), []
    for fact, what in FACT_MEANINGS[subject]:
        value = resolve_fact(fact, facts)
        if isinstance(value, NotAsked):
            notes.append(f"{what}: not asked")
        elif isinstance(value, Failed):
            notes.append(f"{what}: no verdict ({value.reason})")
    context = build_cause_context(view)
    if subject == "reference" and context.reference is None and (stated := count_stated(context)):
        notes.append(stated)
    return tuple(notes)


@json_property(ExampleView, "untold")
def list_untold(view: ExampleView) -> dict[str, list[str]]:
    """Part of the example: what is not known of it."""
    return {subject: list(sentences) for subject in FACT_MEANINGS if (sentences := list_unknown(view, subject))}


def split_answer(view: ExampleView) -> tuple[AnswerPiece, ...]:
    """The answer cut where its claims begin and end; claims of one sentence share a piece."""
    answer, facts = view.response.answer, get_answer_facts(view)
    if answer is None:
        return ()
    has_support_verdicts = facts is not None and (facts.support_asked or view.response.passages == ())
    return tuple(
        _split_by_claims(answer, facts.claims if facts is not None and has_support_verdicts else (), label_claims(view))
    )


def _split_by_claims(answer: str, claims: Sequence[Claim], labels: Mapping[int, str]) -> Iterator[AnswerPiece]:
    position = 0
    for start, end, sentence_claims in _group_by_sentence(answer, claims):
        if start > position:
            yield AnswerPiece(answer[position:start], parts=((answer[position:start], False),))
        text = answer[start:end]
        missing = [
            words
            for claim in sentence_claims
            if claim.window is not None and labels[claim.n] != "supported"
            for words in claim.window.missing
        ]
        worst = max((labels[claim.n] for claim in sentence_claims), key=ORDER.index)
        yield AnswerPiece(text, worst, tuple(sentence_claims), tuple(_split_missing_words(text, missing)))
        position = end
    if position < len(answer):
        yield AnswerPiece(answer[position:], parts=((answer[position:], False),))


def _group_by_sentence(answer: str, claims: Sequence[Claim]) -> list[tuple[int, int, list[Claim]]]:
    """Stretches of the answer that do not overlap, each with the claims that begin in it."""
    sentences: list[tuple[int, int, list[Claim]]] = []
    for claim in sorted(claims, key=lambda claim: claim.start):
        start, end = max(0, claim.start), min(len(answer), claim.end)
        if end <= start:
            continue
        if sentences and start < sentences[-1][1]:
            first, last, sentence_claims = sentences.pop()
            sentences.append((first, max(last, end), [*sentence_claims, claim]))
        else:
            sentences.append((start, end, [claim]))
    return sentences


def _split_missing_words(text: str, missing: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The text cut where it holds words that the passages lack."""
    words = "|".join(
        re.escape(fragment) for fragment in sorted(set(missing), key=len, reverse=True) if fragment.strip()
    )
    if not words:
        yield text, False
        return
    for index, fragment in enumerate(re.split(rf"(?<!\w)({words})(?!\w)", text)):
        if fragment:
            yield fragment, index % 2 == 1


def describe_claim_verdict(claim: Claim, label: str) -> str:
    """A claim's verdict in words, by its label: not in the passages; not found: 90 kg."""
    if claim.reason == UNVERIFIED:
        return UNVERIFIED
    if label == "failed":
        return f"no verdict ({claim.reason})" if claim.reason else "no verdict"
    words = LABELS[label]
    if label == "supported" and not claim.supporting:
        words += ", but no passage named"
    if claim.joint:
        words += " together"
    if claim.strength == "implied":
        words += ", by implication"
    missing = [
        missing_word
        for missing_word in (claim.window.missing if claim.window else ())
        if missing_word not in claim.reason
    ]
    if missing:
        lead = "differs" if claim.contradicting else "not found"
        words += f"; {lead}: {', '.join(missing)}"
    return words + (f"; {claim.reason}" if claim.reason else "")


def describe_supported_claims(view: ExampleView) -> str:
    """How many claims of the answer the passages hold, and the share that the judge expects; "" where none is known."""
    facts = get_answer_facts(view)
    return count_supported(facts.claims, build_cause_context(view)) if facts is not None else ""


def describe_found_claims(view: ExampleView) -> str:
    """How many reference claims the passages hold, and the share that the judge expects; "" where none is known."""
    return count_found(build_cause_context(view))


def build_reference_claims(view: ExampleView) -> tuple[ReferenceClaimView, ...]:
    """The reference claims, whether the passages hold them, and whether the answer states them."""
    context = build_cause_context(view)
    return tuple(
        ReferenceClaimView(
            claim.text,
            context.is_found(claim),
            claim.supporting or (),
            context.is_stated(claim.n),
            None if claim.supporting is None else claim.p,
        )
        for claim in context.reference or ()
    )


def build_checked_aspects(view: ExampleView) -> tuple[CheckedAspect, ...]:
    """The aspects and criteria of the example and the criteria of the run, with what was found about them."""
    checked_aspects: list[CheckedAspect] = []
    for kind, texts in (("aspect", view.example.aspects), ("criterion", view.example.criteria)):
        facts = view.evidence.get("cover_aspects" if kind == "aspect" else "cover_criteria")
        if facts is not None and isinstance(facts.facts, CoverFacts):
            checked_aspects += [
                CheckedAspect(kind, text, is_met) for text, is_met in zip(texts or (), facts.facts.met, strict=False)
            ]
    facts = view.evidence.get("meet_criteria")
    for verdict in facts.facts.verdicts if facts is not None and isinstance(facts.facts, CriteriaFacts) else ():
        kind = f"{'required ' if verdict.required else ''}criterion {verdict.name}"
        level = f"level {verdict.level} of {verdict.n_levels}" if verdict.level is not None else ""
        checked_aspects.append(CheckedAspect(kind, verdict.text, verdict.met, verdict.reason, level))
    return tuple(checked_aspects)


def build_citations(view: ExampleView) -> tuple[CitationView, ...]:
    """The citations of the answer: what they name, and whether that supports what they stand at."""
    answer, facts = view.response.answer or "", get_answer_facts(view)
    passages, citation_views = view.response.passages or (), []
    for citation in view.response.citations or ():
        ranks = tuple(sorted(find_named_passages(citation.target, passages)))
        here = [claim for claim in (facts.claims if facts else ()) if list_targets(claim, (citation,))]
        supporting_ranks = tuple(rank for rank in ranks if any(rank in claim.supporting for claim in here))
        citation_views.append(
            CitationView(answer[citation.start : citation.end], citation.target, ranks, supporting_ranks)
        )
    return tuple(citation_views)


def list_off_topic(view: ExampleView) -> tuple[OffTopicSentence, ...]:
    """The sentences of the answer that do not bear on the question; () where nobody was asked."""
    evidence = view.evidence.get("rate_answer")
    if evidence is None or not isinstance(evidence.facts, RelevanceFacts):
        return ()
    texts = {sentence.n: sentence.text for sentence in split_sentences(view.response.answer or "")}
    return tuple(
        OffTopicSentence(rating.sentence, texts[rating.sentence], rating.p)
        for rating in evidence.facts.ratings
        if rating.relevant is False and rating.sentence in texts
    )


def describe_missed_documents(view: ExampleView) -> tuple[str, ...]:
    """Labelled documents that were not handed on, with their rank among the candidates where that is recorded."""
    context = build_cause_context(view)
    missing = []
    for item in context.missed or ():
        rank = context.rank(item)
        where = f" (rank {rank} of the candidates)" if rank else " (not among the candidates)" if context.ranks else ""
        missing.append(" or ".join(item.doc_ids) + where)
    return tuple(missing)
