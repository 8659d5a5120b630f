"""Trains the local judge's scorers on human labels, and prints how well they do on sources they did not see.

    python bench/train_overlap.py            # trains, prints the held-out tables, writes weights.json and the page
    python bench/train_overlap.py --check    # the same, but compares with the committed file; exit 1 if it differs
                                             # or if the overlap scorer is not clearly better than token coverage

Data: AttributionBench dev (four sources) and WiCE dev, read from the data folder beside the repository.
Held out: each source is scored by a model trained on the other sources. The calibration too is learned from the
others only: each of them is scored by a model that saw neither it nor the source in question.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from held_out_tables import tables
from judge_data import Bm25, Labelled, Pair, claims, human_answers, lines, questions_and_references
from logistic import Array, Bounds, Fitted, auroc, balanced_accuracy, brier, ece, evened, fit, platt, sigmoid

from ragauge.core.ask import Ask, Reply
from ragauge.core.facts import AnswerFacts
from ragauge.judges.inputs import VerifyAnswer
from ragauge.judges.judge import answer_asks
from ragauge.judges.local import overlap, relevance
from ragauge.judges.local.index import Mode
from ragauge.judges.local.statements import strip_marks
from ragauge.judges.local.support import MAX_ABSENT_P, PreparedPassages
from ragauge.judges.local.verify_answer import verify_answer
from ragauge.judges.local.weights import WEIGHTS_FILE
from ragauge.judges.similarity import compute_cosines as cosines_of
from ragauge.models.embedders.base import WordLlamaEmbedder
from ragauge.text.tokens import split_words

PAGE = Path(__file__).resolve().parents[1] / "docs/local-judge.md"
BEGIN = "<!-- held-out figures, written by bench/train_overlap.py: begin -->\n"
END = "<!-- held-out figures: end -->"
PENALTY = 10.0
TURNS = 3  # of choosing the best row of an item and fitting again
BANDS = (0.3, 0.7)
EDGES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
MARGIN = 0.01  # by which the overlap scorer has to beat plain token coverage, mean AUROC
TOLERANCE = 0.01  # between the committed figures and those of this run; a better sentence splitter moves them a little

# more of these can only speak against, more of all others but the lengths only for
AGAINST = frozenset({"numbers_missing", "names_missing"})
EITHER_WAY = frozenset({"claim_length", "evidence_length", "query_length", "text_length"})
Sources = npt.NDArray[np.str_]


class Table:
    """Features, labels and sources of one task. Where an item has several rows its score is that of the best one."""

    def __init__(self, names: Sequence[str], rows: Any, labels: Any, sources: Any, owner: Any = None) -> None:
        self.names = tuple(names)
        self.rows = np.asarray(rows, dtype=np.float64)
        self.labels = np.asarray(labels, dtype=np.float64)
        self.sources: Sources = np.asarray(sources)
        self.owner = np.arange(len(self.labels)) if owner is None else np.asarray(owner)
        self.least = np.zeros(len(self.rows))  # per row, the least that p is
        self.most = np.ones(len(self.rows))  # and the most that it may be

    def bounds(self) -> Bounds:
        """Signs that the coefficients may have."""
        below = AGAINST | EITHER_WAY
        return [(None if name in below else 0.0, 0.0 if name in AGAINST else None) for name in self.names]

    def train(self, chosen: npt.NDArray[np.bool_]) -> Fitted:
        """A model of the chosen items, on the row of each that the model itself scores best: fitted in turns."""
        weights = evened(self.sources[chosen])
        rows = np.searchsorted(self.owner, np.arange(len(self.labels)))[chosen]
        for _ in range(TURNS):
            model = fit(self.rows[rows], self.labels[chosen], weights, PENALTY, self.bounds())
            z = model.z(self.rows)
            order = np.lexsort((z, self.owner))
            rows = order[np.searchsorted(self.owner[order], np.arange(len(self.labels)), "right") - 1][chosen]
        return model

    def best(self, values: Array, chosen: npt.NDArray[np.bool_]) -> Array:
        """Per chosen item the greatest value of its rows."""
        best = np.full(len(self.labels), -np.inf)
        np.maximum.at(best, self.owner, values)
        return best[chosen]

    def held_out_z(self, chosen: npt.NDArray[np.bool_]) -> Array:
        """Log odds of the chosen items, each source scored by a model of the other chosen sources."""
        out = np.zeros(len(self.labels))
        for source in np.unique(self.sources[chosen]):
            mine = chosen & (self.sources == source)
            out[mine] = self.best(self.train(chosen & ~mine).z(self.rows), mine)
        return out[chosen]

    def held_out_p(self) -> Array:
        """Calibrated probabilities of all items, model and calibration both learned from other sources."""
        out = np.zeros(len(self.labels))
        for source in np.unique(self.sources):
            mine = self.sources == source
            others = ~mine
            slope, shift = platt(self.held_out_z(others), self.labels[others], evened(self.sources[others]))
            p = sigmoid(slope * self.train(others).z(self.rows) + shift)
            out[mine] = self.best(np.maximum(np.minimum(p, self.most), self.least), mine)
        return out

    def final(self, threshold: float) -> dict[str, Any]:
        """The model of all sources with its calibration folded in, as it is stored."""
        every = np.ones(len(self.labels), dtype=bool)
        slope, shift = platt(self.held_out_z(every), self.labels, evened(self.sources))
        model = self.train(every)
        values = {n: round(float(slope * c), 5) for n, c in zip(self.names, model.coefficients, strict=True)}
        return {"coefficients": values, "intercept": round(slope * model.intercept + shift, 5), "threshold": threshold}


def overlap_table(items: Sequence[Labelled], mode: Mode) -> Table:
    """Rows of every claim, one a passage."""
    rows, owner, least, most = [], [], [], []
    for number, item in enumerate(items):
        claim = strip_marks(item.claim)
        compared = PreparedPassages(item.passages, [claim], mode).compare_claim(claim)
        for n in range(1, len(item.passages) + 1):
            rows.append(compared.compute_features([n]))
            owner.append(number)
            most.append(compared.most(n))
            least.append(compared.least(n))
    table = Table(overlap.FEATURES, rows, [i.supported for i in items], [i.source for i in items], owner)
    table.least, table.most = np.asarray(least), np.asarray(most)
    return table


def token_coverage(items: Sequence[Labelled]) -> Array:
    """The plain alternative: the share of the claim's words that occur in the evidence."""
    scores = []
    for item in items:
        there = {word for text in item.passages for word in split_words(text)}
        own = split_words(strip_marks(item.claim))
        scores.append(sum(word in there for word in own) / max(1, len(own)))
    return np.asarray(scores)


