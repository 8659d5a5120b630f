"""rate_passages, rate_sentences, rate_answer: which passages, or sentences of them or of the answer, are relevant."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence

from ragauge.core.ask import Ask, Reply
from ragauge.core.facts import Rating, RelevanceFacts
from ragauge.judges.inputs import RateAnswer, RatePassages, RateSentences
from ragauge.judges.judge import Asking
from ragauge.judges.model.prompt_blocks import Block, Numbered, Prompt, Worded, earlier_turns
from ragauge.judges.model.question_spec import (
    INTEGER,
    TEXT,
    YES_NO,
    QuestionSpec,
    Schema,
    a_list,
    an_object,
    passage_batches,
)
from ragauge.judges.model.reply_parser import yes
from ragauge.judges.model.verdicts import Listing, ask_each, interleave

VERSION = 2
RATED = an_object(passages=a_list(n=INTEGER, relevant=YES_NO))
RATED_SENTENCES = an_object(sentences=a_list(n=TEXT, relevant=YES_NO))
RATED_ANSWER = an_object(sentences=a_list(n=INTEGER, relevant=YES_NO))
PLACES = "Passage P1 is sentences [1.1], [1.2], …, P2 is [2.1], [2.2], …, and so on."
RATING = Prompt(
    "rate_passages",
    f"""Rate the passages for the question. {PLACES}
For every passage P1, P2, …: relevant = true if it holds anything that helps to answer the question, false if it \
does not, however close its topic. Give every passage's number n.""",
    f"{PLACES} For every passage P1, P2, … give its number n and relevant: true or false.",
    ("question", "passages"),
)
RATING_SENTENCES = Prompt(
    "rate_sentences",
    """Rate the sentences of the passages for the question.
For every sentence [1.1], [1.2], …: relevant = true if what it says helps to answer the question, false if not. Read \
each in its passage. Give every sentence's number n, such as "2.1".""",
    'For every sentence [1.1], [1.2], … give its number n, such as "2.1", and relevant: true or false.',
    ("question", "passages"),
)
RATING_ANSWER = Prompt(
    "rate_answer",
    """Rate the sentences of the answer.
For every sentence [S1], [S2], …: relevant = true if it answers the question, or is needed to understand what does; \
false if it is about something that was not asked, repeats the question or only fills. Whether it is true does not \
matter. Read each in the whole answer. Give every sentence's number n.""",
    "For every sentence [S1], [S2], … of the answer give its number n and relevant: true or false.",
    ("question", "sentences"),
)


def rate_passages(inputs: RatePassages, asked: QuestionSpec) -> Asking:
    """A passage that goes out in several packs is relevant when one of its parts is; a blank one never is."""
    parts = passage_batches(inputs.passages, asked.settings.pack)
    listings = [_listing("passages", "P", _parts_of(pack.sentences.values())) for pack in parts]
    question = [*earlier_turns(inputs.history), Block.of("question", inputs.query)]
    rated = yield from interleave(
        [
            _rated(asked.worded(RATING, *question, pack.block), RATED, listing, asked)
            for pack, listing in zip(parts, listings, strict=True)
        ]
    )
    ratings = []
    for n, _ in enumerate(inputs.passages, 1):
        verdicts_on = [verdicts.get(n) for listing, verdicts in zip(listings, rated, strict=True) if n in listing.texts]
        relevant = True if True in verdicts_on else None if None in verdicts_on else False
        ratings.append(Rating(n, relevant))
    return RelevanceFacts(tuple(ratings))


def rate_sentences(inputs: RateSentences | RateAnswer, asked: QuestionSpec) -> Asking:
    """Sentences of passages have the numbers that all questions show them by; those of an answer S1, S2, …."""
    of_answer = isinstance(inputs, RateAnswer)
    question = [*earlier_turns(inputs.history), Block.of("question", inputs.query)]
    prompt, schema = (RATING_ANSWER, RATED_ANSWER) if of_answer else (RATING_SENTENCES, RATED_SENTENCES)
    parts = passage_batches(inputs.passages, asked.settings.pack)
    ratings, asking = [], []
    for pack in parts:
        texts = {n: one.sentence.text for n, one in enumerate(pack.sentences.values(), 1)}
        listing = _listing("sentences", "S" if of_answer else "", texts, () if of_answer else [*pack.sentences])
        worded = asked.worded(prompt, *question, listing.block() if of_answer else pack.block)
        asking.append(_rated(worded, schema, listing, asked))
    for pack, verdicts in zip(parts, (yield from interleave(asking)), strict=True):
        for n, one in enumerate(pack.sentences.values(), 1):
            ratings.append(Rating(one.passage, verdicts.get(n), one.sentence.n))
    return RelevanceFacts(tuple(ratings), "sentence")


def _parts_of(sentences: Iterable[Numbered]) -> dict[int, str]:
    """Passage number -> the text of its sentences in one pack."""
    by_passage: dict[int, list[str]] = {}
    for sentence in sentences:
        by_passage.setdefault(sentence.passage, []).append(sentence.sentence.text)
    return {passage: " ".join(texts) for passage, texts in by_passage.items()}


def _listing(name: str, letter: str, texts: dict[int, str], sentences: Sequence[str] = ()) -> Listing[bool]:
    return Listing(name, letter, texts, lambda item: yes(item.get("relevant")), sentences=sentences)


def _rated(
    worded: Worded, schema: Schema, listing: Listing[bool], asked: QuestionSpec
) -> Generator[list[Ask], list[Reply], dict[int, bool]]:
    return (yield from ask_each(asked, worded, schema, listing)).of(listing)
