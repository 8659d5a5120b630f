"""Trains how the local judge tells whether an answer addresses its question, and prints how well on held-out sources.

    python bench/train_address.py               # trains, prints the held-out tables, writes address_weights.json
    python bench/train_address.py --check       # the same, but compares with the committed file; exit 1 if it differs
    python bench/train_address.py --on FILE …   # measures the committed judge on conversations: JSON lines with
                                                # query, answer, and previous (what was said before the query)

Held out: each source, or language, is scored by a model trained on the others, its calibration too. A text that is on
the topic without answering counts half as "partly" and half as "no": it may hold a part of the answer, nobody looked.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from address_data import Level, Placed, long_answers, other_languages, short_answers
from logistic import Array, Fitted, auroc, evened, fit, platt, sigmoid

from ragauge.core.ask import Ask, Reply
from ragauge.core.facts import AnswerFacts
from ragauge.judges.inputs import VerifyAnswer
from ragauge.judges.judge import answer_asks
from ragauge.judges.local import address
from ragauge.judges.local.index import Mode
from ragauge.judges.local.relevance import MAX_EMBEDDED_CHARS
from ragauge.judges.local.statements import find_statements
from ragauge.judges.local.verify_answer import verify_answer
from ragauge.judges.local.weights import ADDRESS_FILE
from ragauge.judges.similarity import compute_standard_table, find_scale
from ragauge.models.embedders.base import WordLlamaEmbedder

PENALTY = 10.0
# What answers are before anything is known of them: about one in ten is off the topic, and of the rest one in fifteen
# does not answer. With balanced classes every fourth good answer would be called partial. The order of answers does not
# come from here.
ABOUT, ANSWERS = 0.9, 0.935
TOLERANCE = 0.01
MODES: tuple[Mode, ...] = ("words", "grams")
LEVELS: tuple[Level, ...] = ("own", "topic", "near", "far")
ON_TOPIC: tuple[Level, ...] = ("own", "topic", "near")  # told apart by the first regression
APART: tuple[Level, ...] = ("own", "far")  # and by the second
Calibration = tuple[float, float]  # slope and shift of log odds

# what counts against an answer, and what may count either way; all else counts for it
AGAINST = frozenset({"lacks_exact", "lacks_name", "lacks_manner", "lacks_choice"})
EITHER_WAY = frozenset({"query_length", "not_yes_no"})
BRIEF = ("coverage", "new", "lacks_exact", "lacks_name", "lacks_manner", "lacks_choice")
EVERY_LANGUAGE = frozenset({"coverage", "first", "bigrams", "grams", "new", "query_length", "cosine"})


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

    def weights(self, own: float) -> Array:
        """Sources evened; within each, own answers have their share, and other levels the rest in equal parts."""
        weights = np.ones(len(self.levels))
        for source in np.unique(self.sources):
            mine = self.sources == source
            others = [name for name in LEVELS[1:] if (mine & (self.levels == name)).any()]
            for name in ("own", *others):
                cell = mine & (self.levels == name)
                share = own if name == "own" else (1 - own) / len(others)
                weights[cell] = share * mine.sum() / max(1, cell.sum())
        return weights * evened(self.sources)

    def part(self, chosen: npt.NDArray[np.bool_]) -> Table:
        """Some of its rows."""
        return Table(self.names, self.rows[chosen], self.levels[chosen], self.sources[chosen])

    def without(self, name: str) -> Table:
        """The table without a feature."""
        kept = [n for n, other in enumerate(self.names) if other != name]
        return self._replace(names=tuple(self.names[n] for n in kept), rows=self.rows[:, kept])

    def of(self, levels: Sequence[Level]) -> Table:
        """The rows of some levels."""
        return self.part(np.isin(self.levels, levels))


class Trained(NamedTuple):
    """The two regressions and their calibrations; `about` is None where nothing far was to be told."""

    answers: Fitted
    fully: Calibration
    some: Calibration
    about: Fitted | None
    near: Calibration

    def expected(self, rows: Array) -> Array:
        """P(fully) + P(partly) / 2."""
        z = self.answers.z(rows)
        fully = sigmoid(self.fully[0] * z + self.fully[1])
        both = (fully + np.maximum(fully, sigmoid(self.some[0] * z + self.some[1]))) / 2
        if self.about is None:
            return both
        return np.asarray(both * sigmoid(self.near[0] * self.about.z(rows) + self.near[1]), dtype=np.float64)


def table(placed: Sequence[Placed], angles: Sequence[float | None], mode: Mode, *, brief: bool) -> Table:
    """Features of every pair, in the order of their names."""
    names = [*(BRIEF if brief else address.LEXICAL), "cosine"]
    if mode == "grams":
        names = [name for name in names if name in EVERY_LANGUAGE]
    rows = []
    for one, angle in zip(placed, angles, strict=True):
        shown = find_statements(one.answer).shown[: address.MAX_ANSWER_CHARS]
        found = {**address.collect_evidence(one.query, shown, one.answer, mode), "cosine": angle}
        rows.append([found[name] for name in sorted(names)])
    levels, sources = np.asarray([one.level for one in placed]), np.asarray([one.source for one in placed])
    return Table(tuple(sorted(names)), np.asarray(rows, dtype=np.float64), levels, sources)


def model(found: Table) -> Fitted:
    """Answers against all else, one voice to both."""
    own, weights = found.own(), evened(found.sources)
    weights = np.where(own == 1, weights / weights[own == 1].sum(), weights / weights[own == 0].sum()) * len(own) / 2
    bounds = [
        (None, None) if name in EITHER_WAY else (None, 0.0) if name in AGAINST else (0.0, None) for name in found.names
    ]
    return fit(found.rows, own, weights, PENALTY, bounds)


def held_out(found: Table) -> Array:
    """Log odds of every row by a model of the other sources."""
    z = np.zeros(len(found.levels))
    for source in np.unique(found.sources):
        mine = found.sources == source
        z[mine] = model(found.part(~mine)).z(found.rows[mine])
    return z


def trained(found: Table) -> Trained:
    """Both regressions, calibrated on sources that they did not see."""
    near = found.of(ON_TOPIC)
    z, weights = held_out(near), near.weights(ANSWERS)
    fully, some = platt(z, near.own(), weights), platt(z, near.some(), weights)
    apart = found.of(APART)
    if apart.own().all():
        return Trained(model(near), fully, some, None, (1.0, 0.0))
    return Trained(model(near), fully, some, model(apart), platt(held_out(apart), apart.own(), apart.weights(ABOUT)))


def figures(found: Table) -> dict[str, dict[str, float]]:
    """Per source: AUROC of its answers against each other level, and the mean expected value of each; all held out."""
    out = {}
    for source in np.unique(found.sources):
        mine = found.part(found.sources == source)
        value = trained(found.part(found.sources != source)).expected(mine.rows)
        row: dict[str, float] = {"n": mine.own().sum()}
        for name in LEVELS:
            here = mine.levels == name
            if here.any():
                row[f"mean_{name}"] = value[here].mean()
            if here.any() and name != "own":
                chosen = here | (mine.levels == "own")
                row[f"auroc_{name}"] = auroc(mine.own()[chosen], value[chosen])
        out[str(source)] = {name: round(float(value), 4) for name, value in row.items()}
    return out


def stored(found: Table) -> dict[str, Any]:
    """The scorer of all sources as it is kept, calibrations folded in."""
    made = trained(found)
    slope, shift = made.fully
    partly = made.some[0] / slope
    return {
        "answers": _line(found.names, made.answers, made.fully),
        "at_least_partly": [round(partly, 5), round(made.some[1] - partly * shift, 5)],
        "about": None if made.about is None else _line(found.names, made.about, made.near),
    }


def _line(names: Sequence[str], fitted: Fitted, calibration: Calibration) -> dict[str, Any]:
    slope, shift = calibration
    weights = {name: round(float(slope * c), 5) for name, c in zip(names, fitted.coefficients, strict=True)}
    return {"coefficients": weights, "intercept": round(slope * fitted.intercept + shift, 5)}


def train() -> dict[str, Any]:
    """Everything that is stored."""
    scorers: dict[str, Any] = {}
    tables: dict[str, Any] = {}
    for length, placed in (("long", long_answers()), ("brief", short_answers())):
        for mode in MODES:
            read = [*placed, *other_languages()] if (length, mode) == ("long", "grams") else placed
            angles = [cosine(one) for one in read]
            every = table(read, angles, mode, brief=length == "brief")
            for vectors in (True, False):
                found = every if vectors else every.without("cosine")
                name = "_".join((length, mode, *(() if vectors else ("lexical",))))
                scorers[name], tables[name] = stored(found), figures(found)
    return {"about": "Written by bench/train_address.py; do not edit.", "scorers": scorers, "held_out": tables}


def cosine(placed: Placed) -> float | None:
    """Cosine of question and answer, as the judge reads it."""
    shown = find_statements(placed.answer).shown[: address.MAX_ANSWER_CHARS]
    reply = Reply("ok", vectors=WordLlamaEmbedder().embed([placed.query, shown[:MAX_EMBEDDED_CHARS]]))
    return compute_standard_table(reply, 1, [find_scale(placed.language)])[0][0]


def show(tables: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    """Prints the held-out figures."""
    columns = [f"auroc_{name}" for name in LEVELS[1:]] + [f"mean_{name}" for name in LEVELS]
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
            facts = answer_asks(verify_answer(VerifyAnswer(row["query"], None, text)), answer)
            if isinstance(facts, AnswerFacts) and facts.address_p is not None:
                labels.append(own)
                values.append(facts.address_p[0] + facts.address_p[1] / 2)
                called.append({"fully": 1.0, "partly": 0.5, "no": 0.0}[facts.address or "no"])
    own, value = np.asarray(labels), np.asarray(values)
    by_label = auroc(own, np.asarray(called))
    print(f"{path.name}: {len(own)} texts, AUROC {auroc(own, value):.3f} (of labels {by_label:.3f})")
    print(f"  mean of answers {value[own == 1].mean():.3f}, of what was said before {value[own == 0].mean():.3f}")


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
