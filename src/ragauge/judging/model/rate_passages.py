"""rate_passages, rate_sentences, rate_answer: which passages, or sentences of them or of the answer, are relevant."""

from __future__ import annotations

from collections.abc import Generator, Iterable

from ragauge.data.ask import Ask, Reply
from ragauge.data.facts import Rating, RelevanceFacts
from ragauge.judging.inputs import RateAnswer, RatePassages, RateSentences
from ragauge.judging.judge import Asking
from ragauge.judging.model.prompt_blocks import DATA, Block, Numbered, Prompt
from ragauge.judging.model.question_spec import INTEGER, YES_NO, QuestionSpec, a_list, an_object, passage_batches
from ragauge.judging.model.reading import yes
from ragauge.judging.model.verdicts import Listing, ask_each, interleave

VERSION = 1
RATING = Prompt(
    "rate_passages",
    f"""You rate passages for a question. {DATA}
For every passage [P1], [P2], …: relevant = true if it holds anything that helps to answer the question, false if it \
does not, however close its topic. Give every passage's number n. Reply with JSON only.""",
    "For every passage [P1], [P2], … give its number n and relevant: true or false.",
    ("question", "passages"),
)
RATING_SENTENCES = Prompt(
    "rate_sentences",
    f"""You rate sentences for a question. {DATA}
For every sentence [S1], [S2], …: relevant = true if what it says helps to answer the question, false if not. Read \
each in its passage. Give every sentence's number n. Reply with JSON only.""",
    "For every sentence [S1], [S2], … give its number n and relevant: true or false.",
    ("question", "sentences"),
)
RATING_ANSWER = Prompt(
    "rate_answer",
    f"""You rate the sentences of an answer to a question. {DATA}
For every sentence [S1], [S2], …: relevant = true if it answers the question, or is needed to understand what does; \
false if it is about something that was not asked, repeats the question or only fills. Whether it is true does not \
matter. Read each in the whole answer. Give every sentence's number n. Reply with JSON only.""",
    "For every sentence [S1], [S2], … of the answer give its number n and relevant: true or false.",
    ("question", "sentences"),
)


def rate_passages(inputs: RatePassages, asked: QuestionSpec) -> Asking:
    """A passage that goes out in several packs is relevant when one of its parts is; a blank one never is."""
    parts = passage_batches(inputs.passages, asked.settings.pack)
    listings = [_listing("passages", "P", _parts_of(pack.sentences.values())) for pack in parts]
    rated = yield from interleave([_rated(inputs.query, listing, RATING, asked) for listing in listings])
    ratings = []
    for n, _ in enumerate(inputs.passages, 1):
        verdicts_on = [verdicts.get(n) for listing, verdicts in zip(listings, rated, strict=True) if n in listing.texts]
        relevant = True if True in verdicts_on else None if None in verdicts_on else False
        ratings.append(Rating(n, relevant))
    return RelevanceFacts(tuple(ratings))


def rate_sentences(inputs: RateSentences | RateAnswer, asked: QuestionSpec) -> Asking:
    """Sentences are numbered through within a pack, whatever passage they are of."""
    system = RATING_ANSWER if isinstance(inputs, RateAnswer) else RATING_SENTENCES
    parts = [list(pack.sentences.values()) for pack in passage_batches(inputs.passages, asked.settings.pack)]
    listings = [
        _listing("sentences", "S", {n: part_sentence.sentence.text for n, part_sentence in enumerate(part, 1)})
        for part in parts
    ]
    rated = yield from interleave([_rated(inputs.query, listing, system, asked) for listing in listings])
    ratings = [
        Rating(sentence.passage, verdicts.get(n), sentence.sentence.n)
        for part, verdicts in zip(parts, rated, strict=True)
        for n, sentence in enumerate(part, 1)
    ]
    return RelevanceFacts(tuple(ratings), "sentence")


def _parts_of(sentences: Iterable[Numbered]) -> dict[int, str]:
    """Passage number -> the text of its sentences in one pack."""
    by_passage: dict[int, list[str]] = {}
    for sentence in sentences:
        by_passage.setdefault(sentence.passage, []).append(sentence.sentence.text)
    return {passage: " ".join(texts) for passage, texts in by_passage.items()}


def _listing(name: str, letter: str, texts: dict[int, str]) -> Listing[bool]:
    return Listing(name, letter, texts, lambda item: yes(item.get("relevant")))


def _rated(
    query: str, listing: Listing[bool], prompt: Prompt, asked: QuestionSpec
) -> Generator[list[Ask], list[Reply], dict[int, bool]]:
    worded = asked.worded(prompt, Block.of("question", query), listing.block())
    schema = an_object(**{listing.name: a_list(n=INTEGER, relevant=YES_NO)})
    return (yield from ask_each(asked, *worded, schema, listing)).of(listing)