def relevance_table(pairs: Sequence[Pair], *, cosine: bool) -> Table:
    """Rows of question and text, with the cosine of their embeddings or without."""
    queries, texts = [p.query for p in pairs], [p.text[: relevance.MAX_EMBEDDED_CHARS] for p in pairs]
    angles = cosines(queries, texts) if cosine else [None] * len(pairs)
    rows = [
        relevance.PreparedQuestion(p.query, "words").compute_features(p.text, angle)
        for p, angle in zip(pairs, angles, strict=True)
    ]
    names = relevance.FEATURES if cosine else relevance.LEXICAL
    return Table(names, rows, [p.own for p in pairs], [p.source for p in pairs])


def cosines(queries: Sequence[str], texts: Sequence[str]) -> list[float | None]:
    """Cosine of each query with its text, as the judge computes it."""
    embedder = WordLlamaEmbedder()
    kept: dict[str, Any] = {}
    for text in {**dict.fromkeys(queries), **dict.fromkeys(texts)}:
        kept[text] = embedder.embed([text])[0]
    pairs = zip(queries, texts, strict=True)
    return [cosines_of(Reply("ok", vectors=[kept[q], kept[t]]), 1)[0] for q, t in pairs]


def figures(labels: Array, p: Array, threshold: float, plain: Array | None = None) -> dict[str, float]:
    """The measures of one source."""
    found = {
        "n": len(labels),
        "positive": labels.mean(),
        "auroc": auroc(labels, p),
        "balanced_accuracy": balanced_accuracy(labels, p >= threshold),
        "brier": brier(labels, p),
        "ece": ece(labels, p),
    }
    if plain is not None:
        found["coverage_auroc"] = auroc(labels, plain)
    return {name: round(float(value), 4) for name, value in found.items()}


