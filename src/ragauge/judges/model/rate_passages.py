"""rate_passages, rate_sentences, rate_answer: which passages, or sentences of them or of the answer, are relevant."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence

from ragauge.core.ask import Ask, Reply
from ragauge.core.facts import Rating, RelevanceFacts
from ragauge.judges.inputs import RateAnswer, RatePassages, RateSentences
from ragauge.judges.judge import AskGenerator
from ragauge.judges.model.prompt_blocks import Block, NumberedSentence, Prompt, RequestTexts, build_turn_blocks
from ragauge.judges.model.question_spec import (
    INTEGER,
    TEXT,
    YES_NO,
    QuestionSpec,
    Schema,
    batch_passages,
    build_list,
    build_object,
)
from ragauge.judges.model.reply_parser import parse_bool
from ragauge.judges.model.verdicts import VerdictList, ask_each, interleave

VERSION = 2
PASSAGES_SCHEMA = build_object(passages=build_list(n=INTEGER, relevant=YES_NO))
SENTENCES_SCHEMA = build_object(sentences=build_list(n=TEXT, relevant=YES_NO))
ANSWER_SCHEMA = build_object(sentences=build_list(n=INTEGER, relevant=YES_NO))
NUMBERING_NOTE = "Passage P1 is sentences [1.1], [1.2], …, P2 is [2.1], [2.2], …, and so on."
PASSAGES_PROMPT = Prompt(
    "rate_passages",
    f"""Rate the passages for the question. {NUMBERING_NOTE}
For every passage P1, P2, …: relevant = true if it holds anything that helps to answer the question, false if it \
does not, however close its topic. Give every passage's number n.""",
    f"{NUMBERING_NOTE} For every passage P1, P2, … give its number n and relevant: true or false.",
    ("question", "passages"),
)
SENTENCES_PROMPT = Prompt(
    "rate_sentences",
    """Rate the sentences of the passages for the question.
For every sentence [1.1], [1.2], …: relevant = true if what it says helps to answer the question, false if not. Read \
each in its passage. Give every sentence's number n, such as "2.1".""",
    'For every sentence [1.1], [1.2], … give its number n, such as "2.1", and relevant: true or false.',
    ("question", "passages"),
)
ANSWER_PROMPT = Prompt(
    "rate_answer",
    """Rate the sentences of the answer.
For every sentence [S1], [S2], …: relevant = true if it answers the question, or is needed to understand what does; \
false if it is about something that was not asked, repeats the question or only fills. Whether it is true does not \
matter. Read each in the whole answer. Give every sentence's number n.""",
    "For every sentence [S1], [S2], … of the answer give its number n and relevant: true or false.",
    ("question", "sentences"),
)


def rate_passages(inputs: RatePassages, question_spec: QuestionSpec) -> AskGenerator:
    """A passage that goes out in several packs is relevant when one of its parts is; a blank one never is."""
    batches = batch_passages(inputs.passages, question_spec.settings.pack)
    listings = [_build_verdict_list("passages", "P", _join_by_passage(pack.sentences.values())) for pack in batches]
    question = [*build_turn_blocks(inputs.history), Block.of("question", inputs.query)]
    rated = yield from interleave(
        [
            _ask_ratings(
                question_spec.build_texts(PASSAGES_PROMPT, *question, pack.block),
                PASSAGES_SCHEMA,
                listing,
                question_spec,
            )
            for pack, listing in zip(batches, listings, strict=True)
        ]
    )
    ratings = []
    for n, _ in enumerate(inputs.passages, 1):
        verdicts_on = [verdicts.get(n) for listing, verdicts in zip(listings, rated, strict=True) if n in listing.texts]
        relevant = True if True in verdicts_on else None if None in verdicts_on else False
        ratings.append(Rating(n, relevant))
    return RelevanceFacts(tuple(ratings))


def rate_sentences(inputs: RateSentences | RateAnswer, question_spec: QuestionSpec) -> AskGenerator:
    """Sentences of passages have the numbers that all questions show them by; those of an answer S1, S2, …."""
    of_answer = isinstance(inputs, RateAnswer)
    question = [*build_turn_blocks(inputs.history), Block.of("question", inputs.query)]
    prompt, schema = (ANSWER_PROMPT, ANSWER_SCHEMA) if of_answer else (SENTENCES_PROMPT, SENTENCES_SCHEMA)
    batches = batch_passages(inputs.passages, question_spec.settings.pack)
    ratings, asking = [], []
    for pack in batches:
        texts = {n: numbered_sentence.sentence.text for n, numbered_sentence in enumerate(pack.sentences.values(), 1)}
        listing = _build_verdict_list(
            "sentences", "S" if of_answer else "", texts, () if of_answer else [*pack.sentences]
        )
        worded = question_spec.build_texts(prompt, *question, listing.build_block() if of_answer else pack.block)
        asking.append(_ask_ratings(worded, schema, listing, question_spec))
    for pack, verdicts in zip(batches, (yield from interleave(asking)), strict=True):
        for n, numbered_sentence in enumerate(pack.sentences.values(), 1):
            ratings.append(Rating(numbered_sentence.passage, verdicts.get(n), numbered_sentence.sentence.n))
    return RelevanceFacts(tuple(ratings), "sentence")


def _join_by_passage(sentences: Iterable[NumberedSentence]) -> dict[int, str]:
    """Passage number -> the text of its sentences in one pack."""
    by_passage: dict[int, list[str]] = {}
    for sentence in sentences:
        by_passage.setdefault(sentence.passage, []).append(sentence.sentence.text)
    return {passage: " ".join(texts) for passage, texts in by_passage.items()}


def _build_verdict_list(
    name: str, letter: str, texts: dict[int, str], sentences: Sequence[str] = ()
) -> VerdictList[bool]:
    return VerdictList(name, letter, texts, lambda item: parse_bool(item.get("relevant")), sentences=sentences)


def _ask_ratings(
    worded: RequestTexts, schema: Schema, listing: VerdictList[bool], question_spec: QuestionSpec
) -> Generator[list[Ask], list[Reply], dict[int, bool]]:
    return (yield from ask_each(question_spec, worded, schema, listing)).of(listing)
