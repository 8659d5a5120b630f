"""Trains how the local judge tells whether an answer addresses its question, and prints how well on held-out sources.

    python bench/train_address.py                  # trains, prints the held-out tables, writes address_weights.json
    python bench/train_address.py --check          # the same, but compares with the committed file; exit 1 if it differs
    python bench/train_address.py --on FILE …      # measures the committed judge on conversations: JSON lines with
                                                   # query, answer, and previous (what was said before the query)

Held out: each source is scored by a model trained on the other sources, its calibration too. A text that is on the topic
without answering counts half as "partly" and half as "no": it may hold a part of the answer, nobody looked.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from address_data import Placed, long_answers, short_answers
from logistic import Array, Fitted, auroc, evened, fit, platt, sigmoid
from train_overlap import cosines

from ragauge.data.ask import Ask, Reply
from ragauge.data.facts import AnswerFacts
from ragauge.judging.inputs import VerifyAnswer
from ragauge.judging.judge import drive
from ragauge.judging.local import address
from ragauge.judging.local.index import Mode
from ragauge.judging.local.statements import statements
from ragauge.judging.local.verify_answer import verify_answer
from ragauge.judging.local.weights import ADDRESS_FILE
from ragauge.llm.embedders.wordllama import WordLlamaEmbedder

PENALTY = 10.0
# What a system's answers are before anything is known of them: most answer, few are off the topic. Balanced classes would
# call every fourth good answer partial; only the ratio of the two cuts' weights comes from here, the order does not.
SHARES: Mapping[str, float] = {"own": 0.8, "topic": 0.1, "other": 0.1}
TOLERANCE = 0.01
MODES: tuple[Mode, ...] = ("words", "grams")


class Table(NamedTuple):
    """Features, levels and sources of one scorer."""

    names: tuple[str, ...]
    rows: Array
    levels: npt.NDArray[np.str_]
    sources: npt.NDArray[np.str_]

    def own(self) -> Array:
        """1 where the text answers."""
        return np.asarray(self.levels == "own", dtype=np.float64)

    def some(self) -> Array:
        """1 where it answers, a half where it is on the topic."""
        return self.own() + 0.5 * (self.levels == "topic")

    def weights(self) -> Array:
        """Sources evened, and within each the shares of the levels as they are expected."""
        weights = np.ones(len(self.levels))
        for source in np.unique(self.sources):
            mine = self.sources == source
            there = [name for name in SHARES if (mine & (self.levels == name)).any()]
            for name in there:
                cell = mine & (self.levels == name)
                share = SHARES[name] if name == "own" else (1 - SHARES["own"]) / (len(there) - 1)
                weights[cell] = share * mine.sum() / cell.sum()
        return weights * evened(self.sources)

    def part(self, chosen: npt.NDArray[np.bool_]) -> Table:
        """Some of its rows."""
        return Table(self.names, self.rows[chosen], self.levels[chosen], self.sources[chosen])


def table(placed: Sequence[Placed], angles: Sequence[float | None], mode: Mode, *, vectors: bool, brief: bool) -> Table:
    """Features of every pair, in the order of their names."""
    names = [*(address.BRIEF if brief else address.LEXICAL), *(["cosine"] if vectors else [])]
    if mode == "grams":
        names = [name for name in names if name in address.EVERY_LANGUAGE]
    rows = []
    for one, angle in zip(placed, angles, strict=True):
        shown = statements(one.answer).shown[: address.LOOKED_AT]
        found = {**address.evidence(one.query, shown, one.answer, mode), "cosine": angle}
        rows.append([found[name] for name in sorted(names)])
    levels, sources = np.asarray([one.level for one in placed]), np.asarray([one.source for one in placed])
    return Table(tuple(sorted(names)), np.asarray(rows, dtype=np.float64), levels, sources)


def model(found: Table) -> Fitted:
    """Answers against all else, one voice to both."""
    own, weights = found.own(), evened(found.sources)
    weights = np.where(own == 1, weights / weights[own == 1].sum(), weights / weights[own == 0].sum()) * len(own) / 2
    bounds = [
        (None, None) if name in address.EITHER_WAY else (None, 0.0) if name in address.AGAINST else (0.0, None)
        for name in found.names
    ]
    return fit(found.rows, own, weights, PENALTY, bounds)


def held_out(found: Table) -> Array:
    """Log odds of every row by a model of the other sources."""
    z = np.zeros(len(found.levels))
    for source in np.unique(found.sources):
        mine = found.sources == source
        z[mine] = model(found.part(~mine)).z(found.rows[mine])
    return z


def cuts(found: Table, z: Array) -> tuple[tuple[float, float], tuple[float, float]]:
    """Slope and shift that calibrate "fully", and "at least partly"."""
    weights = found.weights()
    fully = platt(z, found.own(), weights)
    return fully, platt(z, found.some(), weights)


def expected(z: Array, both: tuple[tuple[float, float], tuple[float, float]]) -> Array:
    """P(fully) + P(partly) / 2."""
    (slope, shift), (low_slope, low_shift) = both
    fully = sigmoid(slope * z + shift)
    return (fully + np.maximum(fully, sigmoid(low_slope * z + low_shift))) / 2


def figures(found: Table) -> dict[str, dict[str, float]]:
    """Per source: AUROC against both others, and the mean expected value of each level; all held out."""
    out = {}
    for source in np.unique(found.sources):
        mine = found.sources == source
        rest = found.part(~mine)
        both = cuts(rest, held_out(rest))
        value = expected(model(rest).z(found.rows[mine]), both)
        levels = found.levels[mine]
        row: dict[str, float] = {"n": float((levels == "own").sum())}
        for name in ("topic", "other"):
            chosen = (levels == "own") | (levels == name)
            if (levels == name).any():
                row[f"auroc_{name}"] = auroc((levels[chosen] == "own").astype(np.float64), value[chosen])
        row |= {f"mean_{name}": float(value[levels == name].mean()) for name in SHARES if (levels == name).any()}
        out[str(source)] = {name: round(value, 4) for name, value in row.items()}
    return out


def stored(found: Table) -> dict[str, Any]:
    """The scorer of all sources as it is kept, the calibration of "fully" folded in."""
    (slope, shift), (low_slope, low_shift) = cuts(found, held_out(found))
    fitted = model(found)
    weights = {name: round(float(slope * c), 5) for name, c in zip(found.names, fitted.coefficients, strict=True)}
    partly = [round(low_slope / slope, 5), round(low_shift - low_slope / slope * shift, 5)]
    return {"coefficients": weights, "intercept": round(slope * fitted.intercept + shift, 5), "at_least_partly": partly}


def train() -> dict[str, Any]:
    """Everything that is stored."""
    scorers: dict[str, Any] = {}
    tables: dict[str, Any] = {}
    for length, placed in (("long", long_answers()), ("brief", short_answers())):
        shown = [statements(one.answer).shown[: address.LOOKED_AT] for one in placed]
        angles = cosines([one.query for one in placed], shown)
        for mode in MODES:
            for vectors in (True, False):
                found = table(placed, angles, mode, vectors=vectors, brief=length == "brief")
                name = "_".join((length, mode, *(() if vectors else ("lexical",))))
                scorers[name], tables[name] = stored(found), figures(found)
    return {"about": "Written by bench/train_address.py; do not edit.", "scorers": scorers, "held_out": tables}


def show(tables: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    """Prints the held-out figures."""
    columns = ("auroc_topic", "auroc_other", "mean_own", "mean_topic", "mean_other")
    for name, rows in tables.items():
        print(f"{name}\n  {'source':18}{'n':>6}" + "".join(f"{column:>13}" for column in columns))
        for source, row in rows.items():
            cells = (f"{row[column]:13.3f}" if column in row else f"{'–':>13}" for column in columns)
            print(f"  {source:18}{row['n']:6.0f}" + "".join(cells))


def conversations(path: Path) -> None:
    """Prints how well the committed judge tells an answer from what was said before the question, on one file."""
    embedder = WordLlamaEmbedder()

    def answer(asks: Sequence[Ask]) -> list[Reply]:
        return [Reply("ok", vectors=embedder.embed([text for _, text in ask.messages])) for ask in asks]

    labels, values, called = [], [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for own, text in ((1.0, row["answer"]), (0.0, row.get("previous"))):
            if not text:
                continue
            facts = drive(verify_answer(VerifyAnswer(row["query"], None, text)), answer)
            if isinstance(facts, AnswerFacts) and facts.address_p is not None:
                labels.append(own)
                values.append(facts.address_p[0] + facts.address_p[1] / 2)
                called.append({"fully": 1.0, "partly": 0.5, "no": 0.0}[facts.address or "no"])
    own, value = np.asarray(labels), np.asarray(values)
    print(f"{path.name}: {len(own)} texts, AUROC {auroc(own, value):.3f} (of labels {auroc(own, np.asarray(called)):.3f}); "
          f"mean of answers {value[own == 1].mean():.3f}, of what was said before {value[own == 0].mean():.3f}")  # fmt: skip


def differences(kept: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Held-out figures of the file that this run does not reproduce."""
    return [
        f"{name} {source} {column}: {kept['held_out'][name][source][column]} in the file, {value} now"
        for name, rows in found["held_out"].items()
        for source, row in rows.items()
        for column, value in row.items()
        if abs(kept["held_out"][name][source][column] - value) > TOLERANCE
    ]


def main() -> None:
    """Trains and prints, and writes or checks; or measures."""
    if sys.argv[1:2] == ["--on"]:
        for name in sys.argv[2:]:
            conversations(Path(name))
        return
    found = train()
    show(found["held_out"])
    if "--check" not in sys.argv[1:]:
        ADDRESS_FILE.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        print(f"wrote {ADDRESS_FILE.name}")
    elif wrong := differences(json.loads(ADDRESS_FILE.read_text(encoding="utf-8")), found):
        sys.exit(f"{ADDRESS_FILE.name} is not what this data and code give; run it anew: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
