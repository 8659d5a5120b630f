"""write_questions: up to three questions a call, with their answers and the quotations that show them."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ragauge.core.ask import Ask, Reply
from ragauge.core.curation import Anchor
from ragauge.testsets.generate.draft import CONTRACTS, Brief, Draft, Quote, SourcePassage
from ragauge.testsets.generate.question_writer import (
    DATA,
    INTEGER,
    NO_VERDICT,
    TEXT,
    Block,
    Listing,
    ModelJudge,
    VerdictsRead,
    Worded,
    a_list,
    an_object,
    ask_each,
    asked_by,
    fenced_blocks,
    objects,
    whole_number,
    written,
)
from ragauge.testsets.quote_match import evident
from ragauge.testsets.whole_words import whole_words

QUESTION, VERSION = "write_questions", 1
MOST_QUOTES = 6  # of one question that are read
RULES = f"""You write questions that people would put to a search system whose documents you see a part of. {DATA}
Write one question for each request [Q1], [Q2], …, each about another fact.
question: as somebody asks who does not have the passages: it names its subject, never "the passage", "the text", "the \
author", nor he, she, it or this without a name. In words of your own: never copy a sentence, never give away the \
answer.
answer: short and complete, from the passages alone.
evidence: for each fact that the answer needs, the number of its passage and a quotation, word for word, as short as \
shows it: one sentence, two at most.
If the passages do not allow such a question, give an empty question.
Reply with JSON only."""
ITEM: Mapping[str, Any] = {"question": TEXT, "answer": TEXT, "evidence": a_list(passage=INTEGER, quote=TEXT)}
SCHEMA = an_object(questions=a_list(n=INTEGER, **ITEM))


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
    requests = {n: _request(contract.asks, manner) for n, manner in enumerate(brief.manners, 1)}
    listing = Listing("questions", "Q", requests, _read)
    blocks = [Block("passages", [(f"P{n}", one.text) for n, one in enumerate(brief.passages, 1)]), listing.block()]
    if brief.earlier:
        blocks.append(Block.of("asked before, ask for other facts", *brief.earlier))
    text = "\n".join(fenced_blocks(blocks))
    verdicts = yield from ask_each(asked_by(writer, QUESTION, VERSION), Worded(RULES, text), SCHEMA, listing)
    found = verdicts.of(listing)
    return tuple(_draft(brief, n, found.get(n), verdicts) for n in requests)


def _request(asks: str, manner: Mapping[str, str]) -> str:
    return ". ".join([f"A question that {asks}", *(f"{name}: {value}" for name, value in manner.items())]) + "."


def _read(item: Mapping[str, Any]) -> WrittenQuestion | None:
    """A question with what shows its answer; None for an item that is none."""
    if not isinstance(item.get("question"), str) or not isinstance(item.get("answer"), str):
        return None
    quotes = [
        Quote(whole_number(one.get("passage")) or 0, written(one.get("quote"))) for one in objects(item.get("evidence"))
    ]
    return WrittenQuestion(written(item["question"]), written(item["answer"]), tuple(quotes[:MOST_QUOTES]))


def _draft(brief: Brief, n: int, found: WrittenQuestion | None, verdicts: VerdictsRead) -> Draft:
    empty = Draft(brief.type, "", "", brief.passages, manner=brief.manners[n - 1])
    if found is None and verdicts.reason not in ("", NO_VERDICT):
        return replace(empty, unwritten="call_failed", fault=verdicts.reason)
    if found is None:
        heard = next((text for text in reversed(verdicts.texts) if text.strip()), "")
        return replace(empty, unwritten="unreadable", fault="no question in the reply, asked twice", heard=heard)
    if not found.question:
        return replace(empty, unwritten="declined", fault="by the model, the passages allow no such question")
    anchors = tuple(anchor_of(quote, brief.passages, found.answer) for quote in found.quotes)
    return replace(empty, question=found.question, answer=found.answer, quotes=found.quotes, anchors=anchors)


def anchor_of(quote: Quote, passages: tuple[SourcePassage, ...], answer: str) -> Anchor | None:
    """Where a quotation stands in its document, with its words whole; a bare answer's whole sentence.

    None for a passage not sent, words that it does not hold, and a quotation that shows too little.
    """
    if not 1 <= quote.passage <= len(passages):
        return None
    source = passages[quote.passage - 1]
    place = evident(quote.text, answer, source.text)
    if place is None:
        return None
    start, end = whole_words(source.text, *place)
    return Anchor(source.doc_id, source.start + start, source.start + end, source.text[start:end])
