"""A scripted judge for answers of the reference system over the demo's corpus: verdicts that follow from known facts.

It works because the generator copies: a sentence of an honest answer stands in a passage word for word. It never learns
which fault was planted, and knows nothing of how causes are attributed. White space is of no account anywhere.

What is known, and how:

- **A passage holds a gold span** when it comes from the span's document and covers the span from end to end, or when
  the span's words stand in it as one stretch, whatever document it is of. Half a span is none.
- **A reference claim is supported** by the passages that hold its spans, if every one of its spans is held. Which of a
  question's spans are a claim's is read off the labels: one span belongs to all claims; of equal numbers, each claim
  has the span in its place; else, and where the order differs, `PARTS` says it: the sentences that have to be said for
  the claim to answer the question, without those that only say from when a page applies.
- **A claim of the answer** is one of its sentences. The passages in which its words stand support it.
- **A changed number**: a sentence that stands in no passage, but equals one that the honest answer to the same question
  has and this one lacks, once all figures are masked. The passages with the honest sentence contradict it.
- **Anything else that stands in no passage** is made up: nothing supports or contradicts it.
- **The answer states a reference claim** when the words of all its spans stand in the answer. A claim that is computed
  from its spans (a sum, a difference; `COMPUTED`) is stated by no copied sentence. A sentence that holds a span agrees
  with the reference, a changed number in such a sentence contradicts it, every other sentence is absent from it.
- **The answer speaks to** a reference claim when it states it, or states it but for a changed number. It addresses the
  question fully, partly or not at all by the share of the claims that it speaks to.
- **It refuses** when it is the generator's one refusal, word for word.
- **A passage is relevant** when it holds a gold span of the question.

What it cannot know: that other words say the same as a gold span (another page, or an answer that takes its sentence
from there, counts as absent); that an old version's sentence contradicts the current one (absent, too); that a
sentence near the subject addresses the question without a word of the evidence; whether an answer to an unanswerable
question addresses it (no verdict).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ragauge.core.document import Document
from ragauge.core.example import Example, Span
from ragauge.core.facts import (
    Address,
    Agreement,
    AgreementFacts,
    AnswerFacts,
    Claim,
    Evidence,
    JudgeFacts,
    Rating,
    ReferenceClaim,
    ReferenceFacts,
    RelevanceFacts,
)
from ragauge.core.response import Passage, Response
from ragauge.systems.reference.extractive import REFUSAL
from ragauge.text.sentences import split_sentences

JUDGE = "known-facts"
FIGURE = re.compile(r"\d[\d,]*")
# questions of the demo where claims and spans do not pair off in order -> the places (from 0) of each claim's spans
PARTS: Mapping[str, Sequence[Sequence[int]]] = {
    "q029": ((0,), (0,)),
    "q030": ((0,),),
    "q032": ((0,), (0, 1), (0, 1)),
    "q036": ((0,), (1,), (0, 1)),
    "q041": ((0,), (1, 2)),
    "q047": ((1,), (0,)),
    "q049": ((0, 1), (2,)),
    "q053": ((0, 1),),
    "q055": ((0,),),
    "q058": ((3, 4), (1,)),
    "q062": ((0,),),
    "q063": ((0,),),
    "q065": ((0,),),
    "q067": ((0, 1),),
    "q070": ((0,),),
    "q071": ((0,),),
    "q072": ((0,),),
    "q075": ((0,), (1,), (0, 1)),
    "q081": ((0,), (1,), (0, 1)),
    "q082": ((0,), (2,)),
    "q106": ((0,), (0,), (1,), (1,)),
    "q107": ((0,),),
    "q108": ((0, 1),),
    "q109": ((1,),),
}
# claims (from 0) that are computed from their spans: no sentence of the corpus says them
COMPUTED: Mapping[str, Collection[int]] = {"q032": (1, 2), "q036": (2,), "q075": (2,), "q081": (2,)}


class Statement(NamedTuple):
    """One sentence of an answer.

    Attributes:
        text: the sentence.
        start: its first character in the answer.
        end: one past its last.
        honest: the honest answer's sentence that it is but for its figures; "" for none.
    """

    text: str
    start: int
    end: int
    honest: str = ""


class KnownFacts:
    """The judge.

    Args:
        documents: the corpus that the labels name.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self._texts = {document.doc_id: document.text for document in documents}

    def evidence(self, example: Example, response: Response, honest: Response) -> dict[str, Evidence]:
        """What is known of a response; `honest` is the honest system's response to the same question."""
        if response.error is not None:
            return {}
        said = statements(response, honest)
        found: dict[str, JudgeFacts] = {
            "verify_answer": self._verify_answer(example, response, said),
            "rate_passages": self._rate_passages(example, response),
        }
        if example.reference_claims:
            found["verify_reference"] = self._verify_reference(example, response)
            found["agree"] = self._agree(example, said)
        return {name: Evidence(f"{JUDGE}-{name}", name, 1, JUDGE, "ok", facts) for name, facts in found.items()}

    def passages_right(self, example: Example, response: Response) -> bool:
        """Whether every labelled document was handed on, and every gold span stands whole in a passage."""
        there = {passage.doc_id for passage in response.passages or ()}
        documents = all(not there.isdisjoint(item.doc_ids) for item in example.relevant or () if item.grade >= 1)
        return documents and all(self.holding(span, response) for span in example.gold_spans or ())

    def answer_right(self, example: Example, response: Response, honest: Response) -> bool:
        """Whether the answer is right.

        It is when it states every reference claim and nothing that stands in no passage; to an unanswerable question,
        when it refuses.
        """
        if refused(response) or example.answerable is False:
            return refused(response) and example.answerable is False
        said = statements(response, honest)
        return all(self._stated(example, said)) and all(in_passages(one.text, response) for one in said)

    def holding(self, span: Span, response: Response) -> tuple[int, ...]:
        """Numbers of the passages that hold a gold span."""
        words = self._words(span)
        return tuple(
            n
            for n, passage in enumerate(response.passages or (), 1)
            if _covers(passage, span) or words in plain(passage.text or "")
        )

    def _words(self, span: Span) -> str:
        return plain(self._texts[span.doc_id][span.start : span.end])

    def _parts(self, example: Example) -> list[list[Span]]:
        """The gold spans of each reference claim."""
        spans, n = example.gold_spans or (), len(example.reference_claims or ())
        if example.query_id in PARTS:
            return [[spans[place] for place in places] for places in PARTS[example.query_id]]
        if len(spans) == 1:
            return [[spans[0]]] * n
        return [[span] for span in spans]

    def _verify_reference(self, example: Example, response: Response) -> ReferenceFacts:
        claims = []
        for n, (text, spans) in enumerate(zip(example.reference_claims or (), self._parts(example), strict=True), 1):
            held = [self.holding(span, response) for span in spans]
            supporting = sorted({number for numbers in held for number in numbers}) if all(held) else []
            claims.append(ReferenceClaim(n, text, tuple(supporting)))
        return ReferenceFacts(tuple(claims))

    def _verify_answer(self, example: Example, response: Response, said: Sequence[Statement]) -> AnswerFacts:
        if refused(response):
            return AnswerFacts((), "no", True)
        claims = []
        for n, one in enumerate(said, 1):
            supporting = in_passages(one.text, response)
            against = in_passages(one.honest, response) if one.honest and not supporting else ()
            claims.append(
                Claim(
                    n,
                    one.text,
                    one.start,
                    one.end,
                    supporting=supporting,
                    contradicting=against,
                    strength="direct" if supporting else None,
                )
            )
        return AnswerFacts(tuple(claims), self._address(example, said), False)

    def _address(self, example: Example, said: Sequence[Statement]) -> Address | None:
        meant = [one._replace(text=one.honest or one.text) for one in said]
        about = self._stated(example, meant)
        if not about:
            return None
        return "fully" if all(about) else "partly" if any(about) else "no"

    def _stated(self, example: Example, said: Sequence[Statement]) -> list[bool]:
        """Of each reference claim, whether the words of all its spans stand in the answer."""
        answer = plain(" ".join(one.text for one in said))
        computed = COMPUTED.get(example.query_id, ())
        return [
            n not in computed and all(self._words(span) in answer for span in spans)
            for n, spans in enumerate(self._parts(example))
        ]

    def _agree(self, example: Example, said: Sequence[Statement]) -> AgreementFacts:
        words = {self._words(span) for spans in self._parts(example) for span in spans}
        return AgreementFacts(tuple(_agreement(one, words) for one in said), tuple(self._stated(example, said)))

    def _rate_passages(self, example: Example, response: Response) -> RelevanceFacts:
        relevant = {n for span in example.gold_spans or () for n in self.holding(span, response)}
        return RelevanceFacts(tuple(Rating(n, n in relevant) for n in range(1, len(response.passages or ()) + 1)))


