"""How many wrong things planted in copied sentences the local judge calls contradicted, and how many false alarms.

    python bench/planted_edits.py                 # all sets; exit 1 below the floors
    python bench/planted_edits.py --write         # the same, and puts the table into docs/local-judge.md
    python bench/planted_edits.py --sample 25     # so many items a kind and set (200 else)
    python bench/planted_edits.py --misses name   # also prints what was missed, for a kind or `clean`

A sentence of a context is taken as a claim: as it is (a clean copy), or with one edit of each kind that it allows
(see `planter`). The judge reads it beside the context, as it reads an answer beside its passages. Claims that people
called supported must not come out contradicted either.

Sets: WiCE, CLAPNQ (answerable) and AttributionBench, each in two halves by a hash of the context. The checks were
written while looking at misses in these three, mostly in the first half. Nothing was changed for edits in the three
sets below them: CLAPNQ (unanswerable), XQuAD and PubMedQA.

Floors: 90 % of negations, names, numbers, dates and units in every set and half with 20 items; 2 % false alarms.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from judge_data import DATA, lines
from planter import Context, Edit, date, negation, number, unit
from planter_names import name, roles
from planter_words import antonym, comparative, quantifier

from ragauge.core.ask import Reply
from ragauge.core.facts import AnswerFacts, Claim
from ragauge.judges.inputs import VerifyAnswer
from ragauge.judges.judge import answer_asks
from ragauge.judges.local.verify_answer import verify_answer
from ragauge.text.sentences import split_sentences

FLOORED: dict[str, Edit] = {"negation": negation, "name": name, "number": number, "date": date, "unit": unit}
OTHERS: dict[str, Edit] = {"roles": roles, "quantifier": quantifier, "comparative": comparative, "antonym": antonym}
EDITS = FLOORED | OTHERS
CLEAN = "clean copy"
SUPPORTED = ("supported", "attributable", "written from the passage", "written by the authors")
FLOOR, CEILING, FEWEST = 0.90, 0.02, 20
PLAIN = re.compile(r"[A-Z\"“'‘(][^?]{25,300}[.\"”)]", re.DOTALL)  # a statement, no heading and no question
WORDS = range(6, 46)
TRIED = 40  # sentences of a context that a kind of edit is tried on
SEED = 20240601
PAGE = Path(__file__).resolve().parents[1] / "docs/local-judge.md"
BEGIN = "<!-- planted edits, written by bench/planted_edits.py: begin -->\n"
END = "<!-- planted edits: end -->"


class Taken(NamedTuple):
    """A context: its set and half, its passages, and the sentences of those that claims are taken from."""

    group: str
    passages: tuple[str, ...]
    sentences: tuple[str, ...]


class Tally:
    """Items and those called contradicted, by kind and group."""

    def __init__(self) -> None:
        self.items: Counter[tuple[str, str]] = Counter()
        self.flagged: Counter[tuple[str, str]] = Counter()

    def add(self, kind: str, group: str, *, flagged: bool) -> None:
        """Counts one item."""
        self.items[kind, group] += 1
        self.flagged[kind, group] += flagged

    def rate(self, kind: str, group: str) -> float:
        """The share called contradicted; 0 where there is no item."""
        return self.flagged[kind, group] / max(1, self.items[kind, group])


def halved(source: str, text: str) -> str:
    """The group of a context of a set in two halves."""
    return f"{source} {'ab'[hashlib.sha256(text.encode()).digest()[0] % 2]}"


def contexts() -> Iterator[Taken]:
    """Every context of every set, once."""
    for row in lines("wice", "dev.jsonl"):
        text = "\n".join(row["evidence"])
        yield Taken(halved("WiCE", text), (text,), tuple(row["evidence"]))
    for title, part in (("CLAPNQ", "answerable"), ("CLAPNQ unanswerable", "unanswerable")):
        rows = [row["passages"][0] for row in lines("clapnq", f"clapnq_dev_{part}.jsonl")]
        for at, own in enumerate(rows):
            others = [rows[(at + step) % len(rows)]["text"] for step in (1, 2)]
            group = halved(title, own["text"]) if title == "CLAPNQ" else title
            yield Taken(group, (own["text"], *others), tuple(own["sentences"]))
    for row in lines("attributionbench", "dev_all_subset_balanced.jsonl"):
        texts = tuple(row["references"])
        sentences = tuple(one.text for text in texts for one in split_sentences(text))
        yield Taken(halved("AttributionBench", texts[0]), texts, sentences)
    for article in json.loads(DATA.joinpath("xquad", "xquad.en.json").read_text(encoding="utf-8"))["data"]:
        for one in article["paragraphs"]:
            yield Taken("XQuAD", (one["context"],), tuple(s.text for s in split_sentences(one["context"])))
    for row in pubmedqa():
        parts = tuple(row["CONTEXTS"])
        yield Taken("PubMedQA", parts, tuple(s.text for part in parts for s in split_sentences(part)))


def contradicted(claim: str, passages: tuple[str, ...]) -> list[Claim]:
    """The claims of an answer that the judge calls contradicted: a sentence may be split into several."""
    asked = VerifyAnswer("", passages, claim)
    facts = answer_asks(verify_answer(asked), lambda asks: [Reply("failed", reason="no vectors") for _ in asks])
    return [one for one in facts.claims if one.label == "contradicted"] if isinstance(facts, AnswerFacts) else []


def planted(sample: int, misses: str) -> Tally:
    """Clean copies and edits of sentences from all contexts, in a seeded order."""
    tally, draw = Tally(), Random(SEED)
    taken = list({one.passages: one for one in contexts()}.values())
    small = Counter(word for one in taken for word in set(re.findall(r"\b[a-z]+", " ".join(one.passages))))
    draw.shuffle(taken)
    for one in taken:
        context = Context(one.sentences, "\n".join(one.passages), small)
        pool = [s for s in dict.fromkeys(one.sentences) if PLAIN.fullmatch(s) and len(s.split()) in WORDS]
        draw.shuffle(pool)
        for sentence in pool[:2]:
            if tally.items[CLEAN, one.group] < 2 * sample:
                found = contradicted(sentence, one.passages)
                tally.add(CLEAN, one.group, flagged=bool(found))
                if found and misses == "clean":
                    print(one.group, "|", sentence, "|", found[0].reason)
        for kind, edit in EDITS.items():
            if tally.items[kind, one.group] < sample:
                edited = next(filter(None, (edit(s, context, draw) for s in pool[:TRIED])), None)
                if edited is not None:
                    seen = bool(contradicted(edited.text, one.passages))
                    tally.add(kind, one.group, flagged=seen)
                    if not seen and misses == kind:
                        print(one.group, "|", edited.was, "->", edited.now, "|", edited.text)
    return tally


def labelled() -> Tally:
    """Claims with human labels that come out contradicted."""
    tally = Tally()
    for row in lines("attributionbench", "dev_all_subset_balanced.jsonl"):
        found = contradicted(row["claim"], tuple(row["references"]))
        tally.add(row["attribution_label"], "AttributionBench", flagged=bool(found))
    for row in lines("wice", "dev.jsonl"):
        found = contradicted(row["claim"], ("\n".join(row["evidence"]),))
        tally.add(row["label"].replace("_", " "), "WiCE", flagged=bool(found))
    for row in lines("clapnq", "clapnq_dev_answerable.jsonl"):
        for answer in (one["answer"] for one in row["output"] if one["answer"] != "NA"):
            found = contradicted(answer, (row["passages"][0]["text"],))
            tally.add("written from the passage", "CLAPNQ", flagged=bool(found))
    for row in pubmedqa():
        found = contradicted(row["LONG_ANSWER"], tuple(row["CONTEXTS"]))
        tally.add("written by the authors", "PubMedQA", flagged=bool(found))
    return tally


def pubmedqa() -> Iterator[dict[str, Any]]:
    """The labelled questions."""
    yield from json.loads(DATA.joinpath("pubmedqa", "ori_pqal.json").read_text(encoding="utf-8")).values()


def table(tally: Tally, human: Tally) -> str:
    """The figures in Markdown."""
    groups = sorted({group for _, group in tally.items}, key=lambda group: (group[-2:] not in (" a", " b"), group))
    out = ["set | " + " | ".join([*EDITS, CLEAN]), "---|" + "|".join(["---:"] * (len(EDITS) + 1))]
    for group in groups:
        cells = [
            f"{tally.rate(kind, group):.1%} of {tally.items[kind, group]}" if tally.items[kind, group] else "–"
            for kind in EDITS
        ]
        cells.append(f"{tally.rate(CLEAN, group):.1%} of {tally.items[CLEAN, group]}")
        out.append(f"{group} | {' | '.join(cells)}")
    out += ["", "claims that people wrote or labelled | claims | called contradicted", "---|---:|---:"]
    for label, group in sorted(human.items, key=lambda key: (key[1], key[0])):
        out.append(f"{group}, {label} | {human.items[label, group]} | {human.rate(label, group):.1%}")
    return "\n".join(out)


def failures(tally: Tally, human: Tally) -> list[str]:
    """The floors that do not hold."""
    out = [
        f"{kind} in {group}: {tally.rate(kind, group):.1%} found"
        for (kind, group), n in tally.items.items()
        if kind in FLOORED and n >= FEWEST and tally.rate(kind, group) < FLOOR
    ]
    out += [
        f"{group}: {tally.rate(kind, group):.1%} of clean copies contradicted"
        for kind, group in tally.items
        if kind == CLEAN and tally.rate(kind, group) > CEILING
    ]
    out += [
        f"{group}: {human.rate(label, group):.1%} of supported claims contradicted"
        for label, group in human.items
        if label in SUPPORTED and human.rate(label, group) > CEILING
    ]
    return out


def main() -> None:
    """Plants, judges, prints."""
    given = argparse.ArgumentParser()
    given.add_argument("--sample", type=int, default=200)
    given.add_argument("--write", action="store_true")
    given.add_argument("--misses", default="", choices=["", "clean", *EDITS])
    chosen = given.parse_args()
    tally, human = planted(chosen.sample, chosen.misses), labelled()
    print(table(tally, human))
    if chosen.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{table(tally, human)}\n\n{rest[rest.index(END) :]}", encoding="utf-8")
    if wrong := failures(tally, human):
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
