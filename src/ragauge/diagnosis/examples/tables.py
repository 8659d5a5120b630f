"""One example laid out for reading: which words of the answer rest on what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ragauge.core.facts import AnswerFacts, Claim, CoverFacts, CriteriaFacts, RelevanceFacts
from ragauge.core.messages import valued
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.decided_facts import Decision
from ragauge.diagnosis.explain.case import count_found, count_stated, count_supported
from ragauge.metrics.base import Failed, NotAsked
from ragauge.metrics.catalogue import parse
from ragauge.metrics.facts import Facts, resolve
from ragauge.metrics.specifics import named, targets
from ragauge.rendering.words import LABELS
from ragauge.scores.results.scorecard import ExampleView
from ragauge.text.sentences import split

MARKS = {"supported": "✓", "contradicted": "✗", "not_in_context": "○", "unclear": "~", "failed": "?"}
ORDER = ("supported", "failed", "unclear", "not_in_context", "contradicted")  # a sentence shows its worst claim

FOUND_WORDS: Mapping[Decision | None, str] = {
    "yes": "in the passages",
    "no": "missed by retrieval",
    "open": "unclear whether the passages hold it",
    None: "no verdict",
}
STATED_WORDS: Mapping[Decision | None, str] = {
    "yes": "stated in the answer",
    "no": "not stated in the answer",
    "open": "unclear whether the answer states it",
    None: "",
}
UNVERIFIED = "not asked, since the passages are not recorded"
TELLS: Mapping[str, tuple[tuple[str, str], ...]] = {  # part -> (fact, what it tells)
    "answer": (
        ("verify_answer.support", "whether the passages support it"),
        ("verify_answer.address", "whether it addresses the question"),
        ("cover_aspects.met", "which aspects it meets"),
        ("cover_criteria.met", "which criteria it meets"),
    ),
    "reference": (
        ("verify_reference.claims", "whether the passages hold it"),
        ("agree.reference", "whether the answer states it"),
    ),
    "passages": (("rate_passages.relevant", "which are relevant to the question"),),
}


@dataclass(frozen=True, slots=True)
class AnswerPiece:
    """A stretch of the answer with the label of the claims that it makes; "" between claims.

    Attributes:
        text: as answered.
        label: the worst of its claims.
        claims: those made here.
        parts: the text cut into (words, whether they are what the passages lack or say otherwise).
    """

    text: str
    label: str = ""
    claims: tuple[Claim, ...] = ()
    parts: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class ReferenceClaimView:
    """One reference claim: whether the passages hold it and whether the answer states it.

    Attributes:
        text: of the claim.
        found: whether the passages hold it; None = not judged.
        passages: those that support it; () where a probability alone says that some does.
        stated: whether the answer states it; None = not judged.
        p: the judge's probability that the passages hold it.
    """

    text: str
    found: Decision | None
    passages: tuple[int, ...]
    stated: Decision | None = None
    p: float | None = None

    @property
    def where(self) -> str:
        """Whether the passages hold it, in words, but for the numbers of those named."""
        if self.found == "yes":
            return "in passage" if self.passages else "found, no passage named"
        return FOUND_WORDS[self.found]


@dataclass(frozen=True, slots=True)
class CheckedAspect:
    """One aspect or criterion and whether the answer meets it; None = not judged.

    Attributes:
        kind: aspect, criterion, or what a criterion of the whole run is called.
        text: of it.
        met: the verdict.
        reason: the judge's sentence.
        level: such as "level 2 of 3"; "" of one without levels.
    """

    kind: str
    text: str
    met: bool | None
    reason: str = ""
    level: str = ""

    @property
    def says(self) -> str:
        """The verdict in words."""
        words = {True: "met", False: "not met", None: "no verdict"}[self.met]
        return f"{words}, {self.level}" if self.level else words


@dataclass(frozen=True, slots=True)
class Cited:
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


def seen(view: ExampleView) -> CauseContext:
    """What the judge found about the example, as the causes are found from it."""
    return CauseContext(_facts(view))


def _facts(view: ExampleView) -> Facts:
    return Facts(view.example, view.response, view.evidence, readability=view.readability)


def answer_facts(view: ExampleView) -> AnswerFacts | None:
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


def scored(name: str, value: float) -> str:
    """A score of one example as people read it, with the unit of its metric.

    >>> scored("latency", 840.2), scored("cost", 0.00042), scored("tokens", 551.0), scored("recall@5", 0.5)
    ('840 ms', '$0.00042', '551', '0.50')
    """
    return valued(value, name, "amount" if parse(name).scale == "amount" else "mean")


def labels(view: ExampleView) -> dict[int, str]:
    """Number of a claim of the answer -> its label: unclear where a probability decides nothing, failed without any."""
    facts, known = answer_facts(view), seen(view)
    return {claim.n: _label(claim, known.is_supported(claim)) for claim in (facts.claims if facts else ())}


def _label(claim: Claim, decision: Decision | None) -> str:
    return {"yes": "supported", "no": claim.label or "", "open": "unclear", None: "failed"}[decision]


def untold(view: ExampleView, part: str) -> tuple[str, ...]:
    """What is not known of the "answer", "reference" or "passages", in words: not asked, or without a verdict and why.

    What nothing was recorded or labelled for is left out: no question could be put about it.
    """
    if view.response.error is not None:
        return ()
    facts, parts = _facts(view), []
    for fact, what in TELLS[part]:
        value = resolve(fact, facts)
        if isinstance(value, NotAsked):
            parts.append(f"{what}: not asked")
        elif isinstance(value, Failed):
            parts.append(f"{what}: no verdict ({value.reason})")
    known = seen(view)
    if part == "reference" and known.reference is None and (stated := count_stated(known)):
        parts.append(stated)
    return tuple(parts)


def pieces(view: ExampleView) -> tuple[AnswerPiece, ...]:
    """The answer cut where its claims begin and end; claims of one sentence share a piece."""
    answer, facts = view.response.answer, answer_facts(view)
    if answer is None:
        return ()
    judged = facts is not None and (facts.support_asked or view.response.passages == ())
    return tuple(_pieces(answer, facts.claims if facts is not None and judged else (), labels(view)))


def _pieces(answer: str, claims: Sequence[Claim], labels: Mapping[int, str]) -> Iterator[AnswerPiece]:
    at = 0
    for start, end, mine in _sentences(answer, claims):
        if start > at:
            yield AnswerPiece(answer[at:start], parts=((answer[at:start], False),))
        text = answer[start:end]
        missing = [
            words
            for claim in mine
            if claim.window is not None and labels[claim.n] != "supported"
            for words in claim.window.missing
        ]
        worst = max((labels[claim.n] for claim in mine), key=ORDER.index)
        yield AnswerPiece(text, worst, tuple(mine), tuple(_parts(text, missing)))
        at = end
    if at < len(answer):
        yield AnswerPiece(answer[at:], parts=((answer[at:], False),))


def _sentences(answer: str, claims: Sequence[Claim]) -> list[tuple[int, int, list[Claim]]]:
    """Stretches of the answer that do not overlap, each with the claims that begin in it."""
    sentences: list[tuple[int, int, list[Claim]]] = []
    for claim in sorted(claims, key=lambda claim: claim.start):
        start, end = max(0, claim.start), min(len(answer), claim.end)
        if end <= start:
            continue
        if sentences and start < sentences[-1][1]:
            first, last, mine = sentences.pop()
            sentences.append((first, max(last, end), [*mine, claim]))
        else:
            sentences.append((start, end, [claim]))
    return sentences


def _parts(text: str, missing: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The text cut where it holds words that the passages lack."""
    words = "|".join(re.escape(part) for part in sorted(set(missing), key=len, reverse=True) if part.strip())
    if not words:
        yield text, False
        return
    for index, part in enumerate(re.split(rf"(?<!\w)({words})(?!\w)", text)):
        if part:
            yield part, index % 2 == 1