def statements(response: Response, honest: Response) -> tuple[Statement, ...]:
    """The sentences of an answer; none in a refusal.

    Citations say where the generator's sentences begin and end; what they leave is split as any text is.
    """
    if refused(response):
        return ()
    answer = response.answer or ""
    pairs = [(plain(answer[start:end]), start, end) for start, end in _bounds(answer, response)]
    said = {text for text, _, _ in pairs}
    missing = [] if response is honest else [one.text for one in statements(honest, honest) if one.text not in said]
    masked = {_masked(text): text for text in missing}
    return tuple(
        Statement(text, start, end, "" if in_passages(text, response) else masked.get(_masked(text), ""))
        for text, start, end in pairs
    )


def refused(response: Response) -> bool:
    """Whether the answer is the generator's refusal, or none."""
    return not response.answer or response.answer == REFUSAL


def in_passages(text: str, response: Response) -> tuple[int, ...]:
    """Numbers of the passages in which these words stand."""
    return tuple(n for n, passage in enumerate(response.passages or (), 1) if text in plain(passage.text or ""))


@lru_cache(maxsize=8_192)
def plain(text: str) -> str:
    """A text with single spaces for white space."""
    return " ".join(text.split())


def _bounds(answer: str, response: Response) -> list[tuple[int, int]]:
    cited = sorted({(citation.start, citation.end) for citation in response.citations or ()})
    edges = [0, *(edge for pair in cited for edge in pair), len(answer)]
    gaps = [(edges[n], edges[n + 1]) for n in range(0, len(edges), 2)]
    rest = [(start + one.start, start + one.end) for start, end in gaps for one in split_sentences(answer[start:end])]
    return sorted([*cited, *rest])


def _masked(text: str) -> str:
    return FIGURE.sub("0", text)


def _covers(passage: Passage, span: Span) -> bool:
    mine = passage.span
    return mine is not None and mine.doc_id == span.doc_id and mine.start <= span.start and span.end <= mine.end


def _agreement(one: Statement, words: Iterable[str]) -> Agreement:
    if any(span in one.text for span in words):
        return "agrees"
    return "contradicts" if one.honest and any(span in one.honest for span in words) else "absent"
