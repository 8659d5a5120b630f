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
from ragauge.judges.judge import AskGenerator, verify_accepted
from ragauge.judges.model.prompt_blocks import Block, NumberedSentence, Prompt, build_turn_blocks
from ragauge.judges.model.question_spec import (
    INTEGER,
    TEXTS,
    YES_NO,
    PassageBatch,
    QuestionSpec,
    batch_passages,
    build_enum,
    build_list,
    build_object,
)
from ragauge.judges.model.reply_parser import find_quoted_sentences, find_sentence_numbers, parse_bool, parse_word
from ragauge.judges.model.verdicts import VerdictList, ask_each, interleave

VERDICTS = ("supported", "contradicted", "absent")
FIELDS: Mapping[str, Any] = {
    "by": TEXTS,
    "against": TEXTS,
    "verdict": build_enum(*VERDICTS),
    "together": YES_NO,
    "direct": YES_NO,
}  # in this order: what shows it is written before the verdict
SCHEMA = build_object(claims=build_list(n=INTEGER, **FIELDS))
BY_TASK = """by: numbers of the passage sentences that support it, such as "2.1", from every passage that does, copies \
too; [] if none does;
against: numbers of the passage sentences that contradict it; [] if none does;"""
RULES_TASK = f"""For each claim give
{BY_TASK}
verdict: supported (the passages state it, or it follows from them directly), contradicted (they say otherwise), or \
absent (neither; a plausible guess is absent);
together: true if no passage supports it alone, but several do together;
direct: true if it is stated, false if it only follows."""
FORM = f"""{BY_TASK}
verdict: supported, contradicted or absent;
together: true if no passage supports it alone, but several do together;
direct: true if it is stated, false if it only follows."""
CHECK_PROMPT = Prompt(
    "verify_claims",
    f"""Check the claims [C1], [C2], … against the passages.
{RULES_TASK}
Give every claim's number n.""",
    f"For every claim [C1], [C2], … give its number n and\n{FORM}",
    ("question", "passages", "claims"),
)
SPREAD_REASON = "judged in {} parts: support spread over several of them is not detected"


class SupportReplies(NamedTuple):
    """What each pack says about each claim, in the order of the packs."""

    supports: list[list[Support | None]]  #: by claim, one a pack.
    reason: str  #: why verdicts are missing; "" where none are.
    unnamed: int  #: verdicts that named no sentence when first asked for.


@dataclass(frozen=True, slots=True)
class Support:
    """One pack's verdict on a claim; sentences by number, such as 2.1."""

    by: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    interleave: bool = False
    direct: bool = True


def parse_support(item: Mapping[str, Any], sent: Mapping[str, NumberedSentence]) -> Support | None:
    """The verdict that a reply gives; None where it is no verdict.

    Numbers never sent are dropped; a quote of one sentence that was sent stands for its number. The verdict's word and
    its numbers have to agree: support without a sentence that shows it, or a contradiction without one, is no verdict.
    """
    verdict = parse_word(item.get("verdict"), VERDICTS)
    by, against = _parse_numbers(item.get("by"), sent), _parse_numbers(item.get("against"), sent)
    if verdict == "absent":
        return Support()
    if verdict == "supported" and by:
        return Support(
            by, against, parse_bool(item.get("together")) or False, parse_bool(item.get("direct")) is not False
        )
    if verdict == "contradicted" and against:
        return Support((), against)
    return None


def count_unnamed(item: Mapping[str, Any], sent: Mapping[str, NumberedSentence]) -> int:
    """1 where the verdict of a reply needs a sentence that shows it and names none."""
    decides = parse_word(item.get("verdict"), VERDICTS) in ("supported", "contradicted")
    return int(decides and parse_support(item, sent) is None)


def _parse_numbers(value: Any, sent: Mapping[str, NumberedSentence]) -> tuple[str, ...]:
    """The sentences that a reply names, by number or by a quote."""
    numbers = find_sentence_numbers(value, sent)
    if not value or len(numbers) == (len(value) if isinstance(value, list) else 1):
        return numbers
    texts = {number: numbered_sentence.sentence.text for number, numbered_sentence in sent.items()}
    return tuple(dict.fromkeys((*numbers, *find_quoted_sentences(value, texts))))


