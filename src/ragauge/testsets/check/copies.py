"""Copies of gold documents that have no label: who finds one found what was asked for, and is counted as missing it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from zlib import crc32

from ragauge.core.example import Example, Relevant
from ragauge.testsets.check.freshness import ExampleState, SetFreshness
from ragauge.testsets.shingles import SHINGLE_WORDS, locate_words

MIN_COPY_SHARE = (
    0.8  # of the runs of four words of both documents that stand in each, for one to be a copy of the other
)
MAX_SAMPLED_RUNS = (
    16  # runs of a gold document that are looked for everywhere; half of them make a document worth comparing
)
GOLD_CACHE_SIZE = 10_000  # gold documents whose runs are held in memory


@dataclass(frozen=True, slots=True)
class GoldCopy:
    """A document without a label that says what a gold document says."""

    doc_id: str  #: the document.
    of: str  #: the gold document, under the name that it has now.
    alike: float  #: runs of four words in both / in either, in [0.8, 1].


@dataclass(frozen=True, slots=True)
class LabelCopies:
    """An example whose gold documents have copies."""

    query_id: str  #: of the example.
    copies: tuple[GoldCopy, ...]  #: without a label.
    relevant: tuple[Relevant, ...]  #: the labels with each copy as one that will do in place of its gold document.


def find_label_copies(fresh: SetFreshness, texts: Mapping[str, str]) -> tuple[LabelCopies, ...]:
    """The examples of which a copy of a gold document has no label, with the labels that take it in.

    A copy holds all evidence of the example in that document, word for word, where the evidence is known.

    Args:
        fresh: the set, held against the corpus.
        texts: doc_id -> text of every document.
    """
    homes = [_group_evidence_by_home(item) for item in fresh.examples]
    shares_by_gold = _find_copies({name for evidence_by_home in homes for name in evidence_by_home}, texts)
    words = cache(lambda doc_id: _join_words(texts[doc_id]))
    results = []
    for state, evidence_by_home in zip(fresh.examples, homes, strict=True):
        labeled_ids = list_labeled_ids(state)
        copies = tuple(
            GoldCopy(other, home, share)
            for home, evidence in evidence_by_home.items()
            for other, share in shares_by_gold.get(home, {}).items()
            if other not in labeled_ids and all(item in words(other) for item in evidence)
        )
        if copies:
            example = state.line.example
            results.append(LabelCopies(example.query_id, copies, _merge_copies(state, copies)))
    return tuple(results)


def list_labeled_ids(state: ExampleState) -> set[str]:
    """The documents that an example says anything of, and those where its evidence stands now."""
    example = state.line.example
    labeled_ids = {item.now.doc_id for item in state.evidence if item.now is not None}
    labeled_ids |= {doc_id for item in example.relevant or () for doc_id in item.doc_ids}
    return labeled_ids | {span.doc_id for span in example.gold_spans or ()}


def select_gold_groups(example: Example) -> list[Relevant]:
    """The labels that count: those above 0, else the documents that gold spans stand in."""
    groups = [entry for entry in example.relevant or () if entry.grade > 0]
    return groups or [
        Relevant((doc_id,)) for doc_id in dict.fromkeys(entry.doc_id for entry in example.gold_spans or ())
    ]


def _group_evidence_by_home(state: ExampleState) -> dict[str, list[str]]:
    """Gold document that is in the corpus -> the words of the evidence in it that is known."""
    evidence_by_home: dict[str, list[str]] = defaultdict(list)
    for evidence_state in state.evidence:
        if evidence_state.now is not None and evidence_state.state in ("intact", "moved"):
            evidence_by_home[evidence_state.now.doc_id] += (
                [_join_words(evidence_state.now_text)] if evidence_state.now_text else []
            )
    return evidence_by_home


def _join_words(text: str) -> str:
    return f" {' '.join(word for word, _, _ in locate_words(text))} "


def _find_copies(gold_ids: set[str], texts: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Document -> others that are its copies -> how much alike they are, most first."""
    runs = lru_cache(GOLD_CACHE_SIZE)(lambda doc_id: _hash_runs(texts[doc_id]))
    owners: dict[int, list[str]] = defaultdict(list)
    for gold in sorted(gold_ids):
        for run in sorted(runs(gold))[:MAX_SAMPLED_RUNS]:
            owners[run].append(gold)
    copies: dict[str, dict[str, float]] = defaultdict(dict)
    for name, text in texts.items():
        text_runs = _hash_runs(text)
        counted = Counter(gold for run in owners.keys() & text_runs for gold in owners[run] if gold != name)
        for gold, number in counted.items():
            if 2 * number >= min(MAX_SAMPLED_RUNS, len(runs(gold))):
                share = len(text_runs & runs(gold)) / len(text_runs | runs(gold))
                if share >= MIN_COPY_SHARE:
                    copies[gold][name] = share
    return {gold: dict(sorted(shares.items(), key=lambda pair: (-pair[1], pair[0]))) for gold, shares in copies.items()}


def _hash_runs(text: str) -> frozenset[int]:
    """Runs of four words of a text as numbers; of fewer words one."""
    words = [word for word, _, _ in locate_words(text)]
    joined = (" ".join(words[n : n + SHINGLE_WORDS]) for n in range(max(1, len(words) - SHINGLE_WORDS + 1)) if words)
    return frozenset(crc32(run.encode("utf-8", "surrogatepass")) for run in joined)


def _merge_copies(state: ExampleState, copies: Sequence[GoldCopy]) -> tuple[Relevant, ...]:
    """The labels with the copies beside their gold documents, which may have been renamed since."""
    names = {item.was.doc_id: item.now.doc_id for item in state.evidence if item.now is not None}

    def list_copies(doc_ids: Sequence[str]) -> Iterator[str]:
        homes = {names.get(doc_id, doc_id) for doc_id in doc_ids}
        yield from (gold_copy.doc_id for gold_copy in copies if gold_copy.of in homes)

    return tuple(
        replace(item, doc_ids=tuple(dict.fromkeys((*item.doc_ids, *list_copies(item.doc_ids)))))
        for item in select_gold_groups(state.line.example)
    )
