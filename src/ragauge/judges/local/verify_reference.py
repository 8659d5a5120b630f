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
from ragauge.judges.judge import AskGenerator, verify_accepted
from ragauge.judges.local.index import Mode, detect_mode
from ragauge.judges.local.relevance import PreparedQuestion, select_scorer
from ragauge.judges.local.short_answers import is_short
from ragauge.judges.local.statements import strip_marks
from ragauge.judges.local.support import MAX_NOTHING_P, PreparedPassages, SupportVerdict
from ragauge.judges.local.table_support import PassageTables
from ragauge.judges.local.weights import EVIDENCE_FILE, Scorer, read_weights
from ragauge.text.specifics import COMPARED_KINDS, DATE_KINDS, find_specifics

VERSION = 2
MIN_VERBATIM_P = 0.85  # least p of a claim that stands word for word in a passage of another language than English


def verify_reference(inputs: VerifyReference, judge_repeat: int = 0) -> AskGenerator:  # noqa: ARG001 - every question has it
    """Each reference claim is weighed as an answer's claim is, and by whether the passages are on the topic.

    A date that a claim only repeats from the question ("bought in March 2024") need not stand in a passage: what does
    not support the whole claim, and does not contradict it, may support the claim without that date.
    """
    return (yield from verify_accepted(_verify_claims, inputs))


def _verify_claims(inputs: VerifyReference) -> AskGenerator:
    yield from ()
    topic = compute_topics(inputs.query, inputs.passages)
    pairs = enumerate(zip(inputs.claims, weigh_claims(inputs), strict=True), 1)
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
        chance = combine_presence(self.p, max(others, default=0.0))
        return min(self.p, chance) if self.lacking else chance


def weigh_claims(inputs: VerifyReference) -> list[ReferenceEvidence]:
    """What the passages say of each reference claim."""
    evidence = PreparedPassages(inputs.passages, inputs.claims)
    tabled = PassageTables(inputs.query, inputs.passages)
    query_dates = {mark.normal for mark in find_specifics(inputs.query, DATE_KINDS)}
    return [_weigh_reference(evidence, strip_marks(text), query_dates, tabled) for text in inputs.claims]


def _weigh_reference(
    evidence: PreparedPassages, claim: str, query_dates: AbstractSet[str], tabled: PassageTables
) -> ReferenceEvidence:
    words = _weigh_claim(evidence, claim, query_dates)
    weighed_claim, _, otherwise = tabled.apply_tables(
        claim, words, lambda some: _weigh_claim(evidence.without(some), claim, query_dates)
    )
    lacking = weighed_claim.window.missing if weighed_claim.window is not None else ()
    numberless = any(any(map(str.isdigit, specific)) for specific in lacking) and not tabled.tables
    has_name = any(mark.kind == "name" for mark in find_specifics(claim, COMPARED_KINDS))
    nameless = weighed_claim.p <= MAX_NOTHING_P and is_short(claim) and has_name
    p = max(weighed_claim.p, MIN_VERBATIM_P) if evidence.has_verbatim(claim) else weighed_claim.p
    against = otherwise.union(weighed_claim.contradicting)
    return ReferenceEvidence(p, weighed_claim.supporting, against, numberless or nameless)


def _weigh_claim(evidence: PreparedPassages, claim: str, query_dates: AbstractSet[str]) -> SupportVerdict:
    weighed = evidence.weigh_claim(claim)
    if weighed.supporting or not query_dates:
        return weighed
    undated = claim
    for mark in reversed(find_specifics(claim, DATE_KINDS)):
        if mark.normal in query_dates:
            undated = f"{undated[: mark.start].rstrip()} {undated[mark.end :].lstrip()}"
    again = evidence.weigh_claim(undated) if undated != claim else weighed
    supporting = tuple(n for n in again.supporting if n not in weighed.contradicting)
    return SupportVerdict(again.p, supporting) if supporting else weighed


FEATURES = ("stated", "on_topic")  # log odds, see `combine_presence`
MIN_P = 0.001  # log odds end here
MIN_SURE_P = 0.9  # words that state a claim so surely need no topic


def compute_topics(query: str, passages: Sequence[str]) -> tuple[float, ...]:
    """Per passage the probability that it is relevant to the question, by shared words alone.

    0 of a blank passage, and of a question without a word. It depends on the passage and the question, not on others.
    """
    questions_by_mode = {mode: PreparedQuestion(query, mode) for mode in get_args(Mode)}
    chances = []
    for text in passages:
        question = questions_by_mode[detect_mode((query, text))]
        judge = select_scorer("relevance", None, question.mode)
        chances.append(judge.p(question.compute_features(text, None)) if question.distinct and text.strip() else 0.0)
    return tuple(chances)


def combine_presence(stated: float, topic: float) -> float:
    """Probability that the passages hold the evidence for a claim.

    Args:
        stated: probability that the words of some passages state it.
        topic: of the passage that is likeliest to be relevant, see `compute_topics`; 0 where there is none.

    It rises with both, and is no lower than `weigh_claims` where that is nearly certain.
    """
    chance = Scorer.from_stored(read_weights(EVIDENCE_FILE)["scorer"], FEATURES).p(
        (compute_log_odds(stated), compute_log_odds(topic))
    )
    return max(chance, stated) if stated >= MIN_SURE_P else chance


def compute_log_odds(p: float) -> float:
    """log(p / (1 - p)), within bounds."""
    clipped = min(1 - MIN_P, max(MIN_P, p))
    return log(clipped / (1 - clipped))
