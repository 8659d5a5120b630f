"""cover_aspects and cover_criteria: which aspects of the question the answer addresses, which criteria it meets."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragauge.data.ask import Reply
from ragauge.data.facts import CoverFacts
from ragauge.judging.cosines import cosine_table
from ragauge.judging.inputs import CoverAspects, CoverCriteria
from ragauge.judging.judge import Asking
from ragauge.judging.local.criteria import PreparedAnswer
from ragauge.judging.local.criteria_words import KINDS
from ragauge.judging.local.index import Mode, mode_of
from ragauge.judging.local.relevance import PreparedQuestion, chosen, embed
from ragauge.judging.local.short_answers import plain_units
from ragauge.judging.local.slots import carries, wanted_kind
from ragauge.judging.local.statements import bare, statements

VERSION = 1
MOST_SENTENCES = 200     # of an answer that are compared with each aspect
NEAR = 0.35              # relevance that will do where the kind of thing asked for is there
SHARED = 2               # words that two aspects of one thing have in common
WHEN_TO = re.compile(r"^\W*when (?:to|should|must|do|does)\b", re.IGNORECASE)     # asks for a condition
CAPITAL = re.compile(r"(?<!\w)[A-Z](?!\w)")


def cover_aspects(inputs: CoverAspects, judge_repeat: int = 0) -> Asking:
    """An aspect is met when some sentence of the answer is about it; a refusal meets none.

    About: relevant, as by rate_passages, with the kind of thing that the aspect asks for ("how long": an amount), and
    not about another aspect that differs in a word ("the price of plan B" beside "the price of plan A").
    """
    said = statements(inputs.answer)
    if not said.claims:
        return CoverFacts((False,) * len(inputs.aspects))
    texts = [bare(sentence.text) for sentence in said.claims[:MOST_SENTENCES]]
    (reply,) = yield [embed("cover_aspects", VERSION, (*inputs.aspects, *texts), judge_repeat)]
    table = _about(inputs.aspects, texts, reply, mode_of((inputs.query, inputs.answer)))
    return CoverFacts(tuple(map(any, table)))


def cover_criteria(inputs: CoverCriteria, judge_repeat: int = 0) -> Asking:
    """Each criterion by what it asks for: exactly where it can be checked, else by words; see `criteria.py`.

    A criterion that takes reading, such as "is polite", has no verdict.
    """
    topics: list[str] = []

    def note(topic: str) -> tuple[int, ...]:
        topics.append(topic)
        return ()

    asking = PreparedAnswer(inputs.query, inputs.answer, note)
    asking.all(inputs.criteria)
    about: dict[str, list[int]] = {}
    if topics and asking.sentences:
        (reply,) = yield [embed("cover_criteria", VERSION, (*topics, *asking.sentences), judge_repeat)]
        table = _about(topics, asking.sentences, reply, mode_of((inputs.query, inputs.answer)))
        about = {topic: [n for n, yes in enumerate(row) if yes] for topic, row in zip(topics, table, strict=True)}
    told = PreparedAnswer(inputs.query, inputs.answer, lambda topic: about.get(topic, ()))
    return CoverFacts(told.all(inputs.criteria))


def _about(aspects: Sequence[str], texts: Sequence[str], reply: Reply, mode: Mode) -> list[list[bool]]:
    """Of every aspect, which texts are about it."""
    table = cosine_table(reply, len(aspects), len(texts))
    found = []
    for n, (aspect, angles) in enumerate(zip(aspects, table, strict=True)):
        asked = PreparedQuestion(aspect, mode)
        rivals = _rivals(aspect, [*aspects[:n], *aspects[n + 1 :]])
        kind = None if WHEN_TO.match(aspect) else wanted_kind(aspect)
        kinds = [KINDS[unit] for unit in plain_units(aspect) if unit in KINDS]
        row = []
        for text, angle in zip(texts, angles, strict=True):
            judge = chosen("relevance", angle)
            enough = NEAR if kinds or kind is not None else judge.threshold
            near = bool(asked.distinct) and judge.p(asked.features(text, angle)) >= enough
            there = near and carries(kind, text) and all(has(text) for has in kinds)
            row.append(there and not _of_another(text, rivals))
        found.append(row)
    return found


def _rivals(aspect: str, others: Sequence[str]) -> list[tuple[frozenset[str], frozenset[str]]]:
    """Of the other aspects that qualify the same thing otherwise: what only this one has, and what only they have."""
    own, found = _words(aspect), []
    for other in others:
        mine, theirs = own - _words(other), _words(other) - own
        if mine and theirs and len(own & _words(other)) >= SHARED and not (_heads(aspect) & mine):
            found.append((mine, theirs))
    return found


def _heads(aspect: str) -> frozenset[str]:
    """What the aspect is "of" something else: the price of plan A."""
    head, of, _ = aspect.partition(" of ")
    return _words(head) if of else frozenset()


def _of_another(text: str, rivals: Sequence[tuple[frozenset[str], frozenset[str]]]) -> bool:
    there = _words(text)
    return any(not mine & there and theirs & there for mine, theirs in rivals)


def _words(text: str) -> frozenset[str]:
    """Words with content, and single capitals: plan A."""
    return frozenset(plain_units(text)) | frozenset(CAPITAL.findall(text))
