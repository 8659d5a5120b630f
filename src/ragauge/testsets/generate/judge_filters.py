"""Faults that a judge finds: an answer without support, a document not needed, an answer where there should be none."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ragauge.core.ask import Ask, Reply
from ragauge.core.facts import ReferenceFacts
from ragauge.testsets.generate.draft import Draft
from ragauge.testsets.generate.question_writer import (
    DATA,
    TEXT,
    Block,
    Judge,
    ModelJudge,
    Worded,
    an_object,
    ask_retry,
    asked_by,
    fenced_blocks,
    one_of,
    supports,
    word,
    written,
)
from ragauge.text.sentences import split

QUESTION, VERSION = "answerable", 1
BEST = 10  # passages that an unanswerable question is held against
DEGREES = ("yes", "partly", "no")
ANSWERABLE = f"""You check whether passages answer a question. {DATA}
answers: yes if the passages state what the question asks for, partly if they state a part of it, no if they do not. \
Being about the same subject is no answer.
sentence: the sentence that answers it, word for word; "" if none does.
Reply with JSON only."""
SCHEMA = an_object(answers=one_of(*DEGREES), sentence=TEXT)
Judging = Generator[list[Ask], list[Reply], "tuple[str, str] | None"]


class Degree(NamedTuple):
    """Whether passages answer a question, and the sentence that does; "" = no verdict."""

    answers: str
    sentence: str


def judged(draft: Draft, judge: Judge) -> Judging:
    """The test that a draft with gold fails, and why: `unsupported`, then for two documents `hop_not_needed`."""
    known = yield from _supported(draft, judge, gold_sentences(draft))
    if known is not True:
        told = "the judge gave no verdict" if known is None else "the gold does not state all of the answer"
        return "unsupported", told
    for left_out in _hops(draft):
        alone = yield from _supported(draft, judge, _without(draft, left_out))
        if alone is not False:
            return "hop_not_needed", f"the answer stands without {left_out!r}" if alone else "the judge gave no verdict"
    return None


def all_checks(draft: Draft, judge: Judge) -> Iterator[Generator[list[Ask], list[Reply], bool | None]]:
    """Each check that `judged` makes where every one is passed."""
    yield _supported(draft, judge, gold_sentences(draft))
    for left_out in _hops(draft):
        yield _supported(draft, judge, _without(draft, left_out))


def _hops(draft: Draft) -> tuple[str, ...]:
    return draft.gold if draft.type in ("multi_hop", "comparison") else ()


def _without(draft: Draft, left_out: str) -> tuple[str, ...]:
    gold = [doc_id for doc_id in draft.gold if doc_id != left_out]
    return tuple(one.text for one in draft.passages if one.doc_id in gold)


def gold_sentences(draft: Draft) -> tuple[str, ...]:
    """The sentences that its evidence stands in, each once: those of a passage together, in their order."""
    found = []
    for passage in draft.passages:
        spans = [one for one in draft.stretches if one.doc_id == passage.doc_id]
        placed = [(passage.start + one.start, passage.start + one.end, one.text) for one in split(passage.text)]
        held = [text for start, end, text in placed if any(one.start < end and start < one.end for one in spans)]
        if held:
            found.append(" ".join(held))
    return tuple(found)


def _supported(draft: Draft, judge: Judge, passages: tuple[str, ...]) -> Generator[list[Ask], list[Reply], bool | None]:
    """Whether passages state the whole answer; None where that is not known."""
    # criteria and segments are not seen: the judge sees question, answer and passages
    facts = yield from supports(judge, replace(draft.example(), references=(draft.answer,)), passages)
    if not isinstance(facts, ReferenceFacts):
        return None
    states = [claim.supporting for claim in facts.claims]
    return False if () in states else None if None in states or not states else True


def answered(question: str, passages: Sequence[str], asked: ModelJudge) -> Generator[list[Ask], list[Reply], Degree]:
    """Whether the best passages of the corpus answer a question; asked twice where no verdict comes."""
    shown = Block("passages", [(f"P{n}", text) for n, text in enumerate(passages, 1)])
    worded = Worded(ANSWERABLE, "\n".join(fenced_blocks([Block.of("question", question), shown])))
    found, _ = yield from ask_retry(
        asked_by(asked, QUESTION, VERSION), worded, SCHEMA, _degree, lambda degree: bool(degree.answers)
    )
    return found[-1]


def _degree(value: Mapping[str, Any]) -> Degree:
    return Degree(word(value.get("answers"), DEGREES) or "", written(value.get("sentence")))


def unanswered(draft: Draft, passages: Sequence[str], asked: ModelJudge) -> Judging:
    """`answerable`, and the sentence, where the best passages answer a question that nothing should answer."""
    degree = yield from answered(draft.question, passages, asked)
    if degree.answers == "no":
        return None
    told = f"answered {degree.answers}: {degree.sentence}" if degree.answers else "the judge gave no verdict"
    return "answerable", told
