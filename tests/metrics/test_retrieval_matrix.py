"""What every retrieval metric says when labels or results are full, partial or missing."""

from __future__ import annotations

import pytest

from ragauge.core.example import Example, Relevant
from ragauge.core.response import Passage, Response
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric
from ragauge.metrics.retrieval.ranks import rank_responses

NAMES = (
    "recall",
    "recall@2",
    "precision",
    "precision@2",
    "f1",
    "f1@2",
    "hit@1",
    "mrr",
    "map",
    "ndcg",
    "ndcg@2",
    "bpref",
    "r_precision",
    "rbp:p=0.5",
    "judged",
    "judged@2",
)
LABELS = {
    "full": {"a": 2.0, "b": 1.0, "c": 0.0},
    "partial": {"a": 2.0},
    "nothing relevant": {"c": 0.0},
    "empty": {},
    "none": None,
}
RESULTS = {"full": ["a", "c", "b"], "partial": ["c", "u", "b"], "empty": [], "none": None}
NA, UNDEFINED = "not_applicable", "undefined"
ALL_NA = (NA,) * len(NAMES)
NOTHING_BACK = tuple(UNDEFINED if name in ("precision", "judged", "judged@2") else 0.0 for name in NAMES)
# by hand, ideal dcg of the full labels: 2 + 1/log2(3) = 2.63093
EXPECTED: dict[tuple[str, str], tuple[float | str, ...]] = {
    # ranks a1 b3: map (1 + 2/3)/2, ndcg (2 + 1/2)/2.63093, bpref (1 + 0)/2, rbp (1 + 1/4)/2
    ("full", "full"): (1, 0.5, 2 / 3, 0.5, 0.8, 0.5, 1, 1, 5 / 6, 0.950234, 0.760187, 0.5, 0.5, 0.625, 1, 1),
    # ranks b3: map (1/3)/2, ndcg (1/2)/2.63093
    ("full", "partial"): (0.5, 0, 1 / 3, 0, 0.4, 0, 0, 1 / 3, 1 / 6, 0.190047, 0, 0, 0, 0.125, 2 / 3, 0.5),
    ("full", "empty"): NOTHING_BACK,
    ("partial", "full"): (1, 1, 1 / 3, 0.5, 0.5, 2 / 3, 1, 1, 1, 1, 1, 1, 1, 0.5, 1 / 3, 0.5),
    ("partial", "partial"): (0,) * len(NAMES),
    ("partial", "empty"): NOTHING_BACK,
    # how much was judged can be said all the same
    ("nothing relevant", "full"): (*(NA,) * 14, 1 / 3, 0.5),
    ("nothing relevant", "partial"): (*(NA,) * 14, 1 / 3, 0.5),
    ("nothing relevant", "empty"): (*(NA,) * 14, UNDEFINED, UNDEFINED),
    **{("empty", results): ALL_NA for results in RESULTS},
    **{("none", results): ALL_NA for results in RESULTS},
    **{(labels, "none"): ALL_NA for labels in LABELS},
}


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("results", RESULTS)
def test_labels_against_results(labels: str, results: str) -> None:
    """Each combination of labels and results gives every metric the value, or the status, of the table."""
    grades, docs = LABELS[labels], RESULTS[results]
    relevant = None if grades is None else tuple(Relevant((doc,), grade) for doc, grade in grades.items())
    example = Example("q", "?", relevant=relevant)
    passages = None if docs is None else tuple(Passage(doc, doc) for doc in docs)
    response = Response("q", passages=passages)
    (ranking,) = rank_responses([(example, response)])
    facts = Facts(example, response, ranking=ranking)
    found = [measure_metric(parse_metric(name), facts) for name in NAMES]
    for name, one, expected in zip(NAMES, found, EXPECTED[labels, results], strict=True):
        if isinstance(expected, str):
            assert (name, one.status, one.value) == (name, expected, None)
            assert one.reason
        else:
            assert one.status == "scored", name
            assert one.value == pytest.approx(expected, abs=1e-6), name
