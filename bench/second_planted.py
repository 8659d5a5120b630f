"""How many of the second planter's edits the local judge calls contradicted, and how many copies that are true.

    python bench/second_planted.py                  # all sets; exit 1 below the floors
    python bench/second_planted.py --write          # the same, and puts the table into docs/local-judge.md
    python bench/second_planted.py --sample 40      # so many items a kind and set (200 else)
    python bench/second_planted.py --sets xquad     # these sets only
    python bench/second_planted.py --misses name    # also prints what was missed, for a kind, `clean` or `respelled`

The planter (`second_planter`) was written without a look at the judge or at the first planter: it edits anywhere in a
sentence, and knows nothing of what the judge can see. An edit counts as found when a claim of the sentence is called
contradicted; the second share is of sentences with a claim that is less likely supported than not.

The judge's checks were mended while looking at misses in CLAPNQ, WiCE and AttributionBench; nothing was looked at in
XQuAD, PubMedQA and the paragraphs of TAT-QA.

Floors: 92 % of numbers, names, dates and negations over the three sets that nobody looked at, and over the other
three; 2 % of clean copies.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from second_planter import ASKED, KINDS, SOURCES, copies, plant
from second_planter_loose import reworded
from second_planter_values import respelled

from ragauge.core.ask import Reply
from ragauge.core.facts import AnswerFacts, Claim
from ragauge.judges.inputs import VerifyAnswer
from ragauge.judges.judge import answer_asks
from ragauge.judges.local.verify_answer import verify_answer

TRUE = ("clean", "respelled")
COLUMNS = (*KINDS, *TRUE)
LOOKED_AT, KEPT = ("clapnq", "wice", "attributionbench"), ("xquad", "pubmedqa", "tatqa")
FLOOR, CEILING = 0.92, 0.02
SEED = 7
PAGE = Path(__file__).resolve().parents[1] / "docs/local-judge.md"
BEGIN = "<!-- second planter, written by bench/second_planted.py: begin -->\n"
END = "<!-- second planter: end -->"
TITLES = {
    "clapnq": "CLAPNQ",
    "wice": "WiCE",
    "attributionbench": "AttributionBench",
    "xquad": "XQuAD",
    "pubmedqa": "PubMedQA",
    "tatqa": "TAT-QA paragraphs",
}

Cell = tuple[str, str]  # kind, source


class Counted(NamedTuple):
    """Items, those called contradicted, those with a claim less likely supported than not."""

    total: Counter[Cell]
    found: Counter[Cell]
    unlikely: Counter[Cell]


def judged(claim: str, passage: str) -> list[Claim]:
    """The claims that the judge makes of a sentence, with their labels."""
    facts = answer_asks(
        verify_answer(VerifyAnswer("", (passage,), claim)),
        lambda asks: [Reply("failed", reason="no vectors") for _ in asks],
    )
    return list(facts.claims) if isinstance(facts, AnswerFacts) else []


def items(kind: str, source: str, most: int, *, loose: bool = False) -> Iterator[tuple[str, str, str]]:
    """Sentence to judge, its passage, and what was done to it; loose: only those that could be reworded besides."""
    random = Random(SEED)
    if kind in KINDS:
        for one in plant(source, kind, most, SEED):
            text = reworded(one.text, one.start, one.start + len(one.new), random) if loose else one.text
            if not loose or text != one.text:
                yield text, one.copied.passage, f"{one.old} -> {one.new}"
        return
    count = 0
    for copied in copies(source, 10_000, SEED):
        text = respelled(copied.sentence, random) if kind == "respelled" else copied.sentence
        if loose:
            at = random.randrange(len(text) // 2)
            text = reworded(text, at, at, random)
        if (kind == "clean" and not loose) or text != copied.sentence:
            yield text, copied.passage, kind
            count += 1
        if count == most:
            return


def measured(sources: list[str], most: int, misses: str, *, loose: bool) -> Counted:
    """Items, those called contradicted, and those with a claim of p < 0.5, by kind and set."""
    total, found, unlikely = Counter[Cell](), Counter[Cell](), Counter[Cell]()
    for source in sources:
        for kind in COLUMNS[:-1] if loose else COLUMNS:
            for text, passage, done in items(kind, source, most, loose=loose):
                claims = judged(text, passage)
                hit = any(one.label == "contradicted" for one in claims)
                total[kind, source] += 1
                found[kind, source] += hit
                unlikely[kind, source] += any(one.p is not None and one.p < 0.5 for one in claims)
                if kind == misses and hit == (kind in TRUE):
                    print(
                        f"{source} | {done} | {text} | {[one.reason for one in claims if one.label == 'contradicted']}"
                    )
    return Counted(total, found, unlikely)


def share(counts: Counter[Cell], total: Counter[Cell], kind: str, sources: tuple[str, ...]) -> float:
    """A share over several sets, of their items together."""
    return sum(counts[kind, one] for one in sources) / max(1, sum(total[kind, one] for one in sources))


def table(copied: Counted, loose: Counted) -> str:
    """The figures in Markdown: called contradicted, then less likely supported than not."""
    out = ["set | " + " | ".join(COLUMNS), "---|" + "|".join(["---:"] * len(COLUMNS))]
    rows = [(TITLES[one], (one,), copied) for one in SOURCES if copied.total["clean", one]]
    rows += [("all looked at", LOOKED_AT, copied), ("all not looked at", KEPT, copied)]
    rows += [("looked at, reworded", LOOKED_AT, loose), ("not looked at, reworded", KEPT, loose)]
    for title, sources, counted in rows:
        cells = []
        for kind in COLUMNS:
            count = sum(counted.total[kind, one] for one in sources)
            found = share(counted.found, counted.total, kind, sources)
            unlikely = share(counted.unlikely, counted.total, kind, sources)
            cells.append(f"{found:.1%} ({unlikely:.0%}) of {count}" if count else "–")
        out.append(f"{title} | {' | '.join(cells)}")
    return "\n".join(out)


def failures(total: Counter[Cell], found: Counter[Cell]) -> list[str]:
    """The floors that do not hold."""
    out = []
    for sources in (LOOKED_AT, KEPT):
        for kind in (*ASKED, *TRUE):
            rate = share(found, total, kind, sources)
            if sum(total[kind, one] for one in sources) and (rate > CEILING if kind in TRUE else rate < FLOOR):
                out.append(f"{kind} in {', '.join(sources)}: {rate:.1%} called contradicted")
    return out


def main() -> None:
    """Plants, judges, prints."""
    given = argparse.ArgumentParser()
    given.add_argument("--sample", type=int, default=200)
    given.add_argument("--sets", nargs="*", default=list(SOURCES), choices=SOURCES)
    given.add_argument("--write", action="store_true")
    given.add_argument("--misses", default="", choices=["", *COLUMNS])
    given.add_argument("--loose", action="store_true", help="misses of the reworded ones")
    chosen = given.parse_args()
    copied = measured(chosen.sets, chosen.sample, "" if chosen.loose else chosen.misses, loose=False)
    loose = measured(chosen.sets, chosen.sample, chosen.misses if chosen.loose else "", loose=True)
    print(table(copied, loose))
    if chosen.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{table(copied, loose)}\n\n{rest[rest.index(END) :]}", encoding="utf-8")
    if wrong := failures(copied.total, copied.found):
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
