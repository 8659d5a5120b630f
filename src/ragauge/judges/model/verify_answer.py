"""verify_answer: the claims of each sentence, their support, whether the answer addresses the question and refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragauge.core.facts import Address, AnswerFacts, Claim
from ragauge.judges.inputs import VerifyAnswer
from ragauge.judges.judge import AskGenerator
from ragauge.judges.model.prompt_blocks import Block, Prompt, build_turn_blocks
from ragauge.judges.model.question_spec import (
    INTEGER,
    TEXT,
    YES_NO,
    PassageBatch,
    QuestionSpec,
    Schema,
    batch_passages,
    build_enum,
    build_list,
    build_object,
)
from ragauge.judges.model.reply_parser import list_objects, parse_bool, parse_text, parse_word
from ragauge.judges.model.verdicts import VerdictList, ask_each
from ragauge.judges.model.verify_reference import (
    FIELDS,
    FORM,
    RULES_TASK,
    Support,
    apply_supports,
    check_claims,
    count_unnamed,
    parse_support,
)
from ragauge.text.sentences import Sentence, split_sentences

VERSION = 3
ADDRESS_LEVELS: Mapping[str, Address] = {"fully": "fully", "partly": "partly", "no": "no"}
CLAIMS_TASK = """For every answer sentence [S1], [S2], … list its claims: short statements that can be checked by \
themselves (names instead of pronouns, one fact each, nothing added). A sentence that states nothing to check \
(greeting, question, pointer, refusal) gets an empty list."""
WHOLE_TASK = """Of the whole answer: addresses = fully, partly or no: does it answer the question, right or wrong? \
refuses = true if it declines to answer or says that the information is not there."""
LISTED_FORM = """For every answer sentence [S1], [S2], … give its number n and the list of its claims, each a text; an \
empty list where it has none."""
WHOLE_FORM = "Of the whole answer: addresses: fully, partly or no; refuses: true or false."
ECHO_NOTE = (
    "Claims take the names that they need from there. What only repeats the user's earlier words is no claim, unless "
    "the passages say otherwise."
)
CHECK_PROMPT = Prompt(
    "verify_answer",
    f"""Check the answer against the passages.
{CLAIMS_TASK}
{RULES_TASK}
{WHOLE_TASK}""",
    f"{LISTED_FORM} For each claim give\n{FORM}\n{WHOLE_FORM}",
    ("question", "passages", "answer"),
    ECHO_NOTE,
)
LIST_PROMPT = Prompt(
    "list_claims",
    f"""List the claims of the answer.
{CLAIMS_TASK}
{WHOLE_TASK}""",
    f"{LISTED_FORM}\n{WHOLE_FORM}",
    ("question", "answer"),
    ECHO_NOTE,
)


def _build_schema(**claim: Schema) -> Schema:
    sentences = build_list(n=INTEGER, claims=build_list(text=TEXT, **claim))
    return build_object(sentences=sentences, addresses=build_enum(*ADDRESS_LEVELS), refuses=YES_NO)


LIST_SCHEMA, CHECK_SCHEMA = _build_schema(), _build_schema(**FIELDS)


@dataclass(frozen=True, slots=True)
class SentenceVerdicts:
    """The claims of one sentence with their support, None where a claim's verdict is missing; lost = claims unread."""

    claims: tuple[tuple[str, Support | None], ...]
    lost: bool = False

    @property
    def whole(self) -> bool:
        """Nothing is missing."""
        return not self.lost and all(support is not None for _, support in self.claims)


def verify_answer(inputs: VerifyAnswer, question_spec: QuestionSpec) -> AskGenerator:
    """Sentences are numbered by us; each comes back with its claims or none, each claim with its verdict.

    A sentence that is missing, or has a claim without a verdict, is asked about again alone. What then still lacks a
    verdict is a failed claim; a sentence that lacks everything is one failed claim of unknown text. Passages beyond the
    first pack are asked about with the claims that the first pack gave. Without passages support is not asked.
    """
    recorded = inputs.passages is not None
    sentences = {sentence.n: sentence for sentence in split_sentences(inputs.answer)}
    if not sentences:
        return AnswerFacts((), "no", False, support_asked=recorded)
    batches = batch_passages(inputs.passages or (), question_spec.settings.pack)
    fused = batches[0] if batches and not question_spec.settings.per_claim else None
    listing = VerdictList(
        "sentences",
        "S",
        {n: sentence.text for n, sentence in sentences.items()},
        lambda item: _parse_sentence(item, fused),
        settles=lambda verdicts: verdicts.whole,
        unnamed=lambda item: _count_unnamed(item, fused),
    )
    passages = [] if fused is None else [fused.block]
    prompt, schema = (LIST_PROMPT, LIST_SCHEMA) if fused is None else (CHECK_PROMPT, CHECK_SCHEMA)
    turns = build_turn_blocks(inputs.history)
    worded = question_spec.build_texts(
        prompt, *turns, Block.of("question", inputs.query), *passages, listing.build_block("answer")
    )
    replies = yield from ask_each(question_spec, worded, schema, listing)
    address, refuse = _parse_whole_answer(replies.values)
    numbered_claims = list(_number_claims(sentences, replies.of(listing), replies.reason))
    texts = [claim.text or "" for claim, _ in numbered_claims if claim.text]
    later = yield from check_claims(
        inputs.query, texts, batches if fused is None else batches[1:], question_spec, inputs.history
    )
    verdicts = iter(later.supports)
    claims = tuple(
        claim
        if claim.text is None or not batches
        else apply_supports(
            claim, [*first, *next(verdicts)], batches, replies.reason if None in first else later.reason
        )
        for claim, support in numbered_claims
        for first in [[] if fused is None else [support]]
    )
    unnamed = replies.unnamed + later.unnamed
    return AnswerFacts(claims, address, refuse, support_asked=recorded, parts=max(1, len(batches)), unnamed=unnamed)


def _parse_sentence(item: Mapping[str, Any], pack: PassageBatch | None) -> SentenceVerdicts | None:
    """The claims of one sentence in a reply; without a pack, support is not asked of it."""
    claims = item.get("claims")
    if not isinstance(claims, list):
        return None
    read = tuple(
        (text, Support() if pack is None else parse_support(claim, pack.sentences))
        for claim in list_objects(claims)
        if (text := parse_text(claim.get("text")))
    )
    return SentenceVerdicts(read, lost=len(read) < len(claims))


def _count_unnamed(item: Mapping[str, Any], pack: PassageBatch | None) -> int:
    """How many claims of a sentence have a verdict that names no sentence of the passages, and should."""
    return (
        0 if pack is None else sum(count_unnamed(claim, pack.sentences) for claim in list_objects(item.get("claims")))
    )


def _number_claims(
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


def _parse_whole_answer(values: Sequence[Mapping[str, Any]]) -> tuple[Address | None, bool | None]:
    """What the replies say of the whole answer: each from the first that says it."""
    addresses = (parse_word(value.get("addresses"), ADDRESS_LEVELS) for value in values)
    refuses = (parse_bool(value.get("refuses")) for value in values)
    address = next((ADDRESS_LEVELS[address_read] for address_read in addresses if address_read is not None), None)
    return address, next((refusal for refusal in refuses if refusal is not None), None)