def says(claim: Claim, label: str) -> str:
    """A claim's verdict in words, by its label: not in the passages; not found: 90 kg."""
    if claim.reason == UNVERIFIED:
        return UNVERIFIED
    if label == "failed":
        return f"no verdict ({claim.reason})" if claim.reason else "no verdict"
    words = LABELS[label]
    if label == "supported" and not claim.supporting:
        words += ", none of them named"
    if claim.joint:
        words += " together"
    if claim.strength == "implied":
        words += ", by implication"
    missing = [part for part in (claim.window.missing if claim.window else ()) if part not in claim.reason]
    if missing:
        lead = "differs" if claim.contradicting else "not found"
        words += f"; {lead}: {', '.join(missing)}"
    return words + (f"; {claim.reason}" if claim.reason else "")


def found_in_answer(view: ExampleView) -> str:
    """How many claims of the answer the passages hold, and the share that the judge expects; "" where none is known."""
    facts = answer_facts(view)
    return count_supported(facts.claims, seen(view)) if facts is not None else ""


def found_of_reference(view: ExampleView) -> str:
    """How many reference claims the passages hold, and the share that the judge expects; "" where none is known."""
    return count_found(seen(view))


def wanted(view: ExampleView) -> tuple[ReferenceClaimView, ...]:
    """The reference claims, whether the passages hold them, and whether the answer states them."""
    known = seen(view)
    return tuple(
        ReferenceClaimView(
            claim.text,
            known.is_found(claim),
            claim.supporting or (),
            known.is_stated(claim.n),
            None if claim.supporting is None else claim.p,
        )
        for claim in known.reference or ()
    )


