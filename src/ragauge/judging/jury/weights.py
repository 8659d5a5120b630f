"""How much each member's vote counts, by a check of all members against people's labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import Any

from ragauge.errors import DataError, UsageError

LEAST = 50  # labels that a weight rests on


def weight_of(right: float, n: float) -> float:
    """Log odds of a judge's accuracy, a right and a wrong verdict added, so that none is certain.

    log((right + 1) / (n − right + 1))

    >>> round(weight_of(45, 50), 3), weight_of(0, 0), weight_of(5, 50) < 0
    (2.037, 0.0, True)
    """
    return log((right + 1) / (n - right + 1))


def log_odds(source: str, judge_ids: Sequence[str]) -> tuple[float, ...]:
    """The weights of some judges by what `ragauge judge check … -o check.json` wrote.

    Accuracy is that by supported or not, over the parts that the judge has a verdict on.

    Args:
        source: path of the file.
        judge_ids: whose, in the order of the jury.

    Raises:
        DataError: a file that cannot be read, or is none of a check.
        UsageError: it has no figures of a judge, or of fewer than 50 parts.
    """
    rows = _judges(source)
    weights = []
    for judge_id in judge_ids:
        if judge_id not in rows:
            checked = ", ".join(rows) or "nobody"
            raise UsageError(f"{source} has no check of {judge_id} (it has: {checked}). Check all members on one file.")
        over = rows[judge_id]["supported_or_not"]
        n, accuracy = over["n"], over["accuracy"]["value"]
        if n < LEAST:
            raise UsageError(f"{source}: {judge_id} was checked on {n} labelled parts, weights take {LEAST} or more.")
        weights.append(weight_of(accuracy * n, n))
    return tuple(weights)


def _judges(source: str) -> dict[str, Any]:
    """Judge id -> its figures."""
    path = Path(source)
    if not path.is_file():
        raise DataError("no such file. ragauge judge check LABELS --judge … -o check.json writes it.", source=source)
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["judges"]
        return {row["judge_id"]: row for row in rows if "supported_or_not" in row}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataError("expected the JSON of ragauge judge check … -o check.json.", source=source) from None
