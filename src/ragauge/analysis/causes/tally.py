"""Which failed examples are experimented on, and how often each cause was confirmed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest

from ragauge.analysis.causes.table import BY_NAME
from ragauge.analysis.results.confirmed import CauseTally, ExperimentOutcome


def drawn(failed: Mapping[str, str], version: str, seed: int = 0) -> list[str]:
    """The failed examples in the order of their experiments: one of each cause in turn, each cause's at random.

    So a limit cuts every cause alike, within a cause the sample is random, and a higher limit only adds to it.

    Args:
        failed: query_id -> cause.
        version: of the eval set.
        seed: of the draw.
    """

    def place(query_id: str) -> bytes:
        return hashlib.sha256(f"{seed} {version} {query_id}".encode("utf-8", "surrogatepass")).digest()

    by_cause: dict[str, list[str]] = {name: [] for name in (*BY_NAME, "")}
    for query_id in sorted(failed, key=place):
        by_cause.setdefault(failed[query_id], []).append(query_id)
    turns = zip_longest(*by_cause.values())
    return [query_id for query_id in chain.from_iterable(turns) if query_id is not None]


def tallies(
    failed: Mapping[str, str], without: Mapping[str, str], outcomes: Sequence[ExperimentOutcome]
) -> tuple[CauseTally, ...]:
    """Inferred and confirmed side by side, the most frequent cause first.

    Args:
        failed: query_id -> cause, of all failed examples.
        without: query_id -> why no experiment was made, of those looked at.
        outcomes: of the experiments.
    """
    found = []
    for cause in dict.fromkeys(failed.values()):
        verdicts = [one.verdict for one in outcomes if one.experiment.cause == cause]
        reasons = [why for query_id, why in without.items() if failed[query_id] == cause]
        counts = verdicts.count("confirmed"), verdicts.count("refuted"), verdicts.count("undecided")
        component = BY_NAME[cause].component if cause in BY_NAME else ""
        left = {why: reasons.count(why) for why in dict.fromkeys(reasons)}
        found.append(CauseTally(cause, component, list(failed.values()).count(cause), *counts, left))
    return tuple(sorted(found, key=lambda one: (-one.inferred, one.cause)))