def by_source(table: Table, p: Array, threshold: float, plain: Array | None = None) -> dict[str, dict[str, float]]:
    """The measures of every source, and their means (sums of n)."""
    out = {}
    for source in np.unique(table.sources):
        mine = table.sources == source
        out[str(source)] = figures(table.labels[mine], p[mine], threshold, None if plain is None else plain[mine])
    rows = list(out.values())
    mean = {name: round(sum(row[name] for row in rows) / len(rows), 4) for name in rows[0]}
    return {**out, "mean": {**mean, "n": float(sum(row["n"] for row in rows))}}


def band_rates(table: Table, p: Array, edges: Sequence[float]) -> list[dict[str, Any]]:
    """Per band of p the share supported: over all sources, and least and greatest over those with 10 or more."""
    out = []
    for low, high in pairwise(edges):
        inside = (p >= low) & ((p < high) | (high == 1.0))
        rates = [
            float(table.labels[inside & (table.sources == s)].mean())
            for s in np.unique(table.sources)
            if (inside & (table.sources == s)).sum() >= 10
        ]
        out.append(
            {
                "low": low,
                "high": high,
                "n": int(inside.sum()),
                "share": round(float(inside.mean()), 4),
                "supported": round(float(table.labels[inside].mean()), 4) if inside.any() else None,
                "least": round(min(rates), 4) if rates else None,
                "greatest": round(max(rates), 4) if rates else None,
            }
        )
    return out


def absent_numbers(table: Table) -> dict[str, float]:
    """Claims with digits that stand nowhere in the evidence, and the share of them that people called supported."""
    inside = table.best(table.most, np.ones(len(table.labels), dtype=bool)) <= MAX_ABSENT_P
    return {"n": int(inside.sum()), "supported": round(float(table.labels[inside].mean()), 4)}


def clapnq(scorer: dict[str, Any], names: Sequence[str]) -> dict[str, float]:
    """Relevance on questions of another set: the gold passage against the four hardest of other questions."""
    gold = [(row["input"], row["passages"][0]["text"]) for row in lines("clapnq", "clapnq_dev_answerable.jsonl")]
    pool = list(dict.fromkeys(text for _, text in gold))
    pool += [row["passages"][0]["text"] for row in lines("clapnq", "clapnq_dev_unanswerable.jsonl")]
    pool = list(dict.fromkeys(pool))
    index, pairs = Bm25(pool), []
    for query, own in gold:
        pairs.append(Pair("CLAPNQ", query, own, 1))
        hardest = [pool[k] for k in index.ranked(query)[:6] if pool[k] != own][:4]
        pairs += [Pair("CLAPNQ", query, text, 0) for text in hardest]
    table = relevance_table(pairs, cosine="cosine" in names)
    weights = np.asarray([scorer["coefficients"][name] for name in names])
    return figures(table.labels, sigmoid(table.rows @ weights + scorer["intercept"]), scorer["threshold"])


