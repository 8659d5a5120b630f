"""Train whether the evidence for a reference claim is among the passages; print it for sets left out.

python bench/train_evidence.py            writes judges/local/evidence_weights.json and docs/local-judge.md
python bench/train_evidence.py --check    exit 1 when the weights are not what the data and the code give

Each question of four public sets stands three times: with its gold passages among others that rank high for it, with
such others alone, and joined with the next question, of which only one has its gold passages. A claim of a reference is
labelled by whether the gold passages of its question are there.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
from evidence_data import SETS, Asked, asked
from logistic import auroc, brier, fit, sigmoid

from ragauge.core.example import Example
from ragauge.judges.inputs import VerifyReference, list_reference_claims
from ragauge.judges.local.verify_reference import FEATURES, compute_log_odds, compute_topics, weigh_claims
from ragauge.text.specifics import ClaimKind, classify_claim

ROOT = Path(__file__).resolve().parents[1]
WEIGHTS = ROOT / "src/ragauge/judges/local/evidence_weights.json"
PAGE = ROOT / "docs/local-judge.md"
MARKS = "<!-- evidence, written by bench/train_evidence.py: begin -->", "<!-- evidence: end -->"
MOST = 250  # questions of each set
BESIDE = 2  # other passages beside the gold ones
PRESENT = 0.7  # share of questions whose evidence is there: between a weak retriever and a strong one
JOINED = 0.2  # share of questions of which only a part may have its evidence
PENALTY = 1.0
EVEN = 0.5
FEWEST = 20  # claims of a kind in a set that a rate is given for


class Row(NamedTuple):
    """A reference claim beside passages, and whether they are those that hold its evidence."""

    source: str
    stated: float
    topic: float
    held: int
    kind: ClaimKind
    joined: bool


def rows(source: str) -> Iterator[Row]:
    """Every claim of the drawn questions: with the evidence, without, and with that of one of two questions in one."""
    drawn = asked(source, MOST)
    for one, other in zip(drawn, [*drawn[1:], drawn[0]], strict=True):
        mine, its = _claims(one), _claims(other)
        yield from _rows(one, one.query, mine, (*one.gold, *one.others[:BESIDE]), [1] * len(mine))
        yield from _rows(one, one.query, mine, one.others, [0] * len(mine))
        both = f"{one.query} {other.query}"
        yield from _rows(one, both, (*mine, *its), (*one.gold, *other.others), [1] * len(mine) + [0] * len(its))


def _claims(one: Asked) -> tuple[str, ...]:
    return list_reference_claims(Example(one.query_id, one.query, references=(one.reference,)))


def _rows(
    one: Asked, query: str, claims: tuple[str, ...], passages: tuple[str, ...], held: Sequence[int]
) -> Iterator[Row]:
    if not passages:
        return
    verdicts = weigh_claims(VerifyReference(query, claims, passages))
    topic = max(compute_topics(query, passages), default=0.0)
    for claim, found, there in zip(claims, verdicts, held, strict=True):
        yield Row(one.source, found.p, topic, there, classify_claim(claim), query != one.query)


def table(found: Sequence[Row]) -> tuple[Any, Any, Any]:
    """Features, labels and weights: every source counts alike, and PRESENT of it has its evidence."""
    features = np.array([[compute_log_odds(row.stated), compute_log_odds(row.topic)] for row in found])
    labels = np.array([float(row.held) for row in found])
    weights = np.zeros(len(found))
    for source in {row.source for row in found}:
        for held, joined in product((0, 1), (False, True)):
            share = (PRESENT if held else 1 - PRESENT) * (JOINED if joined else 1 - JOINED)
            mine = [n for n, row in enumerate(found) if (row.source, row.held, row.joined) == (source, held, joined)]
            weights[mine] = share / max(1, len(mine))
    return features, labels, weights * len(found) / weights.sum()


def trained(found: Sequence[Row]) -> dict[str, Any]:
    """The stored form of the scorer."""
    features, labels, weights = table(found)
    fitted = fit(features, labels, weights, PENALTY, [(0.0, None)] * len(FEATURES))
    coefficients = {name: round(float(c), 6) for name, c in zip(FEATURES, fitted.coefficients, strict=True)}
    return {"coefficients": coefficients, "intercept": round(fitted.intercept, 6), "threshold": 0.5}


def found_by_kind(found: Sequence[Row]) -> dict[str, float]:
    """Kind of claim -> share that is called there by what the other sets taught, where it is; sets count alike."""
    rates: dict[str, list[float]] = {}
    for source in SETS:
        scorer = trained([row for row in found if row.source != source])
        mine = [row for row in found if row.source == source and row.held]
        p = _p(scorer, mine)
        for kind in get_args(ClaimKind):
            seen = [p[n] >= EVEN for n, row in enumerate(mine) if row.kind == kind]
            if len(seen) >= FEWEST:
                rates.setdefault(kind, []).append(sum(seen) / len(seen))
    return {kind: round(sum(each) / len(each), 3) for kind, each in sorted(rates.items())}


def _p(scorer: Mapping[str, Any], rows: Sequence[Row]) -> Any:
    features, _, _ = table(rows)
    return sigmoid(features @ np.array([scorer["coefficients"][name] for name in FEATURES]) + scorer["intercept"])


def left_out(found: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Each source scored by what the others taught."""
    report = {}
    for source in SETS:
        mine = [row for row in found if row.source == source]
        scorer = trained([row for row in found if row.source != source])
        p, labels = _p(scorer, mine), np.array([float(row.held) for row in mine])
        words = np.array([row.stated for row in mine])
        report[source] = {
            "n": len(mine),
            "auroc": auroc(labels, p),
            "auroc_words": auroc(labels, words),
            "brier": brier(labels, p),
            "brier_words": brier(labels, words),
            "there_missed": float((p[labels == 1] < 0.5).mean()),
            "gone_seen": float((p[labels == 0] < 0.5).mean()),
        }
    return {source: {name: round(value, 4) for name, value in row.items()} for source, row in report.items()}


def written(report: Mapping[str, Mapping[str, float]]) -> str:
    """The table of the page."""
    lines = [
        "set | claims | AUROC | words alone | Brier | words alone | there, called missing | missing, called so",
        "---|---:|---:|---:|---:|---:|---:|---:",
    ]
    for source, row in report.items():
        lines.append(
            f"{source} | {row['n']:.0f} | {row['auroc']:.3f} | {row['auroc_words']:.3f} | {row['brier']:.3f} "
            f"| {row['brier_words']:.3f} | {row['there_missed']:.0%} | {row['gone_seen']:.0%}"
        )
    return "\n".join(lines)


def main() -> int:
    """Trains, prints, and writes or checks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    found = [row for source in SETS for row in rows(source)]
    report = left_out(found)
    print(written(report))
    learned = {"scorer": trained(found), "held_out": report, "found": found_by_kind(found)}
    text = json.dumps(learned, indent=1, sort_keys=True) + "\n"
    if options.check:
        same = WEIGHTS.read_text(encoding="utf-8") == text
        print("fresh" if same else f"{WEIGHTS.name} is stale. Run: python bench/train_evidence.py")
        return 0 if same else 1
    WEIGHTS.write_text(text, encoding="utf-8")
    page, (begin, end) = PAGE.read_text(encoding="utf-8"), MARKS
    block = f"{begin}\n\n{written(report)}\n\n{end}"
    PAGE.write_text(re.sub(f"{begin}.*?{end}", lambda _: block, page, flags=re.DOTALL), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
