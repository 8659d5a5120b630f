"""Train whether the evidence for a reference claim is among the passages; print it for sets left out.

python bench/train_evidence.py            writes judging/local/evidence_weights.json and docs/local-judge.md
python bench/train_evidence.py --check    exit 1 when the weights are not what the data and the code give

Each question of four public sets stands twice: with its gold passages among others that rank high for it, and with
such others alone. A claim of its reference is labelled by which of the two it is.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
from evidence_data import SETS, asked
from logistic import auroc, brier, fit, sigmoid

from ragauge.data.example import Example
from ragauge.judging.inputs import VerifyReference, reference_claims
from ragauge.judging.local.evidence import FEATURES, log_odds, on_topic
from ragauge.judging.local.index import mode_of
from ragauge.judging.local.verify_reference import stated
from ragauge.text.claim_kinds import ClaimKind, claim_kind

ROOT = Path(__file__).resolve().parents[1]
WEIGHTS = ROOT / "src/ragauge/judging/local/evidence_weights.json"
PAGE = ROOT / "docs/local-judge.md"
MARKS = "<!-- evidence, written by bench/train_evidence.py: begin -->", "<!-- evidence: end -->"
MOST = 250          # questions of each set
BESIDE = 2          # other passages beside the gold ones
PRESENT = 0.6       # share of questions whose evidence is there: between a weak retriever and a strong one
PENALTY = 1.0
EVEN = 0.5
FEWEST = 20         # claims of a kind in a set that a rate is given for


class Row(NamedTuple):
    """A reference claim beside passages, and whether they are those that hold its evidence."""

    source: str
    stated: float
    topic: float
    held: int
    kind: ClaimKind


def rows(source: str) -> Iterator[Row]:
    """Every claim of the drawn questions, with the evidence and without."""
    for one in asked(source, MOST):
        claims = reference_claims(Example(one.query_id, one.query, references=(one.reference,)))
        for held, passages in ((1, (*one.gold, *one.others[:BESIDE])), (0, one.others)):
            if not passages:
                continue
            inputs = VerifyReference(one.query, claims, passages)
            topic = on_topic(one.query, passages, mode_of((one.query, *passages)))
            for claim, found in zip(claims, stated(inputs), strict=True):
                if not found.otherwise:
                    yield Row(source, found.p, topic, held, claim_kind(claim))


def table(found: Sequence[Row]) -> tuple[Any, Any, Any]:
    """Features, labels and weights: every source counts alike, and PRESENT of it has its evidence."""
    features = np.array([[log_odds(row.stated), log_odds(row.topic)] for row in found])
    labels = np.array([float(row.held) for row in found])
    weights = np.zeros(len(found))
    for source in {row.source for row in found}:
        for held, share in ((1, PRESENT), (0, 1 - PRESENT)):
            mine = [n for n, row in enumerate(found) if (row.source, row.held) == (source, held)]
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
            "n": len(mine), "auroc": auroc(labels, p), "auroc_words": auroc(labels, words),
            "brier": brier(labels, p), "brier_words": brier(labels, words),
            "there_missed": float((p[labels == 1] < 0.5).mean()), "gone_seen": float((p[labels == 0] < 0.5).mean()),
        }  # fmt: skip
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
