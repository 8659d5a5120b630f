"""What probes of a judge are worth: by hand, and laws of the figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from ragauge.labels.probe.catalogue import PROBES
from ragauge.labels.probe.compute import WAVERING_TOLERANCE, JudgeProbes, ProbeCase, ProbeFinding, build_findings
from ragauge.labels.probe.verb import ProbeResult
from ragauge.stats.mean_difference import agresti_min

S, C, N = "supported", "contradicted", "not_in_context"


def case(n: int, base: str, again: str, changed: str, human: str = "", family: str = "") -> ProbeCase:
    return ProbeCase(f"e{n}", f"Text {n}.", base, again, changed, human=human, family=family)


def found(name: str, cases: Sequence[ProbeCase], tolerance: float | None = None, own: str = "") -> ProbeFinding:
    (one,) = build_findings({name: cases}, [PROBES[name].rule], tolerance, own)
    return one


def many(n: int, *shares: tuple[int, ProbeCase]) -> list[ProbeCase]:
    """So many of each case, every one of an example of its own."""
    cases = [one for count, one in shares for _ in range(count)]
    assert len(cases) == n
    return [replace(one, example=f"e{place}") for place, one in enumerate(cases)]


def test_flips_beyond_the_judges_own() -> None:
    """30 of 100 verdicts change with the passages, 12 by themselves, 6 in both: 24 less 6 pairs of 100 are 0.18."""
    cases = many(100, (24, case(0, S, S, N)), (6, case(0, S, N, N)), (6, case(0, S, N, S)), (64, case(0, S, S, S)))
    one = found("passage_order", cases)
    assert (one.changed, one.wavering, one.n, one.examples) == (0.30, 0.12, 100, 100)
    assert one.value == pytest.approx(0.18)
    assert one.interval == agresti_min(24, 6, 100)
    assert one.verdict == "alarm"
    assert one.worst[0].changed != one.worst[0].base == one.worst[0].again
    worded = found("wording", cases)
    assert worded.value == pytest.approx(0.82)
    assert (worded.interval is not None, one.interval is not None) == (True, True)
    if worded.interval is not None and one.interval is not None:
        assert (worded.interval.low, worded.interval.high) == (1 - one.interval.high, 1 - one.interval.low)


def test_only_what_was_supported_can_be_missed() -> None:
    """`planted` and `unrelated` miss what is still supported; neither looks elsewhere."""
    cases = many(50, (10, case(0, S, S, S)), (10, case(0, S, S, N)), (10, case(0, S, S, C)), (20, case(0, N, N, S)))
    planted, unrelated = found("planted", cases), found("unrelated", cases)
    assert (planted.n, unrelated.n) == (30, 30)
    assert planted.value == pytest.approx(10 / 30)
    assert unrelated.value == pytest.approx(10 / 30)
    assert planted.milder == pytest.approx(10 / 30)
    assert unrelated.milder is None
    assert planted.worst[0].changed == S


def test_what_is_refused_by_another_word_is_no_alarm() -> None:
    """A judge that calls 220 of 221 planted details not in context misses one; one that supports all misses all."""
    refusing = found("planted", many(221, (220, case(0, S, S, N)), (1, case(0, S, S, C))))
    assert (refusing.value, refusing.verdict) == (0, "ok")
    assert refusing.milder == pytest.approx(220 / 221)
    blind = found("planted", many(221, (221, case(0, S, S, S))))
    assert (blind.value, blind.verdict, blind.milder) == (1, "alarm", 0)
    assert found("planted", []).milder is None


def test_a_milder_verdict_is_told_apart_in_its_own_words() -> None:
    """The report says how many planted details were refused but not contradicted, and which metrics that concerns."""
    cases = many(221, (220, case(0, S, S, N)), (1, case(0, S, S, C)))
    shown = plain_of(cases)
    assert "220 of 221 verdicts (100%); no alarm" in shown
    assert "contradicted comes out too low" in shown
    assert "overlooks wrong details" not in shown
    blind = plain_of(many(221, (221, case(0, S, S, S))))
    assert "overlooks wrong details" in blind
    assert "comes out too low" not in blind


def plain_of(cases: Sequence[ProbeCase]) -> str:
    """The report on `planted` as text in one line."""
    told = build_findings({"planted": cases}, [PROBES["planted"].rule])
    return " ".join(ProbeResult(JudgeProbes("judge", 1, 0, told, {})).to_markdown().replace("\\_", "_").split())


def test_verbosity_counts_what_rises_less_what_falls() -> None:
    """15 of 100 parts are supported only when more is said, 5 only before: 0.10; falling alone is no alarm."""
    rising = many(100, (15, case(0, N, N, S)), (5, case(0, S, S, N)), (80, case(0, S, S, S)))
    one = found("verbosity", rising)
    assert one.value == pytest.approx(0.10)
    falling = many(100, (40, case(0, S, S, N)), (60, case(0, S, S, S)))
    assert found("verbosity", falling).verdict == "ok"


def test_leniency_looks_both_ways_and_at_settled_verdicts() -> None:
    """Judge less people over verdicts given twice; too strict alarms as too lenient does."""
    lenient = many(
        90, (30, case(0, S, S, S, "not_supported")), (30, case(0, S, S, S, S)), (30, case(0, S, N, S, "not_supported"))
    )
    strict = many(60, (30, case(0, N, N, N, S)), (30, case(0, S, S, S, S)))
    up, down = found("leniency", lenient), found("leniency", strict)
    assert (up.n, up.value, up.verdict) == (60, 0.5, "alarm")
    assert (down.n, down.value, down.verdict) == (60, -0.5, "alarm")
    assert up.worst
    assert down.worst
    assert found("leniency", many(60, (60, case(0, S, S, S, S)))).value == 0


def test_families_are_held_against_each_other() -> None:
    """The family that the judge favours most is named; another can be; a share that it favours in all is no alarm."""
    liked = case(0, S, S, S, "not_supported", "ours")
    cases = many(200, (40, liked), (60, case(0, S, S, S, S, "ours")), (100, case(0, S, S, S, S, "theirs")))
    one = found("self_preference", cases)
    assert (one.among, one.verdict) == ("ours", "alarm")
    assert one.value == pytest.approx(0.4)
    other = found("self_preference", cases, own="theirs")
    assert other.value == pytest.approx(-0.4)
    assert {kind.kind: kind.share for kind in one.kinds} == {"ours": 0.4, "theirs": 0}
    alike = many(200, (100, liked), (100, replace(liked, family="theirs")))
    assert found("self_preference", alike).value == 0
    few = many(105, (5, liked), (100, case(0, S, S, S, S, "theirs")))
    assert (found("self_preference", few).value, found("self_preference", few).verdict) == (None, "not enough data")


def test_missing_verdicts_are_counted_and_left_out() -> None:
    """A case without one of its three verdicts is in no share; without any case there is no value, never 0."""
    cases = many(4, (1, case(0, "", S, S)), (1, case(0, S, "", S)), (1, case(0, S, S, "")), (1, case(0, S, S, N)))
    one = found("injection", cases)
    assert (one.n, one.without, one.value) == (1, 3, 1)
    nothing = found("injection", cases[:3])
    assert (nothing.n, nothing.value, nothing.interval, nothing.verdict) == (0, None, None, "not enough data")


def test_holm_over_all_probes() -> None:
    """A value that alarms alone does not among probes enough; the largest tolerance is that of wavering itself."""
    cases = many(100, (16, case(0, S, S, N)), (84, case(0, S, S, S)))
    alone = found("passage_order", cases)
    assert alone.verdict == "alarm"
    border = many(100, (11, case(0, S, S, N)), (89, case(0, S, S, S)))
    one = found("passage_order", border)
    assert one.verdict == "alarm"
    names = ("passage_order", "retest", "verbosity", "unrelated", "injection")
    steady = many(100, (100, case(0, S, S, N)))
    several = build_findings({"passage_order": border, "verbosity": steady}, [PROBES[name].rule for name in names])
    assert several[0].p == pytest.approx(min(1.0, one.p * 5), rel=1e-3)
    assert [finding.verdict for finding in several[:1]] == ["alarm" if one.p * 5 <= 0.05 else "not enough data"]
    assert [finding.tolerance for finding in several] == [0.05, WAVERING_TOLERANCE, 0.05, 0.05, 0.05]
    assert [finding.tolerance for finding in build_findings({}, [PROBES[name].rule for name in names], 0.3)] == [
        0.3,
        WAVERING_TOLERANCE,
        0.3,
        0.3,
        0.3,
    ]
    assert found("passage_order", cases, tolerance=0.3).verdict == "ok"


def test_p_agrees_with_the_interval() -> None:
    """The interval at level 1 - p touches the tolerance: one probe alarms exactly where its interval lies beyond."""
    for flips in range(0, 40, 3):
        one = found("passage_order", many(100, (flips, case(0, S, S, N)), (100 - flips, case(0, S, S, S))))
        assert one.interval is not None
        assert (one.interval.low > one.tolerance) is (one.p <= 0.05) is (one.verdict == "alarm")


@pytest.mark.parametrize("name", PROBES)
def test_order_of_cases_does_not_matter(name: str) -> None:
    """Figures do not depend on the order of the cases, and cases of one example count together."""
    cases = [
        case(
            n // 3,
            (S, N, S, C)[n % 4],
            (S, N)[n % 5 == 0],
            (S, N, C)[n % 3],
            (S, "not_supported")[n % 7 > 3],
            "ab"[n % 11 > 5],
        )
        for n in range(240)
    ]
    one, turned = found(name, cases), found(name, cases[::-1])
    assert (one.value, one.n, one.verdict, one.without) == (turned.value, turned.n, turned.verdict, turned.without)
    assert one.examples <= 80
    assert one.interval is not None
    assert turned.interval is not None
    assert one.interval.low == pytest.approx(turned.interval.low)
    if one.value is not None:
        assert one.interval.low <= one.value <= one.interval.high
