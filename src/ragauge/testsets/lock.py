"""What a set's evidence looked like when the set was frozen: hashes only, so that no text of the corpus is kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from ragauge.data.identity import folded, plain
from ragauge.data.set_file import SetFile, SetLine
from ragauge.data.writers.jsonl import written
from ragauge.errors import DataError
from ragauge.testsets.locating import EvidenceSpan, evidence_of, placed_words, shingles

FORMAT = 1
SAMPLED = 64     # of a document's shingles the smallest, by which a renamed one is found


@dataclass(frozen=True)
class LockedDocument:
    """A gold document as it was.

    Attributes:
        sha256: of its text, white space and width of characters aside.
        runs: the 64 smallest of its hashed runs of four words.
    """

    sha256: str
    runs: tuple[str, ...]


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
        documents = {name: LockedDocument(one["sha256"], tuple(one["runs"])) for name, one in gold}
        spans = {
            name: tuple(EvidenceSpan(**{**one, "runs": tuple(one["runs"])}) for one in listed)
            for name, listed in found.get("spans", {}).items()
        }
        return SetLock(found["version"], found["corpus"], documents, spans)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"is no lock of a set: {error!r}.", source=str(path), hint=hint) from None


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


def gold_ids(line: SetLine) -> list[str]:
    """The documents that an example's evidence stands in, in the order of its labels, each once."""
    example = line.example
    named = [doc_id for one in example.relevant or () if one.grade > 0 for doc_id in one.doc_ids]
    named += [span.doc_id for span in example.gold_spans or ()] + [anchor.doc_id for anchor in line.curation.anchors]
    return list(dict.fromkeys(named))


def frozen(found: SetFile, texts: Mapping[str, str], corpus: str) -> SetLock:
    """A set's lock over the corpus as it is.

    Args:
        found: the set.
        texts: doc_id -> text.
        corpus: fingerprint of the corpus.

    Raises:
        DataError: a gold document that the corpus does not have, or a span outside its document.
    """
    documents: dict[str, LockedDocument] = {}
    spans: dict[str, tuple[EvidenceSpan, ...]] = {}
    for line in found.lines:
        place = f"{line.source}, line {line.number}"
        for doc_id in gold_ids(line):
            if doc_id not in texts:
                hint = "Check it first: ragauge testset check SET --corpus CORPUS"
                raise DataError(f"the gold document {doc_id!r} is not in the corpus.", source=place, hint=hint)
            if doc_id not in documents:
                documents[doc_id] = LockedDocument(text_hash(texts[doc_id]), sampled(texts[doc_id]))
        spans[line.example.query_id] = tuple(_spans(line, texts, place))
    held = {query_id: listed for query_id, listed in spans.items() if listed}
    return SetLock(found.eval_set.version, corpus, documents, held)


def _spans(line: SetLine, texts: Mapping[str, str], place: str) -> Iterable[EvidenceSpan]:
    for span in line.example.gold_spans or ():
        text = texts[span.doc_id]
        if not 0 <= span.start < span.end <= len(text):
            told = f"the gold span [{span.start}, {span.end}) lies outside {span.doc_id!r}, {len(text):,} characters"
            raise DataError(f"{told}.", source=place)
        yield evidence_of(span.doc_id, span.start, span.end, text[span.start : span.end])
