"""What a set's evidence looked like when the set was frozen: hashes only, so that no text of the corpus is kept."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from ragauge.core.curation import Anchor
from ragauge.core.errors import DataError
from ragauge.core.identity import folded, plain
from ragauge.core.jsonl_files import written
from ragauge.testsets.check.evidence_location import EvidenceSpan, Locator, evidence_in
from ragauge.testsets.set_file import SetFile, SetLine
from ragauge.testsets.shingles import placed_words, shingles

FORMAT = 1
SAMPLED = 64  # of a document's shingles the smallest, by which a renamed one is found
RENAMED = 0.5  # share of them by which another is taken for it


@dataclass(frozen=True)
class LockedDocument:
    """A gold document as it was.

    Attributes:
        sha256: of its text, white space and width of characters aside.
        runs: the 64 smallest of its hashed runs of four words.
        alike: other documents that held half of them or more already; None = the lock does not tell.
    """

    sha256: str
    runs: tuple[str, ...]
    alike: tuple[str, ...] | None = None


@dataclass(frozen=True)
class SetLock:
    """A set as it was frozen.

    Attributes:
        version: of the set.
        corpus: fingerprint of all its documents.
        documents: doc_id -> each gold document.
        spans: query_id -> its gold spans, as hashed words.
    """

    version: str
    corpus: str
    documents: Mapping[str, LockedDocument]
    spans: Mapping[str, tuple[EvidenceSpan, ...]] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """Writes it as JSON, whole or not at all."""
        with written(path) as file:
            json.dump({"format": FORMAT, **plain(self)}, file, ensure_ascii=False, indent=1, sort_keys=True)
            file.write("\n")


def lock_path(path: Path) -> Path:
    """SET.lock.json beside SET.jsonl."""
    return path.with_name(f"{path.stem}.lock.json")


def read_lock(path: Path) -> SetLock:
    """A lock from its file.

    Raises:
        DataError: no lock, or one of a later format, with its place.
    """
    hint = "Make it anew: ragauge testset freeze SET --corpus CORPUS"
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != FORMAT:
            raise DataError(f"format {found['format']!r}; this version reads {FORMAT}.", source=str(path), hint=hint)
        gold = found["documents"].items()
        documents = {name: LockedDocument(**_frozen(one)) for name, one in gold}
        spans = {
            name: tuple(EvidenceSpan(**_frozen(one)) for one in listed)
            for name, listed in found.get("spans", {}).items()
        }
        return SetLock(found["version"], found["corpus"], documents, spans)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"is no lock of a set: {error!r}.", source=str(path), hint=hint) from None


def _frozen(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


def text_hash(text: str) -> str:
    """SHA-256 of a text, white space and width of characters aside."""
    return sha256(folded(text).encode("utf-8", "surrogatepass")).hexdigest()


def corpus_hash(texts: Mapping[str, str]) -> str:
    """Hash of ids and texts: another corpus has another one."""
    parts = sorted(f"{doc_id}\0{text_hash(text)}" for doc_id, text in texts.items())
    return sha256("\1".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def sampled(text: str) -> tuple[str, ...]:
    """The 64 smallest of a text's hashed runs of four words, in order: two texts alike share most of theirs."""
    return tuple(sorted(set(shingles([word for word, _, _ in placed_words(text)])))[:SAMPLED])


def holders(wanted: Mapping[str, Iterable[str]], texts: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Gold document -> documents of a corpus that hold half or more of its sampled shingles -> that share.

    Args:
        wanted: gold document -> its sampled shingles.
        texts: doc_id -> text.
    """
    owners: dict[str, list[str]] = defaultdict(list)
    sizes = {gold: len(runs) for gold, listed in wanted.items() if (runs := set(listed))}
    for gold in sizes:
        for run in set(wanted[gold]):
            owners[run].append(gold)
    found: dict[str, dict[str, float]] = {gold: {} for gold in wanted}
    for name, text in texts.items() if owners else ():
        runs = owners.keys() & set(shingles([word for word, _, _ in placed_words(text)]))
        counted = Counter(gold for run in runs for gold in owners[run])
        for gold, number in counted.items():
            if number >= RENAMED * sizes[gold]:
                found[gold][name] = number / sizes[gold]
    return found


def gold_anchors(line: SetLine) -> tuple[Anchor, ...]:
    """An example's quoted evidence; none of an unanswerable one, whose quotes only say what it is near to."""
    return () if line.example.answerable is False else line.curation.anchors


def gold_ids(line: SetLine) -> list[str]:
    """The documents that an example's evidence stands in, in the order of its labels, each once."""
    example = line.example
    named = [doc_id for one in example.relevant or () if one.grade > 0 for doc_id in one.doc_ids]
    named += [span.doc_id for span in example.gold_spans or ()] + [anchor.doc_id for anchor in gold_anchors(line)]
    return list(dict.fromkeys(named))


def lost_evidence(found: SetFile, texts: Mapping[str, str]) -> dict[str, str]:
    """query_id -> what of its evidence a corpus does not have, of the examples that cannot be frozen over it.

    Args:
        found: the set; rejected examples are passed by.
        texts: doc_id -> text.
    """
    lost: dict[str, str] = {}
    for line in _kept(found):
        away = [f"{doc_id!r} is not in the corpus" for doc_id in gold_ids(line) if doc_id not in texts]
        away += [
            f"[{span.start}, {span.end}) lies outside {span.doc_id!r}, {len(texts[span.doc_id]):,} characters"
            for span in line.example.gold_spans or ()
            if span.doc_id in texts and not 0 <= span.start < span.end <= len(texts[span.doc_id])
        ]
        if away:
            lost[line.example.query_id] = "; ".join(away)
    return lost


def _kept(found: SetFile) -> list[SetLine]:
    return [line for line in found.lines if line.curation.state != "rejected"]


def frozen(found: SetFile, texts: Mapping[str, str], corpus: str, leave_out: Collection[str] = ()) -> SetLock:
    """A set's lock over the corpus as it is, without rejected examples and those of which evidence is lost.

    Args:
        found: the set.
        texts: doc_id -> text.
        corpus: fingerprint of the corpus.
        leave_out: query_ids of more examples without a place in the lock.
    """
    documents: dict[str, LockedDocument] = {}
    spans: dict[str, tuple[EvidenceSpan, ...]] = {}
    lost = {*lost_evidence(found, texts), *leave_out}
    for line in _kept(found):
        if line.example.query_id in lost:
            continue
        for doc_id in gold_ids(line):
            if doc_id not in documents:
                documents[doc_id] = LockedDocument(text_hash(texts[doc_id]), sampled(texts[doc_id]))
        if listed := tuple(_spans(line, texts)):
            spans[line.example.query_id] = listed
    alike = holders({doc_id: one.runs for doc_id, one in documents.items()}, texts)
    for doc_id, one in documents.items():
        documents[doc_id] = replace(one, alike=tuple(name for name in alike[doc_id] if name != doc_id))
    locator = Locator(texts, [one for listed in spans.values() for one in listed])
    for query_id, listed in spans.items():
        spans[query_id] = tuple(replace(one, held=locator.holding(one)) for one in listed)
    return SetLock(found.eval_set.version, corpus, documents, spans)


def _spans(line: SetLine, texts: Mapping[str, str]) -> Iterable[EvidenceSpan]:
    for span in line.example.gold_spans or ():
        yield evidence_in(texts[span.doc_id], span.doc_id, span.start, span.end)
