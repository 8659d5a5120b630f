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
from ragauge.core.identity import normalize_text, to_json_value
from ragauge.core.jsonl_files import open_text_writer
from ragauge.testsets.check.evidence_location import EvidenceSpan, Locator, read_evidence
from ragauge.testsets.set_file import SetFile, SetLine
from ragauge.testsets.unspaced_words import hash_shingles, locate_words

FORMAT = 1
MAX_SAMPLED_SHINGLES = 64  # of a document's shingles the smallest, by which a renamed one is found
MIN_RENAMED_SHARE = 0.5  # share of them by which another is taken for it


@dataclass(frozen=True)
class LockedDocument:
    """A gold document as it was."""

    sha256: str  #: of its text, white space and width of characters aside.
    runs: tuple[str, ...]  #: the 64 smallest of its hashed runs of four words.
    #: other documents that held half of them or more already; None = the lock does not tell.
    alike: tuple[str, ...] | None = None


@dataclass(frozen=True)
class SetLock:
    """A set as it was frozen."""

    version: str  #: of the set.
    corpus: str  #: fingerprint of all its documents.
    documents: Mapping[str, LockedDocument]  #: doc_id -> each gold document.
    #: query_id -> its gold spans, as hashed words.
    spans: Mapping[str, tuple[EvidenceSpan, ...]] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """Writes it as JSON, whole or not at all."""
        with open_text_writer(path) as file:
            json.dump({"format": FORMAT, **to_json_value(self)}, file, ensure_ascii=False, indent=1, sort_keys=True)
            file.write("\n")


def build_lock_path(path: Path) -> Path:
    """SET.lock.json beside SET.jsonl."""
    return path.with_name(f"{path.stem}.lock.json")


def read_lock(path: Path) -> SetLock:
    """A lock from its file.

    Raises:
        DataError: no lock, or one of a later format, with its place.
    """
    hint = "Create it again: ragauge testset freeze SET --corpus CORPUS"
    try:
        payload: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if payload["format"] != FORMAT:
            raise DataError(f"format {payload['format']!r}; this version reads {FORMAT}.", source=str(path), hint=hint)
        gold = payload["documents"].items()
        documents = {name: LockedDocument(**_freeze_lists(row)) for name, row in gold}
        spans = {
            name: tuple(EvidenceSpan(**_freeze_lists(row)) for row in rows)
            for name, rows in payload.get("spans", {}).items()
        }
        return SetLock(payload["version"], payload["corpus"], documents, spans)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"is not a lock file: {error!r}.", source=str(path), hint=hint) from None


