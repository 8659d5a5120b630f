"""Evaluation cases with known causes: each is an honest answer with one fault planted in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from tests.planted import generation_faults as generation
from tests.planted import pieces, words
from tests.planted import retrieval_faults as retrieval
from tests.planted.scene import Scene, Statement
from tests.planted.topics import Topic, outdated, topics, unanswerable

from ragauge.core.document import IndexListing
from ragauge.core.example import Example
from ragauge.core.facts import Evidence
from ragauge.core.response import Response

EACH = 36
Fault = Callable[[Scene, Random], Scene]


@dataclass(frozen=True, slots=True)
class Case:
    """One answer that failed, and why.

    Attributes:
        cause: what was planted.
        example: the question with its labels.
        response: the answer with the fault.
        evidence: what a judge without error finds about it.
        listing: what is in the index, where that is known.
        sound: the answer to the same question without the fault.
        sound_evidence: what a judge without error finds about that.
    """

    cause: str
    example: Example
    response: Response
    evidence: Mapping[str, Evidence]
    listing: IndexListing | None
    sound: Response
    sound_evidence: Mapping[str, Evidence]


@dataclass(frozen=True, slots=True)
class Planted:
    """A fault and the questions that it can strike."""

    fault: Fault
    topics: Callable[[], Sequence[Topic]] = topics


def _of_two_parts() -> list[Topic]:
    return [topic for topic in topics() if len(topic.parts) > 1]


def _of_two_pages() -> list[Topic]:
    return [topic for topic in topics() if len(topic.docs) > 1]


def _beside_more() -> list[Topic]:
    return [topic for topic in topics() if generation.has_more(topic)]


FAULTS: Mapping[str, Planted] = {
    "system_failed": Planted(generation.system_failed),
    "missed_refusal": Planted(generation.missed_refusal, unanswerable),
    "empty_retrieval": Planted(retrieval.empty_retrieval),
    "stale_source": Planted(retrieval.stale_source, outdated),
    "compound": Planted(retrieval.compound, _of_two_pages),
    "not_in_index": Planted(retrieval.not_in_index),
    "retrieval_miss": Planted(retrieval.retrieval_miss),
    "ranked_low": Planted(retrieval.ranked_low),
    "lost_before_prompt": Planted(retrieval.lost_before_prompt),
    "span_cut": Planted(retrieval.span_cut),
    "wrong_refusal": Planted(generation.wrong_refusal),
    "off_topic": Planted(generation.off_topic),
    "contradicted": Planted(generation.contradicted),
    "noise": Planted(generation.noise),
    "ignored": Planted(generation.ignored),
    "hallucinated": Planted(generation.hallucinated),
    "wrong_answer": Planted(generation.wrong_answer, _beside_more),
    "misattributed": Planted(generation.misattributed, _of_two_parts),
    "incomplete": Planted(generation.incomplete, _of_two_parts),
}


@cache
def planted_cases(each: int = EACH, seed: int = 0) -> tuple[Case, ...]:
    """Cases of every cause, the same for the same seed on every machine.

    Questions are taken in turn, so that a cause is met on as many of them as there are.

    Args:
        each: cases a cause.
        seed: of every draw: wordings, ranks, number of passages, and which part is struck.
    """
    return tuple(case for cause in FAULTS for case in _of_cause(cause, each, seed))


def _of_cause(cause: str, each: int, seed: int) -> Iterator[Case]:
    planted = FAULTS[cause]
    struck = list(planted.topics())
    Random(f"{seed}/{cause}").shuffle(struck)
    for n in range(each):
        topic = struck[n % len(struck)]
        name = f"{cause}-{n + 1:02}"
        rng = Random(f"{seed}/{name}")
        sound = _sound(topic, rng)
        scene = planted.fault(sound, rng)
        yield Case(
            cause=cause,
            example=scene.example(name),
            response=scene.response(name),
            evidence=scene.evidence(),
            listing=scene.listing,
            sound=sound.response(name),
            sound_evidence=sound.evidence(),
        )


def _sound(topic: Topic, rng: Random) -> Scene:
    """The honest answer: every part with its evidence among the passages, or a refusal where there is none."""
    gold = list(dict.fromkeys(pieces.holding(part.sentence.span) for part in topic.parts))
    others = pieces.distractors(topic)
    passages = list(others[: rng.randint(max(3, len(gold) + 2), 6) - len(gold)])
    for piece in gold:
        passages.insert(rng.randrange(len(passages) + 1), piece)
    candidates = [*passages, *(piece for piece in others if piece not in passages)][: retrieval.DEPTH]
    statements = tuple(
        Statement(rng.choice(part.sentence.said), says=n, about=frozenset({n})) for n, part in enumerate(topic.parts)
    )
    opening, closing = rng.choice(words.OPENINGS), rng.choice(words.CLOSINGS)
    refusal = "" if topic.parts else rng.choice(words.REFUSALS)
    return Scene(
        topic,
        tuple(passages),
        tuple(candidates),
        statements,
        refusal,
        cites=rng.random() < 0.5,
        opening="" if refusal else opening,
        closing="" if refusal else closing,
    )
