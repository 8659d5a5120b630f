"""Writes tests/golden/retrieval/values.json: what pytrec_eval says about the miniature beside it.

Run it in an environment of its own, where pytrec_eval is not in the way of the project's:

    python -m venv /tmp/golden && /tmp/golden/bin/pip install pytrec-eval-terrier
    /tmp/golden/bin/python tools/golden/retrieval.py

The keys are our printed names. pytrec_eval has no exponential gain: those values come from the linear gain of
grades 2^g - 1. It evaluates the topics that are in both files, as trec_eval does.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import pytrec_eval

FOLDER = Path(__file__).resolve().parents[2] / "tests/golden/retrieval"
CUTOFFS = (1, 2, 3, 5, 10)
NAMES = {
    "map": "map",
    "recip_rank": "mrr",
    "bpref": "bpref",
    "Rprec": "r_precision",
    "ndcg": "ndcg",
    "set_P": "precision",
    "set_recall": "recall",
    "set_F": "f1",
    **{f"P_{k}": f"precision@{k}" for k in CUTOFFS},
    **{f"recall_{k}": f"recall@{k}" for k in CUTOFFS},
    **{f"success_{k}": f"hit@{k}" for k in CUTOFFS},
    **{f"map_cut_{k}": f"map@{k}" for k in CUTOFFS},
    **{f"ndcg_cut_{k}": f"ndcg@{k}" for k in CUTOFFS},
}
GRADED = ("ndcg", "ndcg_cut")
Values = dict[str, dict[str, float]]


def rows(name: str) -> list[list[str]]:
    """The lines of a file of the miniature, split at blanks; no comments."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [line.split() for line in lines if line.strip() and not line.startswith("#")]


def evaluated(qrels: dict[str, dict[str, int]], run: Values, level: int) -> Values:
    """Topic -> trec_eval's name -> value."""
    cut = ",".join(map(str, CUTOFFS))
    wanted = {name for name in NAMES if not name[-1].isdigit()}
    wanted |= {f"{name}.{cut}" for name in ("P", "recall", "success", "map_cut", "ndcg_cut")}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, wanted, relevance_level=level)
    found: Values = evaluator.evaluate(run)
    return found


def main() -> None:
    """Evaluates with relevance from 1, from 2, and with exponential gain."""
    qrels: dict[str, dict[str, int]] = {}
    for query, _, doc, grade in rows("qrels.txt"):
        qrels.setdefault(query, {})[doc] = int(grade)
    run: Values = {}
    for query, _, doc, _, score, *_ in rows("run.txt"):
        run.setdefault(query, {})[doc] = float(score)
    exponential = {query: {doc: 2 ** max(g, 0) - 1 for doc, g in docs.items()} for query, docs in qrels.items()}
    values: Values = {}
    for query, found in evaluated(qrels, run, 1).items():
        values[query] = {NAMES[name]: value for name, value in found.items()}
    for query, found in evaluated(qrels, run, 2).items():
        for name, value in found.items():
            if not name.startswith(GRADED):
                head, at, k = NAMES[name].partition("@")
                values[query][f"{head}:rel=2{at}{k}"] = value
    for query, found in evaluated(exponential, run, 1).items():
        for name, value in found.items():
            if name.startswith(GRADED):
                head, at, k = NAMES[name].partition("@")
                values[query][f"{head}:gain=exp{at}{k}"] = value
    written = {"made_with": f"pytrec-eval-terrier {version('pytrec-eval-terrier')}", "values": values}
    (FOLDER / "values.json").write_text(json.dumps(written, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
