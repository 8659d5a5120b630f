"""Faults that a judge finds: an answer without support, a document not needed, an answer where there should be none."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ragauge.core.ask import Ask, Reply
from ragauge.core.facts import ReferenceFacts
from ragauge.testsets.generate.draft import Draft
from ragauge.testsets.generate.question_writer import (
    DATA_NOTICE,
    TEXT,
    Block,
    Judge,
    ModelJudge,
    RequestTexts,
    ask_retry,
    ask_support,
    build_enum,
    build_object,
    build_question_spec,
    fence_blocks,
    parse_text,
    parse_word,
)
from ragauge.text.sentences import split_sentences

QUESTION, VERSION = "answerable", 1
MAX_PASSAGES = 10  # passages that an unanswerable question is held against
DEGREES = ("yes", "partly", "no")
ANSWERABLE = f"""You check whether passages answer a question. {DATA_NOTICE}
answers: yes if the passages state what the question asks for, partly if they state a part of it, no if they do not. \
Being about the same subject is no answer.
sentence: the sentence that answers it, word for word; "" if none does.
Reply with JSON only."""
SCHEMA = build_object(answers=build_enum(*DEGREES), sentence=TEXT)
FaultGenerator = Generator[list[Ask], list[Reply], "tuple[str, str] | None"]


class AnswerDegree(NamedTuple):
    """Whether passages answer a question, and the sentence that does; "" = no verdict."""

    answers: str
    sentence: str


def find_gold_fault(draft: Draft, judge: Judge) -> FaultGenerator:
    """The test that a draft with gold fails, and why: `unsupported`, then for two documents `hop_not_needed`."""
    is_supported = yield from _ask_support(draft, judge, list_gold_sentences(draft))
    if is_supported is not True:
        problem = "the judge gave no verdict" if is_supported is None else "the gold does not support the whole answer"
        return "unsupported", problem
    for left_out in _list_hops(draft):
        alone = yield from _ask_support(draft, judge, _select_other_texts(draft, left_out))
        if alone is not False:
            return ("hop_not_needed", f"the answer needs no {left_out!r}" if alone else "the judge gave no verdict")
    return None


def list_checks(draft: Draft, judge: Judge) -> Iterator[Generator[list[Ask], list[Reply], bool | None]]:
    """Each check that `find_gold_fault` makes where every one is passed."""
    yield _ask_support(draft, judge, list_gold_sentences(draft))
    for left_out in _list_hops(draft):
        yield _ask_support(draft, judge, _select_other_texts(draft, left_out))


def _list_hops(draft: Draft) -> tuple[str, ...]:
    return draft.gold if draft.type in ("multi_hop", "comparison") else ()


def _select_other_texts(draft: Draft, left_out: str) -> tuple[str, ...]:
    gold = [doc_id for doc_id in draft.gold if doc_id != left_out]
    return tuple(passage.text for passage in draft.passages if passage.doc_id in gold)


def list_gold_sentences(draft: Draft) -> tuple[str, ...]:
    """The sentences that its evidence stands in, each once: those of a passage together, in their order."""
    texts = []
    for passage in draft.passages:
        spans = [span for span in draft.stretches if span.doc_id == passage.doc_id]
        placed = [
            (passage.start + span.start, passage.start + span.end, span.text) for span in split_sentences(passage.text)
        ]
        matching = [text for start, end, text in placed if any(span.start < end and start < span.end for span in spans)]
        if matching:
            texts.append(" ".join(matching))
    return tuple(texts)


def _ask_support(
    draft: Draft, judge: Judge, passages: tuple[str, ...]
) -> Generator[list[Ask], list[Reply], bool | None]:
    """Whether passages state the whole answer; None where that is not known."""
    # criteria and segments are not seen: the judge sees question, answer and passages
    facts = yield from ask_support(judge, replace(draft.example(), references=(draft.answer,)), passages)
    if not isinstance(facts, ReferenceFacts):
        return None
    states = [claim.supporting for claim in facts.claims]
    return False if () in states else None if None in states or not states else True


def ask_answerable(
    question: str, passages: Sequence[str], judge: ModelJudge
) -> Generator[list[Ask], list[Reply], AnswerDegree]:
    """Whether the best passages of the corpus answer a question; asked twice where no verdict comes."""
    block = Block("passages", [(f"P{n}", text) for n, text in enumerate(passages, 1)])
    worded = RequestTexts(ANSWERABLE, "\n".join(fence_blocks([Block.of("question", question), block])))
    degrees, _ = yield from ask_retry(
        build_question_spec(judge, QUESTION, VERSION),
        worded,
        SCHEMA,
        _parse_degree,
        lambda degree: bool(degree.answers),
    )
    return degrees[-1]


def _parse_degree(value: Mapping[str, Any]) -> AnswerDegree:
    return AnswerDegree(parse_word(value.get("answers"), DEGREES) or "", parse_text(value.get("sentence")))


def find_answerable_fault(draft: Draft, passages: Sequence[str], judge: ModelJudge) -> FaultGenerator:
    """`answerable`, and the sentence, where the best passages answer a question that nothing should answer."""
    degree = yield from ask_answerable(draft.question, passages, judge)
    if degree.answers == "no":
        return None
    problem = f"answered {degree.answers}: {degree.sentence}" if degree.answers else "the judge gave no verdict"
    return "answerable", problem
