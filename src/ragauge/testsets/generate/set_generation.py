"""A set made from a corpus: the corpus as it was read, known-item queries, and the set's file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any, Literal

from ragauge.core.curation import Anchor, Curation, Origin
from ragauge.core.document import Document
from ragauge.core.errors import DataError
from ragauge.core.example import Example, Relevant, Span
from ragauge.core.identity import derive_query_id, hash_json, to_json_value
from ragauge.engine.caller import CallCounts
from ragauge.engine.retrievers import STOP_WORDS
from ragauge.readers.chroma import read_texts
from ragauge.readers.corpus import read_corpus
from ragauge.testsets.corpus_view import CorpusCounts, CorpusView, classify_difficulty
from ragauge.testsets.generate.question_writer import Session
from ragauge.testsets.generate.rounds import FIT as WRITTEN_FIT
from ragauge.testsets.generate.rounds import SetWriter, Writers, WritingOptions, WrittenSet
from ragauge.testsets.set_file import SetLine, build_line
from ragauge.testsets.unspaced_words import UNSPACED_RUN, UnspacedWords
from ragauge.text.tokens import split_words

Stamp = tuple[int, int]  # when a file was written, in nanoseconds, and its size
MAX_NAMED_DOCUMENTS = 3  # documents that an error names


class CorpusSource:
    """The documents of a corpus, which must not change while a set is made of them.

    Args:
        source: as `read_corpus` takes it.
        ids: of text files: without their endings (stem), or with them (path).

    Attributes:
        documents: as they were read.
        undecoded: text files of a folder that are not UTF-8; they are no documents.

    Raises:
        DataError: what cannot be read as a corpus.
    """

    def __init__(self, source: Any, ids: Literal["stem", "path"] = "stem") -> None:
        self._source, self._ids = source, ids
        self._stamps = _read_stamps(source)  # before the texts: a change in between is then seen
        self.undecoded: list[str] = []
        self.documents = read_corpus(source, self.undecoded, ids=ids)
        self._hashes = _hash_documents(self.documents)

    def place_in_files(self, lines: Iterable[SetLine]) -> tuple[SetLine, ...]:
        """Lines with gold spans and anchors counted in files, front matter too, as all who read gold spans count.

        Args:
            lines: with spans counted in the texts of `documents`.
        """
        file_texts = read_texts(self._source, [])
        files = {document.doc_id: document.doc_id for document in self.documents}
        if self._ids == "path":
            files = {doc_id: doc_id if doc_id in file_texts else doc_id.rpartition(".")[0] for doc_id in files}
        starts = {
            document.doc_id: file_texts[files[document.doc_id]].find(document.text)
            for document in self.documents
            if files[document.doc_id] in file_texts
        }
        moved = {doc_id: start for doc_id, start in starts.items() if start > 0}
        return tuple(_shift_line(line, moved) for line in lines)

    def check_unchanged(self) -> None:
        """Looks at the files again; those written anew with the same documents do no harm.

        Raises:
            DataError: a document that changed, is gone or was added, by name.
        """
        stamps = _read_stamps(self._source)
        if stamps == self._stamps:
            return
        hint = "No set was written. Run the same command when the corpus is stable; model replies are cached."
        try:
            current_hashes = _hash_documents(read_corpus(self._source, [], ids=self._ids))
        except DataError as error:
            message = f"it changed during generation and can no longer be read: {error}"
            raise DataError(message, source=str(self._source), hint=hint) from None
        changed = list(_list_differences(self._hashes, current_hashes))
        if changed:
            changed_names = ", ".join(changed[:MAX_NAMED_DOCUMENTS]) + (
                f" and {len(changed) - MAX_NAMED_DOCUMENTS:,} more" if len(changed) > MAX_NAMED_DOCUMENTS else ""
            )
            raise DataError(f"it changed during generation: {changed_names}.", source=str(self._source), hint=hint)
        self._stamps = stamps


def _shift_line(line: SetLine, starts: Mapping[str, int]) -> SetLine:
    spans, anchors = line.example.gold_spans or (), line.curation.anchors
    if starts.keys().isdisjoint([*(item.doc_id for item in spans), *(item.doc_id for item in anchors)]):
        return line

    def shift_span(span: Span) -> Span:
        start = starts.get(span.doc_id, 0)
        return Span(span.doc_id, span.start + start, span.end + start)

    def shift_anchor(anchor: Anchor) -> Anchor:
        start = starts.get(anchor.doc_id, 0)
        return replace(anchor, start=anchor.start + start, end=anchor.end + start)

    example = replace(line.example, gold_spans=tuple(map(shift_span, spans)))
    return line.changed(example, replace(line.curation, anchors=tuple(map(shift_anchor, anchors))))


def _list_differences(previous: Mapping[str, str], current: Mapping[str, str]) -> Iterator[str]:
    """Each document that is another, with what became of it."""
    for doc_id in dict.fromkeys([*previous, *current]):
        if doc_id not in current:
            yield f"{doc_id} was removed"
        elif doc_id not in previous:
            yield f"{doc_id} was added"
        elif previous[doc_id] != current[doc_id]:
            yield f"{doc_id} changed"


def _hash_documents(documents: tuple[Document, ...]) -> dict[str, str]:
    return {document.doc_id: hash_json(to_json_value(document)) for document in documents}


def _read_stamps(source: Any) -> dict[str, Stamp]:
    """Path -> stamp of each file of a corpus; {} where it is no file or folder."""
    if not isinstance(source, str | Path) or not Path(source).exists():
        return {}
    path = Path(source)
    stamps = {}
    for file in [path] if path.is_file() else path.rglob("*"):
        with suppress(FileNotFoundError):  # taken away since it was listed
            if file.is_file():
                status = file.stat()
                stamps[str(file)] = status.st_mtime_ns, status.st_size
    return stamps


METHOD = "known_item"
QUERY_TERMS = (3, 6)  # of a query, at least and at most
MAX_TRIES = 20  # documents drawn in vain before the end, a question still wanted
FIT = (
    "These queries are terms sampled from documents (known items). Use them to tune k and to find broken "
    "retrieval, not to compare lexical with dense retrieval."
)


@dataclass(frozen=True)
class TermDistribution:
    """Words of a text that can be drawn by their frequency."""

    names: tuple[str, ...]
    upto: tuple[int, ...]

    def draw(self, rng: Random) -> str:
        """One of them."""
        return rng.choices(self.names, cum_weights=self.upto)[0]


def count_terms(text: str, unspaced: UnspacedWords) -> TermDistribution:
    """The words of a text that are no stop words and have two characters or more.

    Args:
        text: of a document.
        unspaced: finds the words of scripts without spaces; their characters alone are no terms.
    """
    spaced = (word for word in split_words(text) if not UNSPACED_RUN.fullmatch(word))
    counted = Counter(word for word in spaced if word not in STOP_WORDS and (len(word) > 1 or not word.isascii()))
    counted.update(unspaced.words(text))
    return TermDistribution(tuple(counted), tuple(accumulate(counted.values())))


def sample_known_items(corpus: CorpusView, n: int, seed: int = 7) -> Iterator[SetLine]:
    """So many known-item queries, each with the document that it was drawn from as its label.

    Fewer where the documents have too few words to draw more that differ.

    Args:
        corpus: what is drawn from, documents evenly.
        n: how many.
        seed: of the drawing; equal seeds draw equal queries.
    """
    rng = Random(seed)  # noqa: S311 - draws queries, no secret
    terms_by_id: dict[str, TermDistribution] = {}
    made: dict[str, Document] = {}
    visited: set[frozenset[str]] = set()
    vain = 0
    samples = corpus.sample_documents(rng)
    unspaced = UnspacedWords(document.text for document in corpus.documents.values())
    while len(made) < n and vain < MAX_TRIES * len(corpus.ids):
        document = next(samples)
        if document.doc_id not in terms_by_id:
            terms_by_id[document.doc_id] = count_terms(document.text, unspaced)
        query = _sample_query(terms_by_id[document.doc_id], rng)
        if len(query) < QUERY_TERMS[0] or frozenset(query) in visited:
            vain += 1
            continue
        visited.add(frozenset(query))
        made[" ".join(query)], vain = document, 0
    ranks = corpus.ranks(list(made), [[document.doc_id] for document in made.values()])
    for (text, document), rank_pair in zip(made.items(), ranks, strict=True):
        example = Example(
            derive_query_id(text),
            text,
            relevant=(Relevant((document.doc_id,)),),
            answerable=True,
            segments={"type": METHOD, "difficulty": classify_difficulty(*rank_pair)},
        )
        yield build_line(example, Curation(origin=Origin(METHOD, type=METHOD, seed=seed, passages=(document.doc_id,))))


def _sample_query(terms: TermDistribution, rng: Random) -> list[str]:
    """Distinct terms of a document; [] where it has none."""
    if not terms.names:
        return []
    n_terms = rng.randint(*QUERY_TERMS)
    sampled: dict[str, None] = {}
    for _ in range(10 * n_terms):
        if len(sampled) == n_terms:
            break
        sampled[terms.draw(rng)] = None
    return list(sampled)


@dataclass(frozen=True)
class GeneratedSet:
    """Questions with their labels, and what they came from."""

    lines: tuple[SetLine, ...]  #: an example each.
    wanted: int  #: how many were asked for.
    corpus: CorpusCounts  #: what it holds.
    topics: int  #: groups of documents that were drawn from in turn.
    fit: str  #: what the set serves, and what not.
    written: WrittenSet | None = None  #: what a model wrote and what of it was rejected; None = no model was asked.
    by: tuple[str, ...] = ()  #: who wrote and who judged, by their specs; () = no model was asked.
    calling: CallCounts | None = None  #: calls to models; None = no model was asked.


def generate_known_items(corpus: CorpusView, n: int, seed: int = 7) -> GeneratedSet:
    """Known-item queries over a corpus.

    Args:
        corpus: what is drawn from.
        n: how many.
        seed: of the drawing.
    """
    return GeneratedSet(tuple(sample_known_items(corpus, n, seed)), n, corpus.counts, len(corpus.topics), FIT)


async def write_set(
    corpus: CorpusView,
    options: WritingOptions,
    by: Writers,
    session: Session,
    before_round: Callable[[], None] = lambda: None,
) -> GeneratedSet:
    """Questions that a model writes about documents, filtered.

    Args:
        corpus: what is drawn from.
        options: how many, of which types.
        by: who writes and who judges.
        session: asks them; replies are kept as they arrive.
        before_round: called before models are asked; what it raises ends the writing.

    Raises:
        JudgeError: a model cannot be asked at all.
    """
    written = await SetWriter(corpus, options, by).write(session, before_round)
    names = (str(by.writer.spec.default), by.judge.judge_id)
    return GeneratedSet(
        written.lines, options.n, corpus.counts, len(corpus.topics), WRITTEN_FIT, written, names, session.counts
    )
