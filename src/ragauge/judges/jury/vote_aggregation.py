"""What several judges found of the same texts, as one judge's facts: votes are counted, disagreement becomes p.

What a judge's claims are differs between judges, so those of one answer are held together by its sentences: a sentence
is one claim, supported by a member if all that this member finds in it is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ragauge.core.facts import (
    CLAIMS_ONLY,
    Address,
    Agreement,
    AgreementFacts,
    AnswerFacts,
    Claim,
    CoverFacts,
    CriteriaFacts,
    CriterionVerdict,
    JudgeFacts,
    Rating,
    ReferenceClaim,
    ReferenceFacts,
    RelevanceFacts,
    SupportLabel,
    Window,
)
from ragauge.core.human_labels import SEVERITY
from ragauge.judges.inputs import Inputs, VerifyAnswer
from ragauge.text.sentences import split_sentences

ADDRESS_LEVELS: tuple[Address, ...] = ("fully", "partly", "no")


class VoteResult(NamedTuple):
    """What the votes come to: yes or no, None where they decide nothing; and the probability of yes."""

    yes: bool | None
    p: float | None = None


def decide_majority(votes: Sequence[bool | None]) -> VoteResult:
    """What more than half say, those whose vote is missing counted; p = share of yes of the votes that are there."""
    cast_votes = [vote for vote in votes if vote is not None]
    yes, no = sum(cast_votes), len(cast_votes) - sum(cast_votes)
    if 2 * max(yes, no) <= len(votes):
        return VoteResult(None)
    return VoteResult(yes > no, yes / len(cast_votes))


def merge_facts(inputs: Inputs, member_facts: Sequence[JudgeFacts], missing: int) -> JudgeFacts:
    """The facts of a jury.

    Args:
        inputs: what was asked about.
        member_facts: of each member that answered, in the members' order; all are of one type.
        missing: members that failed.
    """
    first = member_facts[0]
    members = _MemberFacts(tuple(member_facts), missing)
    match first:
        case AnswerFacts() if isinstance(inputs, VerifyAnswer):
            return _merge_answer(inputs, members)
        case ReferenceFacts():
            return _merge_reference(members)
        case RelevanceFacts():
            return _merge_ratings(first, members)
        case AgreementFacts():
            return _merge_agreement(first, members)
        case CoverFacts():
            return CoverFacts(tuple(decide_majority(members.column("met", n)).yes for n in range(len(first.met))))
        case CriteriaFacts():
            return CriteriaFacts(tuple(_merge_criterion(n, members) for n in range(len(first.verdicts))))
        case _:
            return first  # vectors, not verdicts: those of the first member


@dataclass(frozen=True, slots=True)
class _MemberFacts:
    """The members' facts, and how many members failed."""

    facts: tuple[Any, ...]
    missing: int

    def column(self, name: str, n: int) -> list[bool | None]:
        """What each member says at one place of a list of its facts, None of those that failed."""
        return self.add_missing_votes([getattr(member_facts, name)[n] for member_facts in self.facts])

    def add_missing_votes(self, votes: Sequence[bool | None]) -> list[bool | None]:
        """The votes of those that answered, with None for those that failed."""
        return [*votes, *(None for _ in range(self.missing))]


class _JurySentence(NamedTuple):
    """A sentence of the answer and each member's claims in it, by place."""

    text: str
    start: int
    end: int
    claims: dict[int, list[Claim]]


def _merge_answer(inputs: VerifyAnswer, members: _MemberFacts) -> AnswerFacts:
    claims: list[Claim] = []
    for sentence in _group_by_sentence(inputs.answer, members.facts):
        if 2 * sum(not member_claims for member_claims in sentence.claims.values()) > len(sentence.claims):
            continue  # most find nothing to check in it
        blank_claim = Claim(len(claims) + 1, sentence.text, sentence.start, sentence.end)
        has_passages = inputs.passages is not None
        claims.append(_judge_sentence(blank_claim, sentence, members) if has_passages else blank_claim)
    return replace(
        _merge_whole_answer(members),
        claims=tuple(claims),
        support_asked=inputs.passages is not None,
        parts=max(facts.parts for facts in members.facts),
    )


