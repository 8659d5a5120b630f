"""rate_passages and rate_sentences: which passages, or sentences of them, are relevant to the question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragauge.data.ask import Ask, Reply
from ragauge.data.facts import Rating, RelevanceFacts
from ragauge.judging.inputs import RatePassages, RateSentences
from ragauge.judging.judge import Asking
from ragauge.judging.model.asking import Asked, Settings, only
from ragauge.judging.model.fences import DATA, Block, Numbered, fenced
from ragauge.judging.model.packs import packs
from ragauge.judging.model.reading import yes
from ragauge.judging.model.verdicts import INTEGER, YES_NO, Numbering, array_of, each, listed, together

VERSION = 1
RATING = f"""You rate passages for a question. {DATA}
For every passage [P1], [P2], …: relevant = true if it holds anything that helps to answer the question, false if it \
does not, however close its topic. Give every passage's number n. Reply with JSON only."""
RATING_SENTENCES = f"""You rate sentences for a question. {DATA}
For every sentence [S1], [S2], …: relevant = true if what it says helps to answer the question, false if not. Read \
each in its passage. Give every sentence's number n. Reply with JSON only."""


def rate_passages(inputs: RatePassages, settings: Settings, judge_repeat: int = 0) -> Asking:
    """A passage that goes out in several packs is relevant when one of its parts is; a blank one never is."""
    asked = Asked("rate_passages", VERSION, settings, judge_repeat)
    parts = packs(inputs.passages, settings.pack)
    texts = [_parts_of(pack.sentences.values()) for pack in parts]
    found = yield from together([_rated("P", inputs.query, one, RATING, asked) for one in texts])
    ratings = []
    for n, _ in enumerate(inputs.passages, 1):
        said = [one.by_number.get(n) for sent, one in zip(texts, found, strict=True) if n in sent]
        relevant = True if True in said else None if None in said else False
        ratings.append(Rating(n, relevant))
    return RelevanceFacts(tuple(ratings))


def rate_sentences(inputs: RateSentences, settings: Settings, judge_repeat: int = 0) -> Asking:
    """Sentences are numbered through within a pack, passages left apart by a line."""
    asked = Asked("rate_sentences", VERSION, settings, judge_repeat)
    parts = packs(inputs.passages, settings.pack)
    texts = [{n: one.sentence.text for n, one in enumerate(pack.sentences.values(), 1)} for pack in parts]
    found = yield from together([_rated("S", inputs.query, one, RATING_SENTENCES, asked) for one in texts])
    ratings = [
        Rating(one.passage, said.by_number.get(n), one.sentence.n)
        for pack, said in zip(parts, found, strict=True)
        for n, one in enumerate(pack.sentences.values(), 1)
    ]
    return RelevanceFacts(tuple(ratings), "sentence")


def _parts_of(sentences: Iterable[Numbered]) -> dict[int, str]:
    """Passage number -> the text of its sentences in one pack."""
    found: dict[int, list[str]] = {}
    for one in sentences:
        found.setdefault(one.passage, []).append(one.sentence.text)
    return {passage: " ".join(texts) for passage, texts in found.items()}


def _rated(prefix: str, query: str, texts: Mapping[int, str], system: str, asked: Asked) -> Numbering:
    name = "passages" if prefix == "P" else "sentences"
    block = Block(name, [(f"{prefix}{n}", text) for n, text in texts.items()])
    shown = fenced([Block("question", [("", query)]), block])

    def ask(numbers: Sequence[int], attempt: int) -> Ask:
        text = shown + only(prefix, numbers, len(texts))
        return asked.chat(system, text, array_of(name, {"n": INTEGER, "relevant": YES_NO}), attempt)

    def read(reply: Reply, numbers: Sequence[int]) -> Mapping[int, bool]:
        return listed(reply, name, numbers, lambda item: yes(item.get("relevant")))

    return each(list(texts), ask, read)