def check_claims(
    query: str,
    claims: Sequence[str],
    batches: Sequence[PassageBatch],
    question_spec: QuestionSpec,
    history: Sequence[Turn] = (),
) -> Generator[list[Ask], list[Reply], SupportReplies]:
    """What each pack says about each claim: a list of Support or None a claim.

    All claims in one call a pack; in the mode per_claim each claim in a call of its own.
    """
    groups = (
        [[n] for n in range(1, len(claims) + 1)]
        if question_spec.settings.per_claim
        else [list(range(1, len(claims) + 1))]
    )
    turns = [(group, pack) for pack in batches for group in groups if group]
    replies = yield from interleave(
        [
            _check_batch(
                [*build_turn_blocks(history), Block.of("question", query)],
                {n: claims[n - 1] for n in group},
                pack,
                question_spec,
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


def _check_batch(
    question: Sequence[Block], claims: Mapping[int, str], pack: PassageBatch, question_spec: QuestionSpec
) -> Generator[list[Ask], list[Reply], tuple[Mapping[int, Support], str, int]]:
    """What one pack says about some claims, by number; why verdicts are missing; how many named no sentence."""
    sent = pack.sentences
    listing = VerdictList(
        "claims", "C", claims, lambda item: parse_support(item, sent), unnamed=lambda item: count_unnamed(item, sent)
    )
    worded = question_spec.build_texts(CHECK_PROMPT, *question, pack.block, listing.build_block())
    verdicts = yield from ask_each(question_spec, worded, SCHEMA, listing)
    return verdicts.of(listing), verdicts.reason, verdicts.unnamed


def apply_supports(
    claim: Claim, supports: Sequence[Support | None], batches: Sequence[PassageBatch], reason: str = ""
) -> Claim:
    """A claim with the verdicts of all packs united.

    It fails where a pack gave no verdict and no other supports it: that pack might have.
    """
    given_supports = [support for support in supports if support is not None]
    by = [number for support in given_supports for number in support.by]
    against = [number for support in given_supports for number in support.against]
    if len(given_supports) < len(supports) and not by:
        return replace(claim, status="failed", reason=reason or "no verdict")
    alone = any(support.by and not support.interleave for support in given_supports)
    evidence = by or against
    return replace(
        claim,
        supporting=_list_passages(by),
        joint=bool(by) and not alone,
        contradicting=_list_passages(against),
        strength=None
        if not by
        else "direct"
        if any(support.by and support.direct for support in given_supports)
        else "implied",
        window=_build_window(evidence[0], batches) if evidence else None,
        reason=SPREAD_REASON.format(len(batches)) if len(batches) > 1 and not by else "",
    )


def _list_passages(numbers: Sequence[str]) -> tuple[int, ...]:
    return tuple(sorted({int(number.partition(".")[0]) for number in numbers}))


def _build_window(number: str, batches: Sequence[PassageBatch]) -> Window:
    sentence = next(pack.sentences[number] for pack in batches if number in pack.sentences)
    return Window(sentence.passage, sentence.sentence.start, sentence.sentence.end)


VERSION = 3


def verify_reference(inputs: VerifyReference, question_spec: QuestionSpec) -> AskGenerator:
    """The same check as of answer claims. Without passages nothing supports them, and nothing is asked."""
    return (yield from verify_accepted(partial(_verify_claims, question_spec=question_spec), inputs))


def _verify_claims(inputs: VerifyReference, question_spec: QuestionSpec) -> AskGenerator:
    batches = batch_passages(inputs.passages, question_spec.settings.pack)
    checked = yield from check_claims(inputs.query, inputs.claims, batches, question_spec, inputs.history)
    pairs = enumerate(zip(inputs.claims, checked.supports, strict=True), 1)
    claims = tuple(ReferenceClaim(n, text, _find_supporting(supports)) for n, (text, supports) in pairs)
    reason = checked.reason if any(claim.supporting is None for claim in claims) else ""
    return ReferenceFacts(claims, max(1, len(batches)), unnamed=checked.unnamed, reason=reason)


def _find_supporting(supports: list[Support | None]) -> tuple[int, ...] | None:
    """The passages of all packs; None where a pack gave no verdict and no other supports it."""
    passages = {int(number.partition(".")[0]) for support in supports if support is not None for number in support.by}
    return None if None in supports and not passages else tuple(sorted(passages))