def _group_by_sentence(answer: str, member_facts: Sequence[AnswerFacts]) -> list[_JurySentence]:
    """Each sentence with the claims that begin in it; what begins before the first is the first's."""
    split_answer = split_sentences(answer)
    starts = [sentence.start for sentence in split_answer]
    sentences = [
        _JurySentence(sentence.text, sentence.start, sentence.end, {n: [] for n in range(len(member_facts))})
        for sentence in split_answer
    ]
    for n, facts in enumerate(member_facts):
        for claim in facts.claims if sentences else ():
            sentences[max(0, bisect_right(starts, claim.start) - 1)].claims[n].append(claim)
    return sentences


def _judge_sentence(blank_claim: Claim, sentence: _JurySentence, members: _MemberFacts) -> Claim:
    """The claim that a sentence is, with the jury's verdict; passages are those that its side names."""
    labels = {
        index: _find_worst_label(member_claims) for index, member_claims in sentence.claims.items() if member_claims
    }
    yes, p = decide_majority(
        members.add_missing_votes([None if label is None else label == "supported" for label in labels.values()])
    )
    tally = f"{sum(label == 'supported' for label in labels.values())} of {len(labels)} members vote supported"
    if yes is None:
        return replace(blank_claim, status="failed", reason=f"the jury has no decision: {tally}")
    majority_labels = {
        index: label for index, label in labels.items() if label is not None and (label == "supported") == yes
    }
    member_claims = [claim for index in majority_labels for claim in sentence.claims[index]]
    judged_claim = replace(
        blank_claim, p=p, window=_find_window(member_claims), reason="" if len({*labels.values()}) == 1 else tally
    )
    if not yes:
        against = Counter(majority_labels.values())["contradicted"] * 2 > len(majority_labels)
        named_passages = _select_passages(
            [
                _collect_passages(sentence.claims[index], "contradicting")
                for index, label in majority_labels.items()
                if label == "contradicted"
            ]
        )
        return replace(judged_claim, contradicting=named_passages if against else ())
    passages = _select_passages([_collect_passages(sentence.claims[index], "supporting") for index in majority_labels])
    direct = _is_majority(
        [all(claim.strength == "direct" for claim in sentence.claims[index]) for index in majority_labels]
    )
    joint = len(passages) > 1 and _is_majority(
        [any(claim.joint for claim in sentence.claims[index]) for index in majority_labels]
    )
    return replace(judged_claim, supporting=passages, joint=joint, strength="direct" if direct else "implied")


def _find_worst_label(claims: Sequence[Claim]) -> SupportLabel | None:
    """What a member says of a sentence: its worst claim; None where one without verdict might be worse."""
    labels = [claim.label for claim in claims]
    known_labels = [label for label in labels if label is not None]
    worst = min(known_labels, key=lambda label: SEVERITY[label], default=None)
    return None if len(known_labels) < len(labels) and worst in (None, "supported") else worst


def _collect_passages(claims: Sequence[Claim], field_name: str) -> set[int]:
    """The passages that a member names for a sentence."""
    return {passage for claim in claims for passage in getattr(claim, field_name)}


def _select_passages(passage_sets: Sequence[set[int]]) -> tuple[int, ...]:
    """Passages that more than half of the members name; where there is none, those that any names."""
    counted = Counter(passage for numbers in passage_sets for passage in numbers)
    selected = [passage for passage, times in counted.items() if 2 * times > len(passage_sets)]
    return tuple(sorted(selected or counted))


def _find_window(claims: Sequence[Claim]) -> Window | None:
    return next((claim.window for claim in claims if claim.window is not None), None)


def _is_majority(which: Sequence[bool]) -> bool:
    return 2 * sum(which) > len(which)


