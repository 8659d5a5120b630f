"""Probe: whether what must not matter changes a judge's verdicts."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.api.inputs.sources import store_url
from ragauge.api.options import ProbeOptions
from ragauge.errors import UsageError

if TYPE_CHECKING:
    from ragauge.analysis.judges.check import PositionProbe
    from ragauge.data.labelled import AnswerPair


@dataclass(frozen=True)
class JudgeProbe:
    """What was found.

    Attributes:
        judge_id: who was asked.
        position: what the order of the answers did.
        stopped: why it ended early; "" when it did not.
        calls: facts of the calls made now.
    """

    judge_id: str
    position: PositionProbe
    stopped: str
    calls: Mapping[str, float | int | None]

    def to_dict(self) -> dict[str, Any]:
        """As JSON types."""
        from ragauge.reporting.encoder import encode

        values: dict[str, Any] = encode(self)
        return values


def pairs_of(wanted: ProbeOptions) -> list[AnswerPair]:
    """The pairs.

    Raises:
        DataError: a file that cannot be read, with line and field.
    """
    from ragauge.data.readers.labelled import read_pairs

    pairs = list(read_pairs(wanted.source, wanted.columns))
    if wanted.limit is None or wanted.limit >= len(pairs):
        return pairs
    if wanted.limit < 1:
        raise UsageError(f"limit must be at least 1, got {wanted.limit}.")
    return [pairs[n] for n in sorted(random.Random(0).sample(range(len(pairs)), wanted.limit))]  # noqa: S311 - a draw


def expect(wanted: ProbeOptions) -> dict[str, Any]:
    """What probing would ask and cost, as JSON types; nothing is asked or written."""
    from ragauge.engine.judge_probe import build_prober, expected
    from ragauge.store.open import open_store

    judge, pairs = build_prober(wanted.judge), pairs_of(wanted)
    with open_store(store_url(wanted.store)) as opened:
        estimate = expected(pairs, judge, opened)
    return {"pairs": len(pairs), **estimate.plain()}


async def probe_judge(wanted: ProbeOptions) -> JudgeProbe:
    """Asks a model judge which of two answers is better, in both orders, and compares.

    Raises:
        DataError: a file that cannot be read.
        UsageError: a judge that compares no answers.
        JudgeError: the model cannot be asked at all.
    """
    from ragauge.analysis.judges.check import position_probe
    from ragauge.engine.judge_probe import build_prober, probe
    from ragauge.store.open import open_store

    judge = build_prober(wanted.judge)
    calling = wanted.of(judge)
    pairs = pairs_of(wanted)
    if calling is None:
        raise UsageError(f"{wanted.judge} asks no model.")
    with open_store(store_url(wanted.store)) as opened:
        probed = await probe(pairs, judge, opened, calling, wanted.progress)
    calls = {} if probed.calling is None else probed.calling.plain()
    return JudgeProbe(judge.judge_id, position_probe(pairs, probed.said), probed.stopped, calls)