def addressing() -> dict[str, dict[str, float]]:
    """Shares of people's answers that are called a refusal, off the topic or partial; the same of another's answer.

    The other answer is that of the question 7 places on. Nothing was trained on these sets.
    """
    embedder, found = WordLlamaEmbedder(), {}

    def answer(asks: Sequence[Ask]) -> list[Reply]:
        return [Reply("ok", vectors=embedder.embed([text for _, text in ask.messages])) for ask in asks]

    for name, pairs in human_answers().items():
        asked = [(query, text) for query, text in pairs if text != "NA"]  # CLAPNQ's mark for no answer
        other = [(query, asked[(n + 7) % len(asked)][1]) for n, (query, _) in enumerate(asked)]
        row: dict[str, float] = {"n": len(asked)}
        for whose, chosen in (("own", asked), ("other", other)):
            facts = [answer_asks(verify_answer(VerifyAnswer(query, None, text)), answer) for query, text in chosen]
            known = [one for one in facts if isinstance(one, AnswerFacts)]
            row[f"{whose}_refused"] = sum(one.refuse is True for one in known) / len(asked)
            for address in ("no", "partly"):
                row[f"{whose}_{address}"] = sum(one.address == address for one in known) / len(asked)
        found[name] = {key: round(value, 4) for key, value in row.items()}
    return found


def train() -> dict[str, Any]:
    """Everything that is stored."""
    items = claims()
    plain = token_coverage(items)
    scorers: dict[str, Any] = {}
    held_out: dict[str, Any] = {}
    for mode in ("words", "grams"):
        table = overlap_table(items, mode)
        p = table.held_out_p()
        name = f"overlap_{mode}"
        scorers[name] = table.final(0.5)
        held_out[name] = {"sources": by_source(table, p, 0.5, plain)}
        held_out[name]["bands"] = band_rates(table, p, EDGES)
        held_out[name]["ends"] = band_rates(table, p, (0.0, *BANDS, 1.0))
        held_out[name]["pooled"] = figures(table.labels, p, 0.5, plain)
        held_out[name]["absent"] = absent_numbers(table)
    pairs = questions_and_references()
    for name, cosine in (("relevance", True), ("relevance_lexical", False)):
        table = relevance_table(pairs, cosine=cosine)
        p = table.held_out_p()
        scorers[name] = table.final(0.5)
        held_out[name] = {"sources": by_source(table, p, 0.5)}
        held_out[name]["sources"]["CLAPNQ (another set)"] = clapnq(scorers[name], table.names)
    held_out["address"] = addressing()
    about = "Written by bench/train_overlap.py; do not edit."
    return {"about": about, "bands": BANDS, "scorers": scorers, "held_out": held_out}


def differences(stored: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Mean held-out figures of the file that this run does not reproduce."""
    out = []
    for name, rows in found["held_out"].items():
        if "sources" not in rows:
            continue
        for measure, value in rows["sources"]["mean"].items():
            kept = stored["held_out"][name]["sources"]["mean"][measure]
            if abs(kept - value) > TOLERANCE:
                out.append(f"{name} {measure}: {kept} in the file, {value} now")
    return out


def main() -> None:
    """Trains, prints, and writes or checks."""
    started = time.perf_counter()
    found = train()
    print(tables(found["held_out"]))
    mean = found["held_out"]["overlap_words"]["sources"]["mean"]
    gain = mean["auroc"] - mean["coverage_auroc"]
    print(f"\nbetter than plain token coverage by {gain:.4f} mean AUROC; took {time.perf_counter() - started:.0f} s")
    if "--check" not in sys.argv[1:]:
        WEIGHTS_FILE.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        after = rest[rest.index(END) :]
        PAGE.write_text(f"{before}{begin}\n{tables(found['held_out'])}\n\n{after}", encoding="utf-8")
        print(f"wrote {WEIGHTS_FILE.name} and the figures of {PAGE.name}")
        return
    if gain < MARGIN:
        sys.exit(f"the gain over plain token coverage is below {MARGIN}")
    if wrong := differences(json.loads(WEIGHTS_FILE.read_text(encoding="utf-8")), found):
        sys.exit(
            f"{WEIGHTS_FILE.name} is not what this data and code give; run bench/train_overlap.py: {'; '.join(wrong)}"
        )


if __name__ == "__main__":
    main()
