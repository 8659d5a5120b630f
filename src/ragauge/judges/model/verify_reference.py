"""What passages say about a claim: the verdict, and the sentences that show it.

verify_reference: which passages support each reference claim.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from ragauge.core.ask import Ask, Reply
from ragauge.core.example import Turn
from ragauge.core.facts import Claim, ReferenceClaim, ReferenceFacts, Window
from ragauge.judges.inputs import VerifyReference
from ragauge.judges.judge import Asking, any_accepted
from ragauge.judges.model.prompt_blocks import Block, Numbered, Prompt, earlier_turns
from ragauge.judges.model.question_spec import (
    INTEGER,
    TEXTS,
    YES_NO,
    PassageBatch,
    QuestionSpec,
    a_list,
    an_object,
    one_of,
    passage_batches,
)
from ragauge.judges.model.reply_parser import places, quoted, word, yes
from ragauge.judges.model.verdicts import Listing, ask_each, interleave

VERDICTS = ("supported", "contradicted", "absent")
FIELDS: Mapping[str, Any] = {
    "by": TEXTS,
    "against": TEXTS,
    "verdict": one_of(*VERDICTS),
    "together": YES_NO,
    "direct": YES_NO,
}  # in this order: what shows it is written before the verdict
SCHEMA = an_object(claims=a_list(n=INTEGER, **FIELDS))
BY = """by: numbers of the passage sentences that support it, such as "2.1", from every passage that does, copies too; \
[] if none does;
against: numbers of the passage sentences that contradict it; [] if none does;"""
RULES = f"""For each claim give
{BY}
verdict: supported (the passages state it, or it follows from them directly), contradicted (they say otherwise), or \
absent (neither; a plausible guess is absent);
together: true if no passage supports it alone, but several do together;
direct: true if it is stated, false if it only follows."""
FORM = f"""{BY}
verdict: supported, contradicted or absent;
together: true if no passage supports it alone, but several do together;
direct: true if it is stated, false if it only follows."""
CHECKING = Prompt(
    "verify_claims",
    f"""Check the claims [C1], [C2], … against the passages.
{RULES}
Give every claim's number n.""",
    f"For every claim [C1], [C2], … give its number n and\n{FORM}",
    ("question", "passages", "claims"),
)
SPREAD = "judged in {} parts: support spread over several of them would not be seen"


class SupportReplies(NamedTuple):
    """What each pack says about each claim, in the order of the packs.

    Attributes:
        supports: by claim, one a pack.
        reason: why verdicts are missing; "" where none are.
        unnamed: verdicts that named no sentence when first asked for.
    """

    supports: list[list[Support | None]]
    reason: str
    unnamed: int


@dataclass(frozen=True, slots=True)
class Support:
    """One pack's verdict on a claim; sentences by number, such as 2.1."""

    by: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    interleave: bool = False
    direct: bool = True


def support_of(item: Mapping[str, Any], sent: Mapping[str, Numbered]) -> Support | None:
    """The verdict that a reply gives; None where it is no verdict.

    Numbers never sent are dropped; a quote of one sentence that was sent stands for its number. The verdict's word and
    its numbers have to agree: support without a sentence that shows it, or a contradiction without one, is no verdict.
    """
    verdict = word(item.get("verdict"), VERDICTS)
    by, against = _named(item.get("by"), sent), _named(item.get("against"), sent)
    if verdict == "absent":
        return Support()
    if verdict == "supported" and by:
        return Support(by, against, yes(item.get("together")) or False, yes(item.get("direct")) is not False)
    if verdict == "contradicted" and against:
        return Support((), against)
    return None


def unnamed_in(item: Mapping[str, Any], sent: Mapping[str, Numbered]) -> int:
    """1 where the verdict of a reply needs a sentence that shows it and names none."""
    decides = word(item.get("verdict"), VERDICTS) in ("supported", "contradicted")
    return int(decides and support_of(item, sent) is None)


def _named(value: Any, sent: Mapping[str, Numbered]) -> tuple[str, ...]:
    """The sentences that a reply names, by number or by a quote."""
    numbers = places(value, sent)
    if not value or len(numbers) == (len(value) if isinstance(value, list) else 1):
        return numbers
    texts = {number: one.sentence.text for number, one in sent.items()}
    return tuple(dict.fromkeys((*numbers, *quoted(value, texts))))


