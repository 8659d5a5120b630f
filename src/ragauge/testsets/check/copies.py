"""Copies of gold documents that have no label: who finds one found what was asked for, and is counted as missing it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from zlib import crc32

from ragauge.core.example import Example, Relevant
from ragauge.testsets.check.freshness import ExampleState, SetFreshness
from ragauge.testsets.shingles import RUN, placed_words

NEAR = 0.8  # of the runs of four words of both documents that stand in each, for one to be a copy of the other
SAMPLED = 16  # runs of a gold document that are looked for everywhere; half of them make a document worth comparing
GOLD_KEPT = 10_000  # gold documents whose runs are held in memory


@dataclass(frozen=True, slots=True)
class GoldCopy:
    """A document without a label that says what a gold document says.

    Attributes:
        doc_id: the document.
        of: the gold document, under the name that it has now.
        alike: runs of four words in both / in either, in [0.8, 1].
    """

    doc_id: str
    of: str
    alike: float


@dataclass(frozen=True, slots=True)
class LabelCopies:
    """An example whose gold documents have copies.

    Attributes:
        query_id: of the example.
        copies: without a label.
        relevant: the labels with each copy as one that will do in place of its gold document.
    """

    query_id: str
    copies: tuple[GoldCopy, ...]
    relevant: tuple[Relevant, ...]


def label_copies(fresh: SetFreshness, texts: Mapping[str, str]) -> tuple[LabelCopies, ...]:
    """The examples of which a copy of a gold document has no label, with the labels that take it in.

    A copy holds all evidence of the example in that document, word for word, where the evidence is known.

    Args:
        fresh: the set, held against the corpus.
        texts: doc_id -> text of every document.
    """
    homes = [_homes(one) for one in fresh.examples]
    alike = _alike({name for listed in homes for name in listed}, texts)
    words = cache(lambda doc_id: _joined(texts[doc_id]))
    found = []
    for state, listed in zip(fresh.examples, homes, strict=True):
        known = labelled(state)
        copies = tuple(
            GoldCopy(other, home, share)
            for home, evidence in listed.items()
            for other, share in alike.get(home, {}).items()
            if other not in known and all(one in words(other) for one in evidence)
        )
        if copies:
            example = state.line.example
            found.append(LabelCopies(example.query_id, copies, _taken_in(state, copies)))
    return tuple(found)


def labelled(state: ExampleState) -> set[str]:
    """The documents that an example says anything of, and those where its evidence stands now."""
    example = state.line.example
    known = {one.now.doc_id for one in state.evidence if one.now is not None}
    known |= {doc_id for one in example.relevant or () for doc_id in one.doc_ids}
    return known | {span.doc_id for span in example.gold_spans or ()}


def gold_groups(example: Example) -> list[Relevant]:
    """The labels that count: those above 0, else the documents that gold spans stand in."""
    groups = [one for one in example.relevant or () if one.grade > 0]
    return groups or [Relevant((doc_id,)) for doc_id in dict.fromkeys(one.doc_id for one in example.gold_spans or ())]


def _homes(state: ExampleState) -> dict[str, list[str]]:
    """Gold document that is in the corpus -> the words of the evidence in it that is known."""
    found: dict[str, list[str]] = defaultdict(list)
    for one in state.evidence:
        if one.now is not None and one.state in ("intact", "moved"):
            found[one.now.doc_id] += [_joined(one.now_text)] if one.now_text else []
    return found


def _joined(text: str) -> str:
    return f" {' '.join(word for word, _, _ in placed_words(text))} "


def _alike(wanted: set[str], texts: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Document -> others that are its copies -> how much alike they are, most first."""
    runs = lru_cache(GOLD_KEPT)(lambda doc_id: _runs(texts[doc_id]))
    owners: dict[int, list[str]] = defaultdict(list)
    for gold in sorted(wanted):
        for run in sorted(runs(gold))[:SAMPLED]:
            owners[run].append(gold)
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for name, text in texts.items():
        own = _runs(text)
        counted = Counter(gold for run in owners.keys() & own for gold in owners[run] if gold != name)
        for gold, number in counted.items():
            if 2 * number >= min(SAMPLED, len(runs(gold))):
                share = len(own & runs(gold)) / len(own | runs(gold))
                if share >= NEAR:
                    found[gold][name] = share
    return {gold: dict(sorted(shares.items(), key=lambda one: (-one[1], one[0]))) for gold, shares in found.items()}


def _runs(text: str) -> frozenset[int]:
    """Runs of four words of a text as numbers; of fewer words one."""
    words = [word for word, _, _ in placed_words(text)]
    joined = (" ".join(words[n : n + RUN]) for n in range(max(1, len(words) - RUN + 1)) if words)
    return frozenset(crc32(run.encode("utf-8", "surrogatepass")) for run in joined)


def _taken_in(state: ExampleState, copies: Sequence[GoldCopy]) -> tuple[Relevant, ...]:
    """The labels with the copies beside their gold documents, which may have been renamed since."""
    names = {one.was.doc_id: one.now.doc_id for one in state.evidence if one.now is not None}

    def beside(doc_ids: Sequence[str]) -> Iterator[str]:
        homes = {names.get(doc_id, doc_id) for doc_id in doc_ids}
        yield from (one.doc_id for one in copies if one.of in homes)

    return tuple(
        replace(one, doc_ids=tuple(dict.fromkeys((*one.doc_ids, *beside(one.doc_ids)))))
        for one in gold_groups(state.line.example)
    )
