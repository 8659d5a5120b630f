"""How often `testset check --fix` is right about evidence whose corpus was edited.

python bench/set_freshness.py [--corpus docs/] [--spans 150] [--seed 7] [--show 0]

The corpus is a folder of text files, by default the documentation of this repository. Of each kind of evidence (one
sentence, two, a part of one, characters from anywhere) as many spans are drawn. Then the corpus is edited, one kind of
edit at a time:

renamed     every file has another name, and the same bytes
moved       paragraphs of made-up words are put before and within the document
repeated    the evidence is written once more, just before the paragraph that it stands in
deleted     the evidence is cut out of its document, and nothing like it stands elsewhere

Right is: renamed, moved and repeated evidence stands, in the set that --fix writes, at exactly its characters and is no
draft; evidence that began or ended inside a word may be widened to the word. Deleted evidence is gone. Each is measured
with a lock, and with quotes alone.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ragauge.core.curation import Anchor, Curation
from ragauge.core.example import Example, Relevant, Span
from ragauge.stats.weighted import Interval
from ragauge.testsets.check.freshness import check_freshness, fix_evidence
from ragauge.testsets.lock import build_lock
from ragauge.testsets.set_file import SetFile, build_line
from ragauge.testsets.unspaced_words import widen_to_words
from ragauge.text.sentences import split_sentences

Texts = dict[str, str]
Edit = Callable[[Texts, Span, random.Random], tuple[Texts, Span | None]]
MIN_CHARS = 12  # of a stretch that is drawn
OTHERS = 3  # documents beside the one that a stretch is drawn from


def draw_spans(texts: Texts, n: int, rng: random.Random) -> list[Span]:
    """As many spans of each kind: a sentence, two, a part of one between words, characters from anywhere."""
    names, found = sorted(texts), []
    while len(found) < n:
        doc_id = rng.choice(names)
        text = texts[doc_id]
        sentences = [one for one in split_sentences(text) if one.end - one.start >= MIN_CHARS]
        if len(sentences) < 4:
            continue
        at = rng.randrange(len(sentences) - 1)
        start, end = sentences[at].start, sentences[at + (len(found) % 4 == 1)].end
        if len(found) % 4 == 2:
            edges = [start + k for k, sign in enumerate(text[start:end]) if sign == " "]
            if len(edges) < 5:
                continue
            low = rng.randrange(len(edges) - 4)
            start, end = edges[low] + 1, edges[rng.randrange(low + 3, len(edges))]
        if len(found) % 4 == 3:
            start = rng.randrange(max(1, len(text) - 200))
            end = min(len(text), start + rng.randrange(30, 200))
        if any(sign.isalnum() for sign in text[start:end]):
            found.append(Span(doc_id, start, end))
    return found


def rename(texts: Texts, span: Span, _: random.Random) -> tuple[Texts, Span]:
    """Other names for all documents."""
    return {f"new/{name}": text for name, text in texts.items()}, replace(span, doc_id=f"new/{span.doc_id}")


def move(texts: Texts, span: Span, rng: random.Random) -> tuple[Texts, Span]:
    """Paragraphs of made-up words before the document, and between its paragraphs."""
    text = texts[span.doc_id]
    parts = text.split("\n\n")
    place, shift = 0, 0
    out = []
    for part in parts:
        if place <= span.start or place >= span.end:
            made = f"{made_up(rng)}\n\n" if rng.random() < 0.5 or not out else ""
            out.append(made)
            shift += len(made) if place <= span.start else 0
        out.append(f"{part}\n\n")
        place += len(part) + 2
    whole = "".join(out)[:-2]
    moved = Span(span.doc_id, span.start + shift, span.end + shift)
    assert whole[moved.start : moved.end] == text[span.start : span.end]
    return {**texts, span.doc_id: whole}, moved


def repeat(texts: Texts, span: Span, rng: random.Random) -> tuple[Texts, Span]:
    """The evidence once more, in a sentence of its own just before the paragraph it stands in."""
    text = texts[span.doc_id]
    at = text.rfind("\n\n", 0, span.start) + 2 if "\n\n" in text[: span.start] else 0
    put = f"{made_up(rng)} {text[span.start : span.end]} {made_up(rng)}\n\n"
    edited = text[:at] + put + text[at:]
    return {**texts, span.doc_id: edited}, Span(span.doc_id, span.start + len(put), span.end + len(put))


def delete(texts: Texts, span: Span, _: random.Random) -> tuple[Texts, None]:
    """Every copy of the evidence cut out, with the words that it cuts."""
    text = texts[span.doc_id]
    start, end = widen_to_words(text, span.start, span.end)
    gone = text[start:end]
    return {name: one.replace(gone, "") for name, one in texts.items()}, None


EDITS: Mapping[str, Edit] = {"renamed": rename, "moved": move, "repeated": repeat, "deleted": delete}


def made_up(rng: random.Random) -> str:
    """A sentence of words that no document has."""
    return f"{' '.join(''.join(rng.choices('bdfgklmnprstvz', k=rng.randrange(4, 9))) for _ in range(9))}."


def outcome(texts: Texts, span: Span, edited: Texts, wanted: Span | None, *, locked: bool) -> tuple[bool, str]:
    """Whether check --fix is right about one stretch, and what it did."""
    quote = texts[span.doc_id][span.start : span.end]
    example = Example("q", "what?", relevant=(Relevant((span.doc_id,)),), gold_spans=(span,))
    curation = Curation(state="golden", anchors=() if locked else (Anchor(span.doc_id, span.start, span.end, quote),))
    found = SetFile("set", (build_line(example, curation),))
    fresh = check_freshness(found, edited, build_lock(found, texts, "corpus") if locked else None)
    (state,) = fresh.examples
    (line,) = fix_evidence(found, fresh).lines
    if wanted is None:
        return state.state in ("gone", "unwinnable"), state.state
    (now,) = line.example.gold_spans or (None,)
    text = edited[wanted.doc_id]
    allowed = {(wanted.start, wanted.end), widen_to_words(text, wanted.start, wanted.end)}
    exact = now is not None and now.doc_id == wanted.doc_id and (now.start, now.end) in allowed
    return exact and line.curation.state == "golden", f"{state.state}, {line.curation.state}, {now} for {wanted}"


def measure(texts: Texts, n: int, seed: int) -> Iterator[tuple[str, str, Span, bool, str]]:
    """(edit, how, span, right, what came) of every stretch."""
    for name, edit in EDITS.items():
        for how in ("lock", "quotes"):
            rng = random.Random(f"{seed} {name} {how}")
            for span in draw_spans(texts, n, rng):
                held = [span.doc_id, *rng.sample(sorted(set(texts) - {span.doc_id}), min(OTHERS, len(texts) - 1))]
                then = {doc_id: texts[doc_id] for doc_id in held}
                edited, wanted = edit(then, span, rng)
                right, came = outcome(then, span, edited, wanted, locked=how == "lock")
                yield name, how, span, right, came


def main() -> None:
    """Measures, and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=Path(__file__).parents[1] / "docs")
    parser.add_argument("--spans", type=int, default=150)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--show", type=int, default=0)
    wanted = parser.parse_args()
    texts = {
        str(path.relative_to(wanted.corpus)): path.read_text(encoding="utf-8")
        for path in sorted(wanted.corpus.rglob("*.md"))
    }
    rights: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for edit, how, span, right, came in measure(texts, wanted.spans, wanted.seed):
        rights[edit, how].append(right)
        if not right and rights[edit, how].count(False) <= wanted.show:
            print(f"{edit}, {how}: {texts[span.doc_id][span.start : span.end]!r}: {came}", file=sys.stderr)
    print(f"{len(texts)} documents, {wanted.spans} spans an edit and a way\n")
    print("edit | with a lock | with quotes alone\n---|---|---")
    for edit in EDITS:
        cells = (interval(rights[edit, how]) for how in ("lock", "quotes"))
        print(f"{edit} | {' | '.join(cells)}")


def interval(rights: list[bool]) -> str:
    """Share with its 95 % interval."""
    from ragauge.scores.estimation import compute_rate_interval

    found: Interval = compute_rate_interval(sum(rights), len(rights))
    return f"{sum(rights)} of {len(rights)} ({sum(rights) / len(rights):.1%}, {found.low:.0%} to {found.high:.0%})"


if __name__ == "__main__":
    main()