def check(
    query: str, claims: Sequence[str], parts: Sequence[PassageBatch], asked: QuestionSpec, history: Sequence[Turn] = ()
) -> Generator[list[Ask], list[Reply], SupportReplies]:
    """What each pack says about each claim: a list of Support or None a claim.

    All claims in one call a pack; in the mode per_claim each claim in a call of its own.
    """
    groups = [[n] for n in range(1, len(claims) + 1)] if asked.settings.per_claim else [list(range(1, len(claims) + 1))]
    turns = [(group, pack) for pack in parts for group in groups if group]
    replies = yield from interleave(
        [
            _checked(
                [*earlier_turns(history), Block.of("question", query)], {n: claims[n - 1] for n in group}, pack, asked
            )
            for group, pack in turns
        ]
    )
    supports: list[list[Support | None]] = [[] for _ in claims]
    for (group, _), (verdicts, _, _) in zip(turns, replies, strict=True):
        for n in group:
            supports[n - 1].append(verdicts.get(n))
    reason = next((reason for _, reason, _ in replies if reason), "")
    return SupportReplies(supports, reason, sum(unnamed for _, _, unnamed in replies))


def _checked(
    question: Sequence[Block], claims: Mapping[int, str], pack: PassageBatch, asked: QuestionSpec
) -> Generator[list[Ask], list[Reply], tuple[Mapping[int, Support], str, int]]:
    """What one pack says about some claims, by number; why verdicts are missing; how many named no sentence."""
    sent = pack.sentences
    listing = Listing(
        "claims", "C", claims, lambda item: support_of(item, sent), unnamed=lambda item: unnamed_in(item, sent)
    )
    worded = asked.worded(CHECKING, *question, pack.block, listing.block())
    verdicts = yield from ask_each(asked, worded, SCHEMA, listing)
    return verdicts.of(listing), verdicts.reason, verdicts.unnamed


def judged(plain: Claim, supports: Sequence[Support | None], parts: Sequence[PassageBatch], reason: str = "") -> Claim:
    """A claim with the verdicts of all packs united.

    It fails where a pack gave no verdict and no other supports it: that pack might have.
    """
    known = [support for support in supports if support is not None]
    by = [number for support in known for number in support.by]
    against = [number for support in known for number in support.against]
    if len(known) < len(supports) and not by:
        return replace(plain, status="failed", reason=reason or "no verdict")
    alone = any(support.by and not support.interleave for support in known)
    shown = by or against
    return replace(
        plain,
        supporting=_passages(by),
        joint=bool(by) and not alone,
        contradicting=_passages(against),
        strength=None if not by else "direct" if any(support.by and support.direct for support in known) else "implied",
        window=_window(shown[0], parts) if shown else None,
        reason=SPREAD.format(len(parts)) if len(parts) > 1 and not by else "",
    )


def _passages(places: Sequence[str]) -> tuple[int, ...]:
    return tuple(sorted({int(number.partition(".")[0]) for number in places}))


def _window(number: str, parts: Sequence[PassageBatch]) -> Window:
    sentence = next(pack.sentences[number] for pack in parts if number in pack.sentences)
    return Window(sentence.passage, sentence.sentence.start, sentence.sentence.end)


VERSION = 3


def verify_reference(inputs: VerifyReference, asked: QuestionSpec) -> Asking:
    """The same check as of answer claims. Without passages nothing supports them, and nothing is asked."""
    return (yield from any_accepted(partial(_verify, asked=asked), inputs))


def _verify(inputs: VerifyReference, asked: QuestionSpec) -> Asking:
    parts = passage_batches(inputs.passages, asked.settings.pack)
    checked = yield from check(inputs.query, inputs.claims, parts, asked, inputs.history)
    pairs = enumerate(zip(inputs.claims, checked.supports, strict=True), 1)
    claims = tuple(ReferenceClaim(n, text, _supporting(supports)) for n, (text, supports) in pairs)
    reason = checked.reason if any(claim.supporting is None for claim in claims) else ""
    return ReferenceFacts(claims, max(1, len(parts)), unnamed=checked.unnamed, reason=reason)


def _supporting(supports: list[Support | None]) -> tuple[int, ...] | None:
    """The passages of all packs; None where a pack gave no verdict and no other supports it."""
    passages = {int(number.partition(".")[0]) for support in supports if support is not None for number in support.by}
    return None if None in supports and not passages else tuple(sorted(passages))
