"""How often a judge that changes under its name is seen, and what is said of a real fault on the same day. Simulated.

    python bench/judge_swaps.py --seeds 30

Requests with two claims each, 60 a day, are judged by one that wavers on 3 % of the claims; 50 frozen responses are
judged anew every day. At noon of the tenth day the judge is more lenient (60 % of what it refused is held), stricter
(30 % of what it held is not), random on 20 %, another that is about as strict on the whole, or one that fails on 30 %.
On the same day the system may begin to invent a claim in half of its answers, or to find poor passages for half of its
questions. Somebody acknowledges the change two days after it was seen; the monitor (faithfulness, at most 5 % below 28
days, one of eight that share 5 % false alarms in 30 days) then takes what waited. Twelve days follow the swap.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

from ragauge.core.config.gate import Drop
from ragauge.monitoring.canary.compute import N_FIRST_DAYS, Verdicts, compare_canary_day
from ragauge.monitoring.series.fault_attribution import BlamedRequest, assign_blame, compare_rejudged
from ragauge.monitoring.series.monitor_specs import MonitorSpec
from ragauge.monitoring.series.monitor_tracker import Alert, MonitorTracker, TrackerState
from ragauge.scores.request_stream import Arrival, ArrivedScore

FIRST = datetime(2026, 3, 2, tzinfo=UTC)
METRIC, PARTS, LEVEL = "faithfulness", 8, 0.05 / (8 * 30)
SWAP, DAYS, RATE, FROZEN, WAVERS, CAUGHT = 9, 21, 60, 50, 0.03, 0.5
FLIPS = {  # share of the claims that it holds, and that it refuses, of which it says otherwise
    "none": (0.0, 0.0),
    "lenient": (0.0, 0.6),
    "strict": (0.3, 0.0),
    "random": (0.2, 0.2),
    "another": (0.11, 0.6),
    "failing": (0.0, 0.0),
}
FAULTS = ("none", "generation", "retrieval")


@dataclass(frozen=True, slots=True)
class Asked:
    """A response: whether each claim is held by the passage, a number in [0, 1) of each, and whether that is poor."""

    held: tuple[bool, ...]
    drawn: tuple[float, ...]
    poor: bool


def response(draw: Random, fault: str) -> Asked:
    """One response of a system, with a fault in half of them."""
    struck, poor = draw.random() < CAUGHT, draw.random() < 0.1
    poor = poor or (struck and fault == "retrieval")
    held = [draw.random() < (0.3 if poor else 0.9) for _ in range(2)]
    if struck and fault == "generation":
        held[1] = False
    return Asked(tuple(held), (draw.random(), draw.random()), poor)


def judged(one: Asked, judge: str, draw: Random) -> float | None:
    """The share of the claims that a judge holds supported; None = it failed."""
    if judge == "failing" and one.drawn[0] < 0.3:
        return None
    said = []
    for held, drawn in zip(one.held, one.drawn, strict=True):
        share = FLIPS[judge][0 if held else 1]
        flips = (draw.random() if judge == "random" else drawn) < share
        said.append(held != (flips or draw.random() < WAVERS))
    return sum(said) / len(said)


@dataclass
class Month:
    """One monitor and the canary over the days of one judge and one fault.

    Attributes:
        judge: who judges from noon of the tenth day on.
        fault: what begins with that day.
        seed: of everything.
        seen: days from the swap to the look that saw the judge change; None = never.
        alert: what the monitor raised since the swap.
        told: the component that it names, and whether by more than the judge.
    """

    judge: str
    fault: str
    seed: int
    seen: int | None = None
    alert: Alert | None = None
    told: tuple[str, bool] = ("", False)
    answers: dict[int, Asked] = field(default_factory=dict)
    looks: list[Verdicts] = field(default_factory=list)

    def run(self) -> Month:
        """Goes through the days as `judge_series` does."""
        draw = self._draw = Random(f"{self.seed}")
        frozen = self._frozen = [response(draw, "none") for _ in range(FROZEN)]
        assert len(frozen) == FROZEN
        by = MonitorTracker(
            MonitorSpec(
                place=1,
                metric=METRIC,
                share_above=None,
                lower=False,
                level=None,
                drop=Drop(0.05, True, "5%"),
                baseline=timedelta(days=28),
                segments=(),
                decide="test",
                wait=timedelta(0),
            ),
            PARTS,
            0.05,
            30,
            timedelta(days=1),
        )
        state, came = TrackerState(), list[Arrival]()
        for day in range(DAYS):
            if self.seen is None and self._look(self.judge if day > SWAP else "none"):
                self.seen = day - SWAP
            came += self._day(day, len(came))
            if self.seen is not None and day < SWAP + self.seen + 2:  # nobody has said a word yet
                continue
            after, raised = by.after(state, came)
            if raised and self.seen is None and day >= SWAP and self._look(self.judge):
                self.seen = day - SWAP
                continue
            state = after
            if raised and self.alert is None and day >= SWAP:
                self.alert, self.told = raised[0], self._blame(came, raised[0])
        return self

    def _look(self, judge: str) -> bool:
        today = {(str(n), METRIC): judged(one, judge, self._draw) for n, one in enumerate(self._frozen)}
        found = compare_canary_day(self.looks[:N_FIRST_DAYS], today, LEVEL)
        self.looks.append(today)
        return bool(found.changed)

    def _day(self, day: int, first: int) -> Iterator[Arrival]:
        for n in range(RATE):
            one = response(self._draw, self.fault if day >= SWAP else "none")
            value = judged(one, self.judge if day > SWAP or (day == SWAP and 2 * n >= RATE) else "none", self._draw)
            self.answers[first + n] = one
            score = ArrivedScore("failed" if value is None else "scored", value, 1.0, "judge")
            at = FIRST + timedelta(days=day, seconds=n * 86_400 / RATE)
            yield Arrival(first + n, at, f"t{first + n}", scores={METRIC: score})

    def _blame(self, came: Sequence[Arrival], alert: Alert) -> tuple[str, bool]:
        sides: tuple[list[BlamedRequest], list[BlamedRequest]] = ([], [])
        for one in came:
            value, answered = one.scores[METRIC].value, self.answers[one.number]
            if value is not None and one.number <= alert.number:
                failed = "" if value == 1 else "retrieval" if answered.poor else "generation"
                request = BlamedRequest(1.0, value, failed, 0.1 if answered.poor else 0.9)
                sides[one.at.date() >= alert.since].append(request)
        if self.seen is not None:
            both = [(old, self.looks[-1][key]) for key, old in self.looks[0].items()]
            pairs = [(old, new) for old, new in both if old is not None and new is not None]
            anew = compare_rejudged(*sides, pairs)
            if anew is None or not anew.beyond:
                return "judge", False
        return assign_blame(*sides).component, self.seen is not None


def line(judge: str, fault: str, several: Sequence[Month]) -> str:
    """A row of the table."""
    seen = Counter("never" if one.seen is None else str(one.seen) for one in several)
    fired = [(one.alert.fired_at - FIRST).days - SWAP for one in several if one.alert is not None]
    told = Counter(f"{one.told[0]}{' (more than the judge)' if one.told[1] else ''}" for one in several if one.alert)
    days = ", ".join(f"{day}: {n}" for day, n in sorted(seen.items()))
    said = ", ".join(f"{name} {n}" for name, n in told.most_common())
    late = f"{sorted(fired)[len(fired) // 2]}" if fired else "–"
    return f"{judge} | {fault} | {days} | {len(fired)} of {len(several)} | {late} | {said or '–'}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=30, help="how many of each")
    parser.add_argument("--first", type=int, default=1000, help="the first of them")
    asked = parser.parse_args(arguments)
    print("judge | fault | day that the change was seen | alerts of the monitor | day of arrival, median | it names")
    print("---|---|---|---:|---:|---")
    for judge in FLIPS:
        for fault in FAULTS:
            several = [Month(judge, fault, asked.first + n).run() for n in range(asked.seeds)]
            print(line(judge, fault, several), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
