"""Recall and precision of the refusals that the local judge sees, over labelled answers.

    python bench/refusals.py labelled.jsonl more.jsonl
    python bench/refusals.py --missed --false labelled.jsonl

One JSON object a line: {"text": the answer, "refusal": whether it declines, "source": where it is from (optional: the
name of the file)}. Prints a row a source and one for all. Read or invented, no data is part of the repository.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragauge.judges.local.statements import find_statements

SHOWN = 300  # characters of a text that was judged wrongly


@dataclass(frozen=True, slots=True)
class Labelled:
    """An answer, and whether people say that it declines."""

    text: str
    refusal: bool
    source: str


@dataclass(slots=True)
class Count:
    """Answers of a source: refusals called so, answers called refusals, refusals missed, answers left answers."""

    hits: int = 0
    false: int = 0
    missed: int = 0
    left: int = 0

    def add(self, said: bool, true: bool) -> None:
        """Counts one answer."""
        self.hits += said and true
        self.false += said and not true
        self.missed += true and not said
        self.left += not said and not true

    def row(self, source: str) -> str:
        """Source, answers, refusals, recall, precision, answers called refusals; "-" for a share of none."""
        answers = self.hits + self.false + self.missed + self.left
        recall = _share(self.hits, self.hits + self.missed)
        precision = _share(self.hits, self.hits + self.false)
        return f"{source} | {answers} | {self.hits + self.missed} | {recall} | {precision} | {self.false}"


def read(paths: Iterable[Path]) -> Iterator[Labelled]:
    """The labelled answers of some files; a line that is none names its file and number and ends the program."""
    for path in paths:
        with path.open(encoding="utf-8") as lines:
            for n, line in enumerate(lines, 1):
                if line.strip():
                    yield _labelled(line, path, n)


def _labelled(line: str, path: Path, n: int) -> Labelled:
    try:
        found = json.loads(line)
        text, refusal = found["text"], found["refusal"]
    except (ValueError, KeyError, TypeError) as wrong:
        raise SystemExit(f"{path}:{n}: no object with text and refusal: {wrong}") from wrong
    if not isinstance(text, str) or not isinstance(refusal, bool):
        raise SystemExit(f"{path}:{n}: text must be a string, refusal true or false")
    return Labelled(text, refusal, str(found.get("source", path.stem)))


def count(labelled: Iterable[Labelled], show: Sequence[str] = ()) -> dict[str, Count]:
    """Counts by source; prints the texts that were judged wrongly in a way that `show` names ("missed", "false")."""
    counts: dict[str, Count] = {}
    for one in labelled:
        said = find_statements(one.text).refuses
        counts.setdefault(one.source, Count()).add(said, one.refusal)
        how = "false" if said else "missed"
        if said != one.refusal and how in show:
            print(f"{how} {one.source}: {' '.join(one.text[:SHOWN].split())}")
    return counts


def total(counts: Iterable[Count]) -> Count:
    """All sources together."""
    every = Count()
    for one in counts:
        every.hits += one.hits
        every.false += one.false
        every.missed += one.missed
        every.left += one.left
    return every


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def main(given: Sequence[str]) -> None:
    """Reads the files that are named and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--missed", action="store_true", help="print the refusals that were not seen")
    parser.add_argument("--false", action="store_true", help="print the answers that were called refusals")
    options = parser.parse_args(given)
    show = [how for how in ("missed", "false") if getattr(options, how)]
    started = time.process_time()
    counts = count(read(options.files), show)
    took = time.process_time() - started
    print("source | answers | refusals | recall | precision | answers called refusals")
    for source in sorted(counts):
        print(counts[source].row(source))
    every = total(counts.values())
    print(every.row("all"))
    answers = every.hits + every.false + every.missed + every.left
    print(f"{answers / took:.0f} answers a second" if took else "")


if __name__ == "__main__":
    main(sys.argv[1:])