def _merge_whole_answer(members: _MemberFacts) -> AnswerFacts:
    """What is said of the whole answer, by those who were asked for it."""
    asked_members = [facts for facts in members.facts if not facts.claims_only]
    able = [facts for facts in asked_members if not facts.unread]
    refuse = decide_majority(members.add_missing_votes([facts.refuse for facts in able])).yes if able else None
    votes = Counter(facts.address for facts in asked_members if facts.address is not None)
    (first, lead), *others = votes.most_common() or [(None, 0)]
    second = others[0][1] if others else 0
    address = first if lead - second > len(asked_members) - votes.total() + members.missing else None
    shares = tuple(votes[name] / votes.total() for name in ADDRESS_LEVELS) if votes and address is not None else None
    p = None if shares is None else (shares[0], shares[1], shares[2])
    unread = asked_members[0].unread if asked_members and not able else ""
    return AnswerFacts((), address, refuse, address_p=p, unread=unread, unasked=() if asked_members else CLAIMS_ONLY)


def _merge_reference(members: _MemberFacts) -> ReferenceFacts:
    claims = []
    for n, claim in enumerate(members.facts[0].claims):
        supporting_by_member = {index: facts.claims[n].supporting for index, facts in enumerate(members.facts)}
        votes = {
            index: None if supporting is None else bool(supporting)
            for index, supporting in supporting_by_member.items()
        }
        yes, p = decide_majority(members.add_missing_votes(list(votes.values())))
        passages = (
            _select_passages([set(supporting_by_member[index] or ()) for index, vote in votes.items() if vote])
            if yes
            else ()
        )
        claims.append(ReferenceClaim(claim.n, claim.text, None if yes is None else passages, p))
    return ReferenceFacts(tuple(claims), max(claim.parts for claim in members.facts))


def _merge_ratings(first: RelevanceFacts, members: _MemberFacts) -> RelevanceFacts:
    relevances = [
        {(rating.passage, rating.sentence): rating.relevant for rating in facts.ratings} for facts in members.facts
    ]
    ratings = []
    for rating in first.ratings:
        key = rating.passage, rating.sentence
        yes, p = decide_majority(members.add_missing_votes([relevance.get(key) for relevance in relevances]))
        ratings.append(Rating(rating.passage, yes, rating.sentence, p))
    return RelevanceFacts(tuple(ratings), first.unit)


def _merge_criterion(n: int, members: _MemberFacts) -> CriterionVerdict:
    """What more than half say, those whose vote is missing counted; the reason is that of the first of them."""
    verdicts: list[CriterionVerdict] = [facts.verdicts[n] for facts in members.facts]
    votes = Counter((verdict.met, verdict.level) for verdict in verdicts if verdict.met is not None)
    selected, lead = next(iter(votes.most_common(1)), ((None, None), 0))
    if 2 * lead > len(verdicts) + members.missing:
        return next(verdict for verdict in verdicts if (verdict.met, verdict.level) == selected)
    no_verdict = next((verdict.reason for verdict in verdicts if verdict.met is None), "")
    tally = f"the jury has no decision: {lead} of {len(verdicts) + members.missing} members agree"
    return replace(verdicts[0], met=None, level=None, reason=f"{tally}; {no_verdict}" if no_verdict else tally)


def _merge_agreement(first: AgreementFacts, members: _MemberFacts) -> AgreementFacts:
    answer: list[Agreement | None] = []
    answer_p = []
    for n in range(len(first.answer)):
        verdicts = [facts.answer[n] for facts in members.facts]
        yes, p = decide_majority(
            members.add_missing_votes([None if verdict is None else verdict == "agrees" for verdict in verdicts])
        )
        others = [verdict == "contradicts" for verdict in verdicts if verdict not in (None, "agrees")]
        no: Agreement = "contradicts" if _is_majority(others) else "absent"
        answer.append("agrees" if yes else None if yes is None else no)
        answer_p.append(p)
    stated = [decide_majority(members.column("reference", n)) for n in range(len(first.reference))]
    return AgreementFacts(
        tuple(answer), tuple(verdict.yes for verdict in stated), tuple(answer_p), tuple(verdict.p for verdict in stated)
    )
