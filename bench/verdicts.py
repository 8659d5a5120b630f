"""How often verdicts agree with people, with thresholds fitted on the other sets.

python bench/verdicts.py --extra FOLDER --cache FOLDER      prints the tables; minutes without a cache
python bench/verdicts.py ... --write                        writes the shipped thresholds, and the table of the docs

Of a band the lower threshold is the highest at which at most `MAX_FAILED` of what people accept fails, the upper one
the lowest at which at most `MAX_PASSED` of what they reject passes, as means over families of sets. An answer passes
whose mean reaches the upper threshold and of which no claim is below the lower one. Each family is judged with
thresholds of the others. Sets with gold passages fit nothing.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
from verdict_data import JudgedCase, judged_cases

from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.decided_facts import THRESHOLDS, ScoreBand, read_bands
from ragauge.diagnosis.causes.verdicts import decide_verdict

Scores = Mapping[tuple[bool, str, str], Sequence[Sequence[float]]]  # (accepted, family, set) -> scores of answers
PAGE = Path(__file__).resolve().parents[1] / "docs/local-judge.md"
BEGIN, END = "<!-- verdicts, written by bench/verdicts.py: begin -->", "<!-- verdicts: end -->"
MAX_FAILED = {"grounded": 0.05, "right": 0.10}  # of what people accept, by the mean alone
MAX_PASSED = {"grounded": 0.183, "right": 0.10}  # of what they reject
STEPS = [step / 100 for step in range(5, 100)]
BASE_RATE = 0.3  # share that people reject, for which the precision is given
KINDS = {
    "claims": "without references",
    "rag": "without references",
    "reference": "with references",
    "conversation": "with references",
    "gold": "gold passages",
}
HEAD = (
    "set | n | accepted: failed | unclear | passed | rejected: failed | unclear | passed | "
    "balanced accuracy of the decided | pass right | fail right"
)


class SetFigures(NamedTuple):
    """The shares of one set, by what people say and by verdict; nan where people say so of nothing."""

    source: str
    kind: str
    n: int
    failed_accepted: float
    passed_accepted: float
    failed_rejected: float
    passed_rejected: float

    @property
    def balanced_accuracy(self) -> float:
        """Of the decided: the mean of the shares that are right among the accepted and among the rejected."""
        right = self.passed_accepted / _some(self.passed_accepted + self.failed_accepted)
        wrong = self.failed_rejected / _some(self.passed_rejected + self.failed_rejected)
        return (right + wrong) / 2

    @property
    def precision(self) -> tuple[float, float]:
        """Share of the passed that people accept, and of the failed that they reject, at the base rate."""
        passed = (1 - BASE_RATE) * self.passed_accepted
        failed = BASE_RATE * self.failed_rejected
        return (
            passed / _some(passed + BASE_RATE * self.passed_rejected),
            failed / _some(failed + (1 - BASE_RATE) * self.failed_accepted),
        )

    def text(self) -> str:
        """A line of the table."""
        shares = (
            self.failed_accepted,
            1 - self.failed_accepted - self.passed_accepted,
            self.passed_accepted,
            self.failed_rejected,
            1 - self.failed_rejected - self.passed_rejected,
            self.passed_rejected,
            self.balanced_accuracy,
            *self.precision,
        )
        cells = ["–" if np.isnan(share) else f"{share:.2f}" for share in shares]
        return f"{self.source} | {self.n or ''} | {' | '.join(cells)}"


def _some(total: float) -> float:
    return total if total > 0 else float("nan")


def scores_of(judged: JudgedCase, verdict: str) -> list[float]:
    """What the band of a verdict is laid over: a score of each claim."""
    context = CauseContext(judged.facts)
    if verdict == "grounded":
        return [claim.chance for claim in context.claims or ()]
    return [p for p in context.agreement.reference_p if p is not None] if context.agreement else []


def mean_share(scores: Scores, accepted: bool, band: ScoreBand, verdict: str) -> float:
    """The share of the accepted or rejected with a verdict: the mean over families of the mean over their sets."""
    shares: dict[str, list[float]] = {}
    for (is_accepted, family, _), rows in scores.items():
        if is_accepted is accepted:
            shares.setdefault(family, []).append(fmean(band.decide_verdict(row) == verdict for row in rows))
    return fmean(fmean(own) for own in shares.values())


def fit_band(rows: Sequence[JudgedCase], verdict: str) -> ScoreBand:
    """The thresholds of a verdict by the sets that show it: `grounded` those without references, `right` the others."""
    kinds = ("claims", "rag") if verdict == "grounded" else ("reference", "conversation")
    scores: dict[tuple[bool, str, str], list[list[float]]] = {}
    for row in rows:
        own = scores_of(row, verdict) if row.case.kind in kinds else []
        if own:
            scores.setdefault((row.case.accepted, row.case.family, row.case.source), []).append(own)
    if {accepted for accepted, *_ in scores} != {True, False}:
        return read_bands()[verdict]  # no other set shows it
    failed, passed = MAX_FAILED[verdict], MAX_PASSED[verdict]
    low = _first(reversed(STEPS), lambda step: mean_share(scores, True, ScoreBand(step, step), "failed") <= failed)
    high = _first(STEPS, lambda step: mean_share(scores, False, ScoreBand(low, step), "passed") <= passed)
    return ScoreBand(low, max(low, high))


def _first(steps: Iterable[float], holds: Callable[[float], bool]) -> float:
    """The first threshold that keeps the bound, in the order of going easier on the judge."""
    return next(step for step in steps if holds(step))


def fit_bands(rows: Sequence[JudgedCase]) -> dict[str, ScoreBand]:
    """The thresholds of both verdicts."""
    return {verdict: fit_band(rows, verdict) for verdict in ("grounded", "right")}


def figures(source: str, rows: Sequence[JudgedCase], bands: dict[str, ScoreBand]) -> SetFigures:
    """The shares of one set with these thresholds; where a reference is compared without passages, of that verdict."""
    counts: Counter[tuple[bool, str]] = Counter()
    labels = Counter(row.case.accepted for row in rows)
    for row in rows:
        result = decide_verdict(CauseContext(row.facts), bands)
        counts[row.case.accepted, result.right if row.case.kind == "reference" else result.verdict] += 1
    share = {
        (accepted, verdict): counts[accepted, verdict] / _some(labels[accepted])
        for accepted in (True, False)
        for verdict in ("failed", "passed")
    }
    return SetFigures(
        source,
        KINDS[rows[0].case.kind],
        len(rows),
        share[True, "failed"],
        share[True, "passed"],
        share[False, "failed"],
        share[False, "passed"],
    )


def leave_out(rows: Sequence[JudgedCase]) -> list[SetFigures]:
    """Every set with the thresholds of the other families."""
    table: list[SetFigures] = []
    for family in dict.fromkeys(row.case.family for row in rows):
        bands = fit_bands([row for row in rows if row.case.family != family])
        own = [row for row in rows if row.case.family == family]
        sources = dict.fromkeys(row.case.source for row in own)
        table += [figures(source, [row for row in own if row.case.source == source], bands) for source in sources]
    return table


def summarize(table: Sequence[SetFigures]) -> list[str]:
    """The lines of a table: every set, then the means over the sets of a kind, and the worst set of each."""
    lines = [HEAD, "---|" + "|".join(["---:"] * 10)]
    for kind in dict.fromkeys(row.kind for row in table):
        rows = [row for row in table if row.kind == kind]
        lines += [row.text() for row in rows]
        shares = [float(np.nanmean([row[index] for row in rows])) for index in range(3, 7)]
        lines.append(SetFigures(f"**mean, {kind}**", kind, 0, *shares).text())
        decided = [row for row in rows if not np.isnan(row.balanced_accuracy)]
        if decided:
            worst = min(decided, key=lambda row: row.balanced_accuracy)
            mean = fmean(row.balanced_accuracy for row in decided)
            lines.append(
                f"*{kind}: mean {mean:.2f}, worst {worst.source}* | "
                + " | " * 6
                + f"| {worst.balanced_accuracy:.2f} | | "
            )
    return lines


def main() -> int:
    """Prints, and writes where asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extra", type=Path, help="a folder of fetched sets")
    parser.add_argument("--cache", type=Path, help="a folder that keeps what the judge found")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = list(judged_cases(options.extra, options.cache))
    lines, bands = summarize(leave_out(rows)), fit_bands(rows)
    print("\n".join(lines), "\n", bands)
    if options.write:
        content = {verdict: band._asdict() for verdict, band in bands.items()}
        THRESHOLDS.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        block = f"{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}"
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(re.sub(f"{BEGIN}.*?{END}", lambda _: block, page, flags=re.DOTALL), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
