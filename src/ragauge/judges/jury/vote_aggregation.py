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

from ragauge.core.criterion import CriterionVerdict
from ragauge.core.facts import (
    CLAIMS_ONLY,
    Address,
    Agreement,
    AgreementFacts,
    AnswerFacts,
    Claim,
    CoverFacts,
    CriteriaFacts,
    FactsOf,
    Rating,
    ReferenceClaim,
    ReferenceFacts,
    RelevanceFacts,
    SupportLabel,
    Window,
)
from ragauge.core.human_labels import SEVERITY
from ragauge.judges.inputs import Inputs, VerifyAnswer
from ragauge.text.sentences import split

ADDRESSES: tuple[Address, ...] = ("fully", "partly", "no")


class Decided(NamedTuple):
    """What the votes come to: yes or no, None where they decide nothing; and the probability of yes."""

    yes: bool | None
    p: float | None = None


def most(votes: Sequence[bool | None]) -> Decided:
    """What more than half say, those whose vote is missing counted; p = share of yes of the votes that are there."""
    said = [vote for vote in votes if vote is not None]
    yes, no = sum(said), len(said) - sum(said)
    if 2 * max(yes, no) <= len(votes):
        return Decided(None)
    return Decided(yes > no, yes / len(said))


def merge_facts(inputs: Inputs, found: Sequence[FactsOf], missing: int) -> FactsOf:
    """The facts of a jury.

    Args:
        inputs: what was asked about.
        found: of each member that answered, in the members' order; all are of one type.
        missing: members that failed.
    """
    first = found[0]
    count = _Counting(tuple(found), missing)
    match first:
        case AnswerFacts() if isinstance(inputs, VerifyAnswer):
            return _answer(inputs, count)
        case ReferenceFacts():
            return _reference(count)
        case RelevanceFacts():
            return _ratings(first, count)
        case AgreementFacts():
            return _agreement(first, count)
        case CoverFacts():
            return CoverFacts(tuple(most(count.column("met", n)).yes for n in range(len(first.met))))
        case CriteriaFacts():
            return CriteriaFacts(tuple(_criterion(n, count) for n in range(len(first.verdicts))))
        case _:
            return first  # vectors, not verdicts: those of the first member


@dataclass(frozen=True, slots=True)
class _Counting:
    """The members' facts, and how many members failed."""

    found: tuple[Any, ...]
    missing: int

    def column(self, name: str, n: int) -> list[bool | None]:
        """What each member says at one place of a list of its facts, None of those that failed."""
        return self.all_of([getattr(one, name)[n] for one in self.found])

    def all_of(self, votes: Sequence[bool | None]) -> list[bool | None]:
        """The votes of those that answered, with None for those that failed."""
        return [*votes, *(None for _ in range(self.missing))]


class _JurySentence(NamedTuple):
    """A sentence of the answer and each member's claims in it, by place."""

    text: str
    start: int
    end: int
    claims: dict[int, list[Claim]]


def _answer(inputs: VerifyAnswer, count: _Counting) -> AnswerFacts:
    claims: list[Claim] = []
    for sentence in _sentences(inputs.answer, count.found):
        if 2 * sum(not mine for mine in sentence.claims.values()) > len(sentence.claims):
            continue  # most find nothing to check in it
        plain = Claim(len(claims) + 1, sentence.text, sentence.start, sentence.end)
        known = inputs.passages is not None
        claims.append(_judged(plain, sentence, count) if known else plain)
    return replace(
        _whole(count),
        claims=tuple(claims),
        support_asked=inputs.passages is not None,
        parts=max(one.parts for one in count.found),
    )


def _sentences(answer: str, found: Sequence[AnswerFacts]) -> list[_JurySentence]:
    """Each sentence with the claims that begin in it; what begins before the first is the first's."""
    cut = split(answer)
    starts = [one.start for one in cut]
    sentences = [_JurySentence(one.text, one.start, one.end, {n: [] for n in range(len(found))}) for one in cut]
    for n, facts in enumerate(found):
        for claim in facts.claims if sentences else ():
            sentences[max(0, bisect_right(starts, claim.start) - 1)].claims[n].append(claim)
    return sentences


def _judged(plain: Claim, sentence: _JurySentence, count: _Counting) -> Claim:
    """The claim that a sentence is, with the jury's verdict; passages are those that its side names."""
    said = {place: _worst(mine) for place, mine in sentence.claims.items() if mine}
    yes, p = most(count.all_of([None if label is None else label == "supported" for label in said.values()]))
    tally = f"{sum(label == 'supported' for label in said.values())} of {len(said)} members say supported"
    if yes is None:
        return replace(plain, status="failed", reason=f"the jury decides nothing: {tally}")
    sides = {place: label for place, label in said.items() if label is not None and (label == "supported") == yes}
    mine = [claim for place in sides for claim in sentence.claims[place]]
    one = replace(plain, p=p, window=_window(mine), reason="" if len({*said.values()}) == 1 else tally)
    if not yes:
        against = Counter(sides.values())["contradicted"] * 2 > len(sides)
        named = _named(
            [
                _passages(sentence.claims[place], "contradicting")
                for place, label in sides.items()
                if label == "contradicted"
            ]
        )
        return replace(one, contradicting=named if against else ())
    passages = _named([_passages(sentence.claims[place], "supporting") for place in sides])
    direct = _more([all(claim.strength == "direct" for claim in sentence.claims[place]) for place in sides])
    joint = len(passages) > 1 and _more([any(claim.joint for claim in sentence.claims[place]) for place in sides])
    return replace(one, supporting=passages, joint=joint, strength="direct" if direct else "implied")


