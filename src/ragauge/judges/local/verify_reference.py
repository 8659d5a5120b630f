"""verify_reference: which passages support each reference claim.

Whether the evidence for a reference claim is among the passages: by the claim's words, and by the question's.

A claim in other words than its evidence shares few with it. That passages speak of what was asked, then, says that the
evidence is likelier there than the words alone tell; that none does says that it is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from math import log
from typing import NamedTuple, get_args

from ragauge.core.facts import ReferenceClaim, ReferenceFacts
from ragauge.judges.inputs import VerifyReference
from ragauge.judges.judge import Asking, any_accepted
from ragauge.judges.local.index import Mode, mode_of
from ragauge.judges.local.relevance import PreparedQuestion, chosen
from ragauge.judges.local.short_answers import is_short
from ragauge.judges.local.statements import bare
from ragauge.judges.local.support import NOTHING, PreparedPassages, Weighed
from ragauge.judges.local.table_support import Tabled
from ragauge.judges.local.weights import EVIDENCE_FILE, Scorer, stored
from ragauge.text.specifics import DATE, EVERY, find

VERSION = 2
STANDING = 0.85  # least p of a claim that stands word for word in a passage of another language than English


def verify_reference(inputs: VerifyReference, judge_repeat: int = 0) -> Asking:  # noqa: ARG001 - every question has it
    """Each reference claim is weighed as an answer's claim is, and by whether the passages are on the topic.

    A date that a claim only repeats from the question ("bought in March 2024") need not stand in a passage: what does
    not support the whole claim, and does not contradict it, may support the claim without that date.
    """
    return (yield from any_accepted(_verify, inputs))


def _verify(inputs: VerifyReference) -> Asking:
    yield from ()
    topic = topics(inputs.query, inputs.passages)
    pairs = enumerate(zip(inputs.claims, stated(inputs), strict=True), 1)
    return ReferenceFacts(
        tuple(ReferenceClaim(n, text, claim.supporting, claim.there(topic)) for n, (text, claim) in pairs)
    )


class ReferenceEvidence(NamedTuple):
    """What the passages say of a reference claim."""

    p: float  # probability that their words, or the cells of their tables, state it
    supporting: tuple[int, ...]  # the passages that do
    against: frozenset[int]  # the passages that say another thing in its place
    # none has its number, and no table could imply it; or it is a short one with a name, and none has a word of it
    lacking: bool

    def there(self, topics: Sequence[float]) -> float:
        """Probability that the evidence is there: by the topic of the passages that do not say otherwise, too.

        A number or a name that is nowhere is not there because the topic is.

        Args:
            topics: per passage, how likely it speaks of what was asked.
        """
        others = (topic for n, topic in enumerate(topics, 1) if n not in self.against)
        chance = there(self.p, max(others, default=0.0))
        return min(self.p, chance) if self.lacking else chance


def stated(inputs: VerifyReference) -> list[ReferenceEvidence]:
    """What the passages say of each reference claim."""
    evidence = PreparedPassages(inputs.passages, inputs.claims)
    tabled = Tabled(inputs.query, inputs.passages)
    asked = {mark.normal for mark in find(inputs.query, DATE)}
    return [_stated(evidence, bare(text), asked, tabled) for text in inputs.claims]


def _stated(evidence: PreparedPassages, claim: str, asked: AbstractSet[str], tabled: Tabled) -> ReferenceEvidence:
    words = _weighed(evidence, claim, asked)
    weighed_claim, _, otherwise = tabled.mend(claim, words, lambda some: _weighed(evidence.without(some), claim, asked))
    lacking = weighed_claim.window.missing if weighed_claim.window is not None else ()
    numberless = any(any(map(str.isdigit, specific)) for specific in lacking) and not tabled.tables
    named = any(mark.kind == "name" for mark in find(claim, EVERY))
    nameless = weighed_claim.p <= NOTHING and is_short(claim) and named
    p = max(weighed_claim.p, STANDING) if evidence.stands(claim) else weighed_claim.p
    against = otherwise.union(weighed_claim.contradicting)
    return ReferenceEvidence(p, weighed_claim.supporting, against, numberless or nameless)


def _weighed(evidence: PreparedPassages, claim: str, asked: AbstractSet[str]) -> Weighed:
    weighed = evidence.weigh(claim)
    if weighed.supporting or not asked:
        return weighed
    rest = claim
    for mark in reversed(find(claim, DATE)):
        if mark.normal in asked:
            rest = f"{rest[: mark.start].rstrip()} {rest[mark.end :].lstrip()}"
    again = evidence.weigh(rest) if rest != claim else weighed
    supporting = tuple(n for n in again.supporting if n not in weighed.contradicting)
    return Weighed(again.p, supporting) if supporting else weighed


FEATURES = ("stated", "on_topic")  # log odds, see `there`
CLIP = 0.001  # log odds end here
SURE = 0.9  # words that state a claim so surely need no topic


def topics(query: str, passages: Sequence[str]) -> tuple[float, ...]:
    """Per passage the probability that it is relevant to the question, by shared words alone.

    0 of a blank passage, and of a question without a word. It depends on the passage and the question, not on others.
    """
    asked = {mode: PreparedQuestion(query, mode) for mode in get_args(Mode)}
    chances = []
    for text in passages:
        question = asked[mode_of((query, text))]
        judge = chosen("relevance", None, question.mode)
        chances.append(judge.p(question.features(text, None)) if question.distinct and text.strip() else 0.0)
    return tuple(chances)


def there(stated: float, topic: float) -> float:
    """Probability that the passages hold the evidence for a claim.

    Args:
        stated: probability that the words of some passages state it.
        topic: of the passage that is likeliest to be relevant, see `topics`; 0 where there is none.

    It rises with both, and is no lower than `stated` where that is nearly certain.
    """
    chance = Scorer.read(stored(EVIDENCE_FILE)["scorer"], FEATURES).p((log_odds(stated), log_odds(topic)))
    return max(chance, stated) if stated >= SURE else chance


def log_odds(p: float) -> float:
    """log(p / (1 - p)), within bounds."""
    kept = min(1 - CLIP, max(CLIP, p))
    return log(kept / (1 - kept))