def checked(view: ExampleView) -> tuple[CheckedAspect, ...]:
    """The aspects and criteria of the example and the criteria of the run, with what was found about them."""
    checked_aspects: list[CheckedAspect] = []
    for kind, texts in (("aspect", view.example.aspects), ("criterion", view.example.criteria)):
        facts = view.evidence.get("cover_aspects" if kind == "aspect" else "cover_criteria")
        if facts is not None and isinstance(facts.facts, CoverFacts):
            checked_aspects += [
                CheckedAspect(kind, text, met) for text, met in zip(texts or (), facts.facts.met, strict=False)
            ]
    facts = view.evidence.get("meet_criteria")
    for one in facts.facts.verdicts if facts is not None and isinstance(facts.facts, CriteriaFacts) else ():
        kind = f"{'required ' if one.required else ''}criterion {one.name}"
        level = f"level {one.level} of {one.n_levels}" if one.level is not None else ""
        checked_aspects.append(CheckedAspect(kind, one.text, one.met, one.reason, level))
    return tuple(checked_aspects)


def cited(view: ExampleView) -> tuple[Cited, ...]:
    """The citations of the answer: what they name, and whether that supports what they stand at."""
    answer, facts = view.response.answer or "", answer_facts(view)
    passages, cited_places = view.response.passages or (), []
    for citation in view.response.citations or ():
        ranks = tuple(sorted(named(citation.target, passages)))
        here = [claim for claim in (facts.claims if facts else ()) if targets(claim, (citation,))]
        held = tuple(rank for rank in ranks if any(rank in claim.supporting for claim in here))
        cited_places.append(Cited(answer[citation.start : citation.end], citation.target, ranks, held))
    return tuple(cited_places)


def off_question(view: ExampleView) -> tuple[OffTopicSentence, ...]:
    """The sentences of the answer that do not bear on the question; () where nobody was asked."""
    evidence = view.evidence.get("rate_answer")
    if evidence is None or not isinstance(evidence.facts, RelevanceFacts):
        return ()
    texts = {sentence.n: sentence.text for sentence in split(view.response.answer or "")}
    return tuple(
        OffTopicSentence(rating.sentence, texts[rating.sentence], rating.p)
        for rating in evidence.facts.ratings
        if rating.relevant is False and rating.sentence in texts
    )


def missed(view: ExampleView) -> tuple[str, ...]:
    """Labelled documents that were not handed on, with their rank among the candidates where that is recorded."""
    known = seen(view)
    missing = []
    for item in known.missed or ():
        rank = known.rank(item)
        where = f" (rank {rank} of the candidates)" if rank else " (not among the candidates)" if known.ranks else ""
        missing.append(" or ".join(item.doc_ids) + where)
    return tuple(missing)
