"""Judges that are swayed by a known share: whether a probe's interval holds it, and whether wavering is no alarm."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.engine.swayed_judge import UNSUPPORTED, SwayedJudge, probed

from ragauge.labels.probe.catalogue import PROBES

EXAMPLES, SEEDS = 60, 200
HELD = 0.93  # least share of seeds whose interval holds the planted size
ALARMS = 0.05  # most seeds in which a judge that only wavers alarms
SIZE = 0.2
AMONG = {"verbosity": UNSUPPORTED, "leniency": UNSUPPORTED, "self_preference": UNSUPPORTED}
SWAYING = [name for name in PROBES if name != "retest"]


def holds(name: str, seeds: range, *, by_example: bool = False) -> Iterator[tuple[bool, str]]:
    """Whether the interval holds the planted size, and the verdict, seed by seed."""
    size = SIZE * AMONG.get(name, 1.0)
    for seed in seeds:
        judge = SwayedJudge(seed, {name: SIZE}, by_example=by_example)
        found = probed(judge, ["retest", name], EXAMPLES)
        one, retest = found[name], found["retest"]
        assert one.interval is not None
        assert retest.n == 0 or retest.value == 0
        true = 1 - size if one.rule.complement else size
        yield one.interval.low <= true <= one.interval.high, one.verdict


@pytest.mark.prove
@pytest.mark.parametrize("name", SWAYING)
def test_planted_size_lies_in_the_interval(name: str) -> None:
    """A share of verdicts that is swayed lies in the probe's interval for 93 % of 200 seeds, and is never called ok."""
    told = list(holds(name, range(SEEDS)))
    assert sum(held for held, _ in told) >= HELD * SEEDS
    assert not [verdict for _, verdict in told if verdict == "ok"]


@pytest.mark.prove
@pytest.mark.parametrize("name", ["passage_order", "planted", "unrelated", "injection"])
def test_whole_answers_that_are_swayed(name: str) -> None:
    """The same holds where all verdicts on an answer are swayed together: they are not independent."""
    assert sum(held for held, _ in holds(name, range(SEEDS), by_example=True)) >= HELD * SEEDS


@pytest.mark.parametrize("name", SWAYING)
def test_planted_size_lies_in_most_intervals(name: str) -> None:
    """A fast cell of the proof: of 8 seeds at most one interval misses the planted size, and none is called ok."""
    told = list(holds(name, range(8)))
    assert sum(held for held, _ in told) >= 7
    assert not [verdict for _, verdict in told if verdict == "ok"]


def alarms(wavers: float, seeds: range) -> int:
    """Seeds in which any probe alarms of a judge that nothing sways."""
    return sum(
        any(one.verdict == "alarm" for one in probed(SwayedJudge(seed, {}, wavers), list(PROBES), EXAMPLES).values())
        for seed in seeds
    )


@pytest.mark.prove
@pytest.mark.parametrize("wavers", [0.0527, 0.1])
def test_a_judge_that_only_wavers_does_not_alarm(wavers: float) -> None:
    """Of a judge that turns a verdict round by itself no probe alarms in more than 5 % of 200 seeds.

    Turned in 10 % of askings, two askings differ in 18 %; in 5.27 %, in 10 %.
    """
    assert alarms(wavers, range(SEEDS)) <= ALARMS * SEEDS


def test_wavering_is_seen_and_is_no_alarm() -> None:
    """A fast cell of the proof: of 5 wavering judges none alarms, and the second asking shows how far each wavers."""
    assert alarms(0.1, range(5)) == 0
    values = [probed(SwayedJudge(seed, {}, 0.1), ["retest"], EXAMPLES)["retest"].value or 0.0 for seed in range(20)]
    assert sum(values) / len(values) == pytest.approx(2 * 0.1 * 0.9, abs=0.02)


def test_a_swayed_judge_that_wavers_too() -> None:
    """What sways a wavering judge is told beyond its wavering: a share s of verdicts that are turned changes s(1 − 2r).

    r is the share in which two askings differ: a verdict that is swayed and wavers may be turned back.
    """
    wavers, r = 0.05, 2 * 0.05 * 0.95
    judges = [SwayedJudge(seed, {"passage_order": 0.4}, wavers) for seed in range(36)]
    found = [probed(judge, ["retest", "passage_order"], EXAMPLES)["passage_order"] for judge in judges]
    assert sum(one.value or 0.0 for one in found) / len(found) == pytest.approx(0.4 * (1 - 2 * r), abs=0.03)
    assert all(one.verdict == "alarm" for one in found)
