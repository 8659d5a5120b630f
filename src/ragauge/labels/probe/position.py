"""position: two answers to one question in both orders. Which is shown first must not matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragauge.core.human_labels import AnswerPair, BetterAnswer, Preference
from ragauge.labels.probe.change import Probe
from ragauge.labels.probe.compute import ProbeCase, ProbeRule

PREFERENCE_WORDS: Mapping[BetterAnswer | None, str] = {1: "first answer", 2: "second answer", 0: "alike", None: ""}


def build_position_cases(pair: AnswerPair, preference: Preference, repeated: Preference) -> Iterator[ProbeCase]:
    """Both orders of a pair, each asked twice: each asking beside the other order, and beside its own second one."""
    shown, swapped = (
        (PREFERENCE_WORDS[preference.shown], PREFERENCE_WORDS[repeated.shown]),
        (PREFERENCE_WORDS[preference.swapped], PREFERENCE_WORDS[repeated.swapped]),
    )
    text = " | ".join((pair.query, *pair.answers))
    yield ProbeCase(pair.query_id, text, shown[0], shown[1], swapped[0])
    yield ProbeCase(pair.query_id, text, swapped[1], swapped[0], shown[1])


PROBE = Probe(
    ProbeRule(
        "position",
        "position_flip",
        "order of two answers",
        "the same preference",
        "flip",
        "The judge prefers one position. Ask for every preference in both orders and count a tie where they "
        "differ, or score each answer alone, as ragauge evaluate does.",
    ),
    ("pairs", "prefers"),
)