def _freeze_lists(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


def hash_text(text: str) -> str:
    """SHA-256 of a text, white space and width of characters aside."""
    return sha256(normalize_text(text).encode("utf-8", "surrogatepass")).hexdigest()


def hash_corpus(texts: Mapping[str, str]) -> str:
    """Hash of ids and texts: another corpus has another one."""
    lines = sorted(f"{doc_id}\0{hash_text(text)}" for doc_id, text in texts.items())
    return sha256("\1".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def sample_shingles(text: str) -> tuple[str, ...]:
    """The 64 smallest of a text's hashed runs of four words, in order: two texts alike share most of theirs."""
    return tuple(sorted(set(hash_shingles([word for word, _, _ in locate_words(text)])))[:MAX_SAMPLED_SHINGLES])


def find_holders(shingles_by_id: Mapping[str, Iterable[str]], texts: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Gold document -> documents of a corpus that hold half or more of its sampled shingles -> that share.

    Args:
        shingles_by_id: gold document -> its sampled shingles.
        texts: doc_id -> text.
    """
    owners: dict[str, list[str]] = defaultdict(list)
    sizes = {gold: len(runs) for gold, hashes in shingles_by_id.items() if (runs := set(hashes))}
    for gold in sizes:
        for run in set(shingles_by_id[gold]):
            owners[run].append(gold)
    shares: dict[str, dict[str, float]] = {gold: {} for gold in shingles_by_id}
    for name, text in texts.items() if owners else ():
        runs = owners.keys() & set(hash_shingles([word for word, _, _ in locate_words(text)]))
        counted = Counter(gold for run in runs for gold in owners[run])
        for gold, number in counted.items():
            if number >= MIN_RENAMED_SHARE * sizes[gold]:
                shares[gold][name] = number / sizes[gold]
    return shares


def list_gold_anchors(line: SetLine) -> tuple[Anchor, ...]:
    """An example's quoted evidence; none of an unanswerable one, whose quotes only say what it is near to."""
    return () if line.example.answerable is False else line.curation.anchors


def list_gold_ids(line: SetLine) -> list[str]:
    """The documents that an example's evidence stands in, in the order of its labels, each once."""
    example = line.example
    ids = [doc_id for label in example.relevant or () if label.grade > 0 for doc_id in label.doc_ids]
    ids += [span.doc_id for span in example.gold_spans or ()] + [anchor.doc_id for anchor in list_gold_anchors(line)]
    return list(dict.fromkeys(ids))


def find_lost_evidence(set_file: SetFile, texts: Mapping[str, str]) -> dict[str, str]:
    """query_id -> what of its evidence a corpus does not have, of the examples that cannot be frozen over it.

    Args:
        set_file: the set; rejected examples are passed by.
        texts: doc_id -> text.
    """
    missing: dict[str, str] = {}
    for line in _list_accepted(set_file):
        away = [f"{doc_id!r} is not in the corpus" for doc_id in list_gold_ids(line) if doc_id not in texts]
        away += [
            f"[{span.start}, {span.end}) is outside {span.doc_id!r}, which has {len(texts[span.doc_id]):,} characters"
            for span in line.example.gold_spans or ()
            if span.doc_id in texts and not 0 <= span.start < span.end <= len(texts[span.doc_id])
        ]
        if away:
            missing[line.example.query_id] = "; ".join(away)
    return missing


def _list_accepted(set_file: SetFile) -> list[SetLine]:
    return [line for line in set_file.lines if line.curation.state != "rejected"]


def build_lock(set_file: SetFile, texts: Mapping[str, str], corpus: str, leave_out: Collection[str] = ()) -> SetLock:
    """A set's lock over the corpus as it is, without rejected examples and those of which evidence is lost.

    Args:
        set_file: the set.
        texts: doc_id -> text.
        corpus: fingerprint of the corpus.
        leave_out: query_ids of more examples without a place in the lock.
    """
    documents: dict[str, LockedDocument] = {}
    spans: dict[str, tuple[EvidenceSpan, ...]] = {}
    missing = {*find_lost_evidence(set_file, texts), *leave_out}
    for line in _list_accepted(set_file):
        if line.example.query_id in missing:
            continue
        for doc_id in list_gold_ids(line):
            if doc_id not in documents:
                documents[doc_id] = LockedDocument(hash_text(texts[doc_id]), sample_shingles(texts[doc_id]))
        if line_spans := tuple(_list_spans(line, texts)):
            spans[line.example.query_id] = line_spans
    holders_by_id = find_holders({doc_id: item.runs for doc_id, item in documents.items()}, texts)
    for doc_id, item in documents.items():
        documents[doc_id] = replace(item, alike=tuple(name for name in holders_by_id[doc_id] if name != doc_id))
    locator = Locator(texts, [item for line_spans in spans.values() for item in line_spans])
    for query_id, line_spans in spans.items():
        spans[query_id] = tuple(replace(item, held=locator.find_holders(item)) for item in line_spans)
    return SetLock(set_file.eval_set.version, corpus, documents, spans)


def _list_spans(line: SetLine, texts: Mapping[str, str]) -> Iterable[EvidenceSpan]:
    for span in line.example.gold_spans or ():
        yield read_evidence(texts[span.doc_id], span.doc_id, span.start, span.end)
