"""verify_answer: the claims of each sentence, their support, whether the answer addresses the question and refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragauge.core.facts import Address, AnswerFacts, Claim
from ragauge.judges.inputs import VerifyAnswer
from ragauge.judges.judge import Asking
from ragauge.judges.model.prompt_blocks import Block, Prompt, earlier_turns
from ragauge.judges.model.question_spec import (
    INTEGER,
    TEXT,
    YES_NO,
    PassageBatch,
    QuestionSpec,
    Schema,
    a_list,
    an_object,
    one_of,
    passage_batches,
)
from ragauge.judges.model.reply_parser import objects, word, written, yes
from ragauge.judges.model.verdicts import Listing, ask_each
from ragauge.judges.model.verify_reference import FIELDS, FORM, RULES, Support, check, judged, support_of, unnamed_in
from ragauge.text.sentences import Sentence, split

VERSION = 3
ADDRESSES: Mapping[str, Address] = {"fully": "fully", "partly": "partly", "no": "no"}
CLAIMS = """For every answer sentence [S1], [S2], … list its claims: short statements that can be checked by \
themselves (names instead of pronouns, one fact each, nothing added). A sentence that states nothing to check \
(greeting, question, pointer, refusal) gets an empty list."""
WHOLE = """Of the whole answer: addresses = fully, partly or no: does it answer the question, right or wrong? \
refuses = true if it declines to answer or says that the information is not there."""
LISTED_FORM = """For every answer sentence [S1], [S2], … give its number n and the list of its claims, each a text; an \
empty list where it has none."""
WHOLE_FORM = "Of the whole answer: addresses: fully, partly or no; refuses: true or false."
ECHOES = (
    "Claims take the names that they need from there. What only repeats the user's earlier words is no claim, unless "
    "the passages say otherwise."
)
CHECKING = Prompt(
    "verify_answer",
    f"""Check the answer against the passages.
{CLAIMS}
{RULES}
{WHOLE}""",
    f"{LISTED_FORM} For each claim give\n{FORM}\n{WHOLE_FORM}",
    ("question", "passages", "answer"),
    ECHOES,
)
LISTING = Prompt(
    "list_claims",
    f"""List the claims of the answer.
{CLAIMS}
{WHOLE}""",
    f"{LISTED_FORM}\n{WHOLE_FORM}",
    ("question", "answer"),
    ECHOES,
)


def _schema(**claim: Schema) -> Schema:
    sentences = a_list(n=INTEGER, claims=a_list(text=TEXT, **claim))
    return an_object(sentences=sentences, addresses=one_of(*ADDRESSES), refuses=YES_NO)


LISTED, CHECKED = _schema(), _schema(**FIELDS)


@dataclass(frozen=True, slots=True)
class SentenceVerdicts:
    """The claims of one sentence with their support, None where a claim's verdict is missing; lost = claims unread."""

    claims: tuple[tuple[str, Support | None], ...]
    lost: bool = False

    @property
    def whole(self) -> bool:
        """Nothing is missing."""
        return not self.lost and all(support is not None for _, support in self.claims)


def verify_answer(inputs: VerifyAnswer, asked: QuestionSpec) -> Asking:
    """Sentences are numbered by us; each comes back with its claims or none, each claim with its verdict.

    A sentence that is missing, or has a claim without a verdict, is asked about again alone. What then still lacks a
    verdict is a failed claim; a sentence that lacks everything is one failed claim of unknown text. Passages beyond the
    first pack are asked about with the claims that the first pack gave. Without passages support is not asked.
    """
    recorded = inputs.passages is not None
    sentences = {sentence.n: sentence for sentence in split(inputs.answer)}
    if not sentences:
        return AnswerFacts((), "no", False, support_asked=recorded)
    parts = passage_batches(inputs.passages or (), asked.settings.pack)
    fused = parts[0] if parts and not asked.settings.per_claim else None
    listing = Listing(
        "sentences",
        "S",
        {n: sentence.text for n, sentence in sentences.items()},
        lambda item: _said(item, fused),
        settles=lambda verdicts: verdicts.whole,
        unnamed=lambda item: _unnamed(item, fused),
    )
    passages = [] if fused is None else [fused.block]
    prompt, schema = (LISTING, LISTED) if fused is None else (CHECKING, CHECKED)
    turns = earlier_turns(inputs.history)
    worded = asked.worded(prompt, *turns, Block.of("question", inputs.query), *passages, listing.block("answer"))
    replies = yield from ask_each(asked, worded, schema, listing)
    address, refuse = _whole(replies.values)
    plain = list(_plain(sentences, replies.of(listing), replies.reason))
    texts = [claim.text or "" for claim, _ in plain if claim.text]
    later = yield from check(inputs.query, texts, parts if fused is None else parts[1:], asked, inputs.history)
    verdicts = iter(later.supports)
    claims = tuple(
        claim
        if claim.text is None or not parts
        else judged(claim, [*first, *next(verdicts)], parts, replies.reason if None in first else later.reason)
        for claim, support in plain
        for first in [[] if fused is None else [support]]
    )
    unnamed = replies.unnamed + later.unnamed
    return AnswerFacts(claims, address, refuse, support_asked=recorded, parts=max(1, len(parts)), unnamed=unnamed)


def _said(item: Mapping[str, Any], pack: PassageBatch | None) -> SentenceVerdicts | None:
    """The claims of one sentence in a reply; without a pack, support is not asked of it."""
    claims = item.get("claims")
    if not isinstance(claims, list):
        return None
    read = tuple(
        (text, Support() if pack is None else support_of(claim, pack.sentences))
        for claim in objects(claims)
        if (text := written(claim.get("text")))
    )
    return SentenceVerdicts(read, lost=len(read) < len(claims))


def _unnamed(item: Mapping[str, Any], pack: PassageBatch | None) -> int:
    """How many claims of a sentence have a verdict that names no sentence of the passages, and should."""
    return 0 if pack is None else sum(unnamed_in(claim, pack.sentences) for claim in objects(item.get("claims")))


def _plain(
    sentences: Mapping[int, Sentence], verdicts: Mapping[int, SentenceVerdicts], reason: str
) -> Iterator[tuple[Claim, Support | None]]:
    """The claims in order, numbered, each with the first call's verdict; text None = the sentence's are unknown."""
    n = 0
    for number, sentence in sentences.items():
        reply = verdicts.get(number, SentenceVerdicts((), lost=True))
        for text, support in reply.claims:
            n += 1
            yield Claim(n, text, sentence.start, sentence.end), support
        if reply.lost:
            n += 1
            yield Claim(n, None, sentence.start, sentence.end, status="failed", reason=reason or "no verdict"), None


def _whole(values: Sequence[Mapping[str, Any]]) -> tuple[Address | None, bool | None]:
    """What the replies say of the whole answer: each from the first that says it."""
    addresses = (word(value.get("addresses"), ADDRESSES) for value in values)
    refuses = (yes(value.get("refuses")) for value in values)
    address = next((ADDRESSES[address_read] for address_read in addresses if address_read is not None), None)
    return address, next((refusal for refusal in refuses if refusal is not None), None)