def _worst(claims: Sequence[Claim]) -> SupportLabel | None:
    """What a member says of a sentence: its worst claim; None where one without verdict might be worse."""
    labels = [claim.label for claim in claims]
    known = [label for label in labels if label is not None]
    worst = min(known, key=lambda label: SEVERITY[label], default=None)
    return None if len(known) < len(labels) and worst in (None, "supported") else worst


def _passages(claims: Sequence[Claim], side: str) -> set[int]:
    """The passages that a member names for a sentence."""
    return {passage for claim in claims for passage in getattr(claim, side)}


def _named(sets: Sequence[set[int]]) -> tuple[int, ...]:
    """Passages that more than half of the members name; where there is none, those that any names."""
    counted = Counter(passage for one in sets for passage in one)
    chosen = [passage for passage, times in counted.items() if 2 * times > len(sets)]
    return tuple(sorted(chosen or counted))


def _window(claims: Sequence[Claim]) -> Window | None:
    return next((claim.window for claim in claims if claim.window is not None), None)


def _more(which: Sequence[bool]) -> bool:
    return 2 * sum(which) > len(which)


def _whole(count: _Counting) -> AnswerFacts:
    """What is said of the whole answer, by those who were asked for it."""
    asked = [one for one in count.found if not one.claims_only]
    able = [one for one in asked if not one.unread]
    refuse = most(count.all_of([one.refuse for one in able])).yes if able else None
    votes = Counter(one.address for one in asked if one.address is not None)
    (first, lead), *others = votes.most_common() or [(None, 0)]
    second = others[0][1] if others else 0
    address = first if lead - second > len(asked) - votes.total() + count.missing else None
    shares = tuple(votes[name] / votes.total() for name in ADDRESSES) if votes and address is not None else None
    p = None if shares is None else (shares[0], shares[1], shares[2])
    unread = asked[0].unread if asked and not able else ""
    return AnswerFacts((), address, refuse, address_p=p, unread=unread, unasked=() if asked else CLAIMS_ONLY)


def _reference(count: _Counting) -> ReferenceFacts:
    claims = []
    for n, one in enumerate(count.found[0].claims):
        given = {place: facts.claims[n].supporting for place, facts in enumerate(count.found)}
        votes = {place: None if found is None else bool(found) for place, found in given.items()}
        yes, p = most(count.all_of(list(votes.values())))
        named = _named([set(given[place] or ()) for place, vote in votes.items() if vote]) if yes else ()
        claims.append(ReferenceClaim(one.n, one.text, None if yes is None else named, p))
    return ReferenceFacts(tuple(claims), max(one.parts for one in count.found))


def _ratings(first: RelevanceFacts, count: _Counting) -> RelevanceFacts:
    known = [{(one.passage, one.sentence): one.relevant for one in facts.ratings} for facts in count.found]
    ratings = []
    for one in first.ratings:
        at = one.passage, one.sentence
        yes, p = most(count.all_of([mine.get(at) for mine in known]))
        ratings.append(Rating(one.passage, yes, one.sentence, p))
    return RelevanceFacts(tuple(ratings), first.unit)


def _criterion(n: int, count: _Counting) -> CriterionVerdict:
    """What more than half say, those whose vote is missing counted; the reason is that of the first of them."""
    said: list[CriterionVerdict] = [facts.verdicts[n] for facts in count.found]
    votes = Counter((one.met, one.level) for one in said if one.met is not None)
    chosen, lead = next(iter(votes.most_common(1)), ((None, None), 0))
    if 2 * lead > len(said) + count.missing:
        return next(one for one in said if (one.met, one.level) == chosen)
    no_verdict = next((one.reason for one in said if one.met is None), "")
    tally = f"the jury decides nothing: {lead} of {len(said) + count.missing} members agree"
    return replace(said[0], met=None, level=None, reason=f"{tally}; {no_verdict}" if no_verdict else tally)


def _agreement(first: AgreementFacts, count: _Counting) -> AgreementFacts:
    answer: list[Agreement | None] = []
    answer_p = []
    for n in range(len(first.answer)):
        said = [facts.answer[n] for facts in count.found]
        yes, p = most(count.all_of([None if one is None else one == "agrees" for one in said]))
        others = [one == "contradicts" for one in said if one not in (None, "agrees")]
        no: Agreement = "contradicts" if _more(others) else "absent"
        answer.append("agrees" if yes else None if yes is None else no)
        answer_p.append(p)
    stated = [most(count.column("reference", n)) for n in range(len(first.reference))]
    return AgreementFacts(
        tuple(answer), tuple(one.yes for one in stated), tuple(answer_p), tuple(one.p for one in stated)
    )
