"""Who writes and checks the questions of a set, and pieces of prompts, for test sets, which see no judges or models."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ragauge.core.ask import Ask, Reply
from ragauge.core.curation import Anchor
from ragauge.core.errors import UsageError
from ragauge.core.example import Example
from ragauge.engine.estimate import CostEstimate, estimate_asks
from ragauge.engine.judges import build_judge
from ragauge.engine.session import Session
from ragauge.judges.inputs import VerifyReference, list_reference_claims
from ragauge.judges.judge import AskGenerator, Judge, can_ask_models
from ragauge.judges.model.judge import ModelJudge
from ragauge.judges.model.prompt_blocks import DATA_NOTICE, Block, RequestTexts, fence_blocks
from ragauge.judges.model.question_spec import INTEGER, TEXT, QuestionSpec, build_enum, build_list, build_object
from ragauge.judges.model.reply_parser import list_objects, parse_text, parse_whole_number, parse_word
from ragauge.judges.model.verdicts import NO_VERDICT_REASON, ParsedVerdicts, VerdictList, ask_each, ask_retry
from ragauge.testsets.corpus_view import find_evident_quotation
from ragauge.testsets.generate.draft import CONTRACTS, Brief, Draft, Quote, SourcePassage
from ragauge.testsets.unspaced_words import widen_to_words

__all__ = [
    "DATA_NOTICE",
    "INTEGER",
    "NO_VERDICT_REASON",
    "TEXT",
    "Block",
    "CostEstimate",
    "Judge",
    "ModelJudge",
    "ParsedVerdicts",
    "QuestionSpec",
    "RequestTexts",
    "Session",
    "VerdictList",
    "ask_each",
    "ask_retry",
    "ask_support",
    "build_enum",
    "build_list",
    "build_object",
    "build_question_spec",
    "build_writer",
    "can_ask_models",
    "estimate_asks",
    "fence_blocks",
    "list_objects",
    "parse_text",
    "parse_whole_number",
    "parse_word",
]


def build_writer(spec: str) -> ModelJudge:
    """The model that writes questions, by its spec as judges are named.

    Raises:
        UsageError: no model: the local judge writes nothing, a hybrid one is no writer.
        UnknownName: no such provider.
    """
    judge = build_judge(spec)
    if not isinstance(judge, ModelJudge):
        raise UsageError(f"--model {spec}: expected a language model that writes questions, such as openai:MODEL.")
    return judge


def build_question_spec(writer: ModelJudge, question: str, version: int) -> QuestionSpec:
    """A question of a test set's own, as this model is asked it."""
    return QuestionSpec(question, version, writer.spec.settings)


def ask_support(judge: Judge, example: Example, passages: tuple[str, ...]) -> AskGenerator:
    """Which passages state each claim of an example's reference."""
    claims = list_reference_claims(example)
    return judge.ask(VerifyReference(example.query, claims, passages))


QUESTION, VERSION = "write_questions", 1
MAX_QUOTES = 6  # of one question that are read
RULES = f"""You write questions that people would put to a search system whose documents you see a part of. \
{DATA_NOTICE}
Write one question for each request [Q1], [Q2], …, each about another fact.
question: as somebody asks who does not have the passages: it names its subject, never "the passage", "the text", "the \
author", nor he, she, it or this without a name. In words of your own: never copy a sentence, never give away the \
answer.
answer: short and complete, from the passages alone.
evidence: for each fact that the answer needs, the number of its passage and a quotation, word for word, as short as \
shows it: one sentence, two at most.
If the passages do not allow such a question, give an empty question.
Reply with JSON only."""
ITEM: Mapping[str, Any] = {"question": TEXT, "answer": TEXT, "evidence": build_list(passage=INTEGER, quote=TEXT)}
SCHEMA = build_object(questions=build_list(n=INTEGER, **ITEM))


class WrittenQuestion(NamedTuple):
    """What a reply says of one request."""

    question: str
    answer: str
    quotes: tuple[Quote, ...]


def write_questions(brief: Brief, writer: ModelJudge) -> Generator[list[Ask], list[Reply], tuple[Draft, ...]]:
    """One draft a request; what a reply left out is asked for once more, and is then a draft that was not written.

    Passages and requests are numbered here, and so are the offsets of the evidence ours.
    """
    contract = CONTRACTS[brief.type]
    requests = {n: _format_request(contract.asks, manner) for n, manner in enumerate(brief.manners, 1)}
    listing = VerdictList("questions", "Q", requests, _parse_question)
    blocks = [
        Block("passages", [(f"P{n}", passage.text) for n, passage in enumerate(brief.passages, 1)]),
        listing.build_block(),
    ]
    if brief.earlier:
        blocks.append(Block.of("asked before, ask for other facts", *brief.earlier))
    text = "\n".join(fence_blocks(blocks))
    verdicts = yield from ask_each(
        build_question_spec(writer, QUESTION, VERSION), RequestTexts(RULES, text), SCHEMA, listing
    )
    questions = verdicts.of(listing)
    return tuple(_build_draft(brief, n, questions.get(n), verdicts) for n in requests)


def _format_request(asks: str, manner: Mapping[str, str]) -> str:
    return ". ".join([f"A question that {asks}", *(f"{name}: {value}" for name, value in manner.items())]) + "."


def _parse_question(item: Mapping[str, Any]) -> WrittenQuestion | None:
    """A question with what shows its answer; None for an item that is none."""
    if not isinstance(item.get("question"), str) or not isinstance(item.get("answer"), str):
        return None
    quotes = [
        Quote(parse_whole_number(evidence.get("passage")) or 0, parse_text(evidence.get("quote")))
        for evidence in list_objects(item.get("evidence"))
    ]
    return WrittenQuestion(parse_text(item["question"]), parse_text(item["answer"]), tuple(quotes[:MAX_QUOTES]))


def _build_draft(brief: Brief, n: int, question: WrittenQuestion | None, verdicts: ParsedVerdicts) -> Draft:
    empty = Draft(brief.type, "", "", brief.passages, manner=brief.manners[n - 1])
    if question is None and verdicts.reason not in ("", NO_VERDICT_REASON):
        return replace(empty, unwritten="call_failed", fault=verdicts.reason)
    if question is None:
        heard = next((text for text in reversed(verdicts.texts) if text.strip()), "")
        return replace(empty, unwritten="unreadable", fault="no question, even after a retry", heard=heard)
    if not question.question:
        return replace(empty, unwritten="declined", fault="the model replied that the passages allow no such question")
    anchors = tuple(locate_anchor(quote, brief.passages, question.answer) for quote in question.quotes)
    return replace(empty, question=question.question, answer=question.answer, quotes=question.quotes, anchors=anchors)


def locate_anchor(quote: Quote, passages: tuple[SourcePassage, ...], answer: str) -> Anchor | None:
    """Where a quotation stands in its document, with its words whole; a bare answer's whole sentence.

    None for a passage not sent, words that it does not hold, and a quotation that shows too little.
    """
    if not 1 <= quote.passage <= len(passages):
        return None
    source = passages[quote.passage - 1]
    bounds = find_evident_quotation(quote.text, answer, source.text)
    if bounds is None:
        return None
    start, end = widen_to_words(source.text, *bounds)
    return Anchor(source.doc_id, source.start + start, source.start + end, source.text[start:end])
