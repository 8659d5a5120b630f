"""A corpus as a question generator sees it, quotations found in its texts, and gold documents it still holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Literal

from ragauge.core.document import Document, IndexListing
from ragauge.core.errors import DataError, RagaugeError
from ragauge.core.identity import normalize_text
from ragauge.core.json_keys import json_keys
from ragauge.core.messages import format_count
from ragauge.engine.retrievers import STOP_WORDS, Bm25, Embedder, build_local_embedder
from ragauge.testsets.unspaced_words import locate_words
from ragauge.text.sentences import split_sentences

if TYPE_CHECKING:
    from random import Random

    import numpy as np
    import numpy.typing as npt

    from ragauge.core.config.monitor import ScheduleSection
    from ragauge.store.store_access import Store

    Vectors = npt.NDArray[np.float32]


MAX_DOCUMENT_CHARS = 2_000_000  # characters: no page of a corpus that people search
MAX_TOPICS = 50
SEARCH_DEPTH = 100  # how far down a gold document may be found
HARD_RANK = 10  # a document below in both rankings is hard to find
Difficulty = Literal["easy", "medium", "hard"]


@json_keys("documents of_use empty copies huge not_utf8", of_use="n_usable", not_utf8="undecoded")
@dataclass(frozen=True)
class CorpusCounts:
    """What a corpus holds."""

    documents: int  #: all of them.
    empty: tuple[str, ...]  #: doc_ids without a text.
    copies: Mapping[str, str]  #: doc_id -> the doc_id whose text it repeats, white space and width of characters aside.
    huge: tuple[str, ...]  #: doc_ids of more than 2,000,000 characters.
    undecoded: tuple[str, ...] = ()  #: text files that are not UTF-8, beside the documents.

    @property
    def n_usable(self) -> int:
        """How many documents questions are drawn from."""
        return self.documents - len(self.empty) - len(self.copies) - len(self.huge)

    def list_exclusions(self) -> Iterator[str]:
        """What is left out, in words."""
        left_out = {"have no text": self.empty, "repeat another": tuple(self.copies), "are too long": self.huge}
        for reason, ids in left_out.items():
            if ids:
                yield f"{len(ids):,} of {self.documents:,} documents {reason}: {_format_names(ids)}"
        if self.undecoded:
            yield describe_undecoded(self.undecoded)


def describe_undecoded(names: Sequence[str]) -> str:
    """How many text files are not UTF-8, in words, with the first of them."""
    return f"{format_count(len(names), 'text file')} not in UTF-8, skipped: {_format_names(names)}"


def _format_names(names: Sequence[str]) -> str:
    return f"{', '.join(names[:3])}{' …' if names[3:] else ''}"


class CorpusView:
    """The documents that questions are drawn from, their topics, and two retrievers over them.

    Args:
        documents: the corpus. Empty ones, copies and huge ones are counted and never drawn.
        undecoded: text files beside them that could not be read.

    Raises:
        DataError: no document is of use.
    """

    def __init__(self, documents: Sequence[Document], undecoded: Sequence[str] = ()) -> None:
        empty, huge = [], []
        copies: dict[str, str] = {}
        first: dict[str, str] = {}
        self.documents: dict[str, Document] = {}
        for document in documents:
            text = normalize_text(document.text)
            if not text:
                empty.append(document.doc_id)
            elif len(text) > MAX_DOCUMENT_CHARS:
                huge.append(document.doc_id)
            elif (same := first.setdefault(text, document.doc_id)) != document.doc_id:
                copies[document.doc_id] = same
            else:
                self.documents[document.doc_id] = document
        self.counts = CorpusCounts(len(documents), tuple(empty), copies, tuple(huge), tuple(undecoded))
        if not self.documents:
            raise DataError(f"no usable document: {'; '.join(self.counts.list_exclusions())}.", source="corpus")
        self.ids = tuple(self.documents)

    @cached_property
    def vectors(self) -> Vectors:
        """A row a document, by the embedder in the package."""
        return self._embedder.embed([_build_search_text(document) for document in self.documents.values()])

    @cached_property
    def _embedder(self) -> Embedder:
        return build_local_embedder()

    def embed_query(self, query: str) -> npt.NDArray[np.float32]:
        """A query's vector, by the same embedder."""
        vector: npt.NDArray[np.float32] = self._embedder.embed([query])[0]
        return vector

    def best(self, query: str, n: int) -> list[str]:
        """The n best documents by BM25 and by embeddings, one of each in turn."""
        import numpy as np

        lexical = [hit.passage_id for hit in self.bm25_index.search(query, n)]
        dense = [self.ids[row] for row in np.argsort(-(self.vectors @ self.embed_query(query)), kind="stable")[:n]]
        mixed = [doc_id for pair in zip_longest(lexical, dense) for doc_id in pair if doc_id is not None]
        return list(dict.fromkeys(mixed))[:n]

    @cached_property
    def bm25_index(self) -> Bm25:
        """BM25 over the documents."""
        return Bm25(self.ids, [_build_search_text(document) for document in self.documents.values()])

    @cached_property
    def topics(self) -> list[list[str]]:
        """doc_ids by topic, the largest topic first: k-means over the vectors, from a fixed seed."""
        import numpy as np
        from scipy.cluster.vq import kmeans2

        count = min(MAX_TOPICS, max(1, round((len(self.ids) / 2) ** 0.5)))
        if count == 1:
            return [list(self.ids)]
        _, labels = kmeans2(self.vectors.astype(np.float64), count, minit="++", rng=7, missing="raise", iter=25)
        groups: dict[int, list[str]] = {}
        for doc_id, label in zip(self.ids, labels.tolist(), strict=True):
            groups.setdefault(label, []).append(doc_id)
        return sorted(groups.values(), key=lambda group: (-len(group), group[0]))

    def sample_documents(self, rng: Random) -> Iterator[Document]:
        """Documents without end: each topic in turn gives one, and none comes again before all have come.

        So a topic of one document has the share of one document, and the first few still lie over many topics.
        """
        while True:
            waiting = [rng.sample(topic, len(topic)) for topic in self.topics]
            while waiting:
                for topic in rng.sample(waiting, len(waiting)):
                    yield self.documents[topic.pop()]
                waiting = [topic for topic in waiting if topic]

    def ranks(self, queries: Sequence[str], golds: Sequence[Sequence[str]]) -> list[tuple[int | None, int | None]]:
        """For each query the best rank of a gold document by BM25 and by embeddings, from 1; None = below 100."""
        import numpy as np

        row_by_id = {doc_id: n for n, doc_id in enumerate(self.ids)}
        best_ranks: list[tuple[int | None, int | None]] = []
        vectors = self._embedder.embed(list(queries))
        for query, gold, vector in zip(queries, golds, vectors, strict=True):
            hits = [hit.passage_id for hit in self.bm25_index.search(query, SEARCH_DEPTH)]
            lexical = next((n for n, doc_id in enumerate(hits, 1) if doc_id in gold), None)
            scores = self.vectors @ vector
            rows = [row_by_id[doc_id] for doc_id in gold if doc_id in row_by_id]
            above = int((scores > scores[rows].max()).sum()) + 1 if rows and np.any(vector) else SEARCH_DEPTH + 1
            best_ranks.append((lexical, above if above <= SEARCH_DEPTH else None))
        return best_ranks


def classify_difficulty(lexical: int | None, dense: int | None) -> Difficulty:
    """easy: first in both rankings; hard: beyond the tenth place in both; else medium.

    >>> classify_difficulty(1, 1), classify_difficulty(1, 30), classify_difficulty(None, 11)
    ('easy', 'medium', 'hard')
    """
    if lexical == dense == 1:
        return "easy"
    far = [rank is None or rank > HARD_RANK for rank in (lexical, dense)]
    return "hard" if all(far) else "medium"


def _build_search_text(document: Document) -> str:
    """What retrievers search: the title, unless the text opens with it, and the text."""
    title = document.title.strip()
    return document.text if not title or document.text.lstrip("# \n").startswith(title) else f"{title}\n{document.text}"


MIN_SIMILARITY = 0.9  # of a quotation that is not verbatim, at least
MIN_QUOTE_WORDS = 3  # words below which a quotation is no evidence by itself
NEGATIONS = frozenset(
    ["not", "no", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "without", "cannot"]
)


def find_quotation(quote: str, text: str) -> tuple[int, int] | None:
    """Where a text holds a quotation: verbatim, else where its words stand in their order, as alike as 0.9.

    Alike = m / max(q, t) with m words in common order, q words of the quotation, t of the stretch found. Numbers and
    negations are the same in both.

    Returns:
        (start, end) in characters; None where it holds none such.

    >>> (find_quotation("hub is grey", "The hub is grey."),
    ...     find_quotation("The Hub, is grey!", "See: the hub is grey."), find_quotation("a", ""))
    ((4, 15), (5, 20), None)
    """
    if quote and (start := text.find(quote)) >= 0:
        return start, start + len(quote)
    placed_quote, placed_text = locate_words(quote), locate_words(text)
    quote_words, words = [word for word, _, _ in placed_quote], [word for word, _, _ in placed_text]
    seed = SequenceMatcher(None, quote_words, words, autojunk=False).find_longest_match()
    if not seed.size:
        return None
    slack = max(2, len(quote_words) // 5)
    low = max(0, seed.b - seed.a - slack)
    high = min(len(words), seed.b - seed.a + len(quote_words) + slack)
    matched = SequenceMatcher(None, quote_words, words[low:high], autojunk=False).get_matching_blocks()[:-1]
    first, last = low + matched[0].b, low + matched[-1].b + matched[-1].size
    if sum(block.size for block in matched) < MIN_SIMILARITY * max(len(quote_words), last - first):
        return None
    if _count_decisive(quote_words) != _count_decisive(words[first:last]):
        return None
    start, end = placed_text[first][1], placed_text[last - 1][2]
    tail = quote[placed_quote[-1][2] :].strip()
    return start, end + len(tail) * text.startswith(tail, end)


def _count_decisive(words: Sequence[str]) -> Counter[str]:
    """Numbers, and how often something is denied, "n't" too: of these one word makes another statement."""
    contracted = sum(two[1] == "t" and two[0].endswith("n") for two in pairwise(words))
    denied = contracted + sum(word in NEGATIONS for word in words)
    return Counter([*(word for word in words if any(map(str.isdigit, word))), *["not"] * denied])


def find_evident_quotation(quote: str, answer: str, text: str) -> tuple[int, int] | None:
    """Where a text holds a quotation that shows an answer.

    As `find_quotation`, but a quotation that shows too little counts for less.

    A quotation of fewer than three words, or of none but frequent ones, shows something only where it is the answer and
    stands in one sentence of the text alone: then that sentence is the evidence.

    Returns:
        (start, end) in characters; None where the text does not hold it, or it shows too little.

    >>> (find_evident_quotation("30 days", "30 days.", "Be quick. A hub can be returned within 30 days."),
    ...     find_evident_quotation("a", "a", "a hub"))
    ((10, 47), None)
    """
    bounds = find_quotation(quote, text)
    if bounds is None or not is_weak_quotation(quote):
        return bounds
    if not _list_content_words(quote) or _list_content_words(quote) != _list_content_words(answer):
        return None
    quote_words = [word for word, _, _ in locate_words(quote)]
    holding = [
        sentence
        for sentence in split_sentences(text)
        if _has_sequence([word for word, _, _ in locate_words(sentence.text)], quote_words)
    ]
    return (holding[0].start, holding[0].end) if len(holding) == 1 else None


def is_weak_quotation(quote: str) -> bool:
    """Whether a quotation has fewer than three words, or only frequent ones."""
    return len(locate_words(quote)) < MIN_QUOTE_WORDS or not _list_content_words(quote)


def _list_content_words(text: str) -> list[str]:
    candidates = (word for word, _, _ in locate_words(text) if word not in STOP_WORDS)
    return [word for word in candidates if len(word) > 1 or not (word.isascii() and word.isalpha())]


def _has_sequence(words: Sequence[str], sequence: Sequence[str]) -> bool:
    return any(words[n : n + len(sequence)] == sequence for n in range(len(words)))


MAX_EARLIER_RUNS = 60  # earlier runs of a schedule whose passages are looked at, the newest


def build_gold_listing(
    store: Store, run_id: str, schedule: ScheduleSection, documents: Sequence[Document]
) -> IndexListing | None:
    """Which labelled documents of a run a corpus holds; None where it holds none of them, by id or text.

    A document whose id is not there is looked for by the longest text that an earlier run of the schedule, or its
    baseline, found of it: it is there where a document of the corpus has that text in it, white space aside.

    Args:
        store: with the runs.
        run_id: of the run.
        schedule: which made it.
        documents: of the corpus.
    """
    labelled, ids = store.listings.list_labeled_documents(run_id), {document.doc_id for document in documents}
    missing = labelled - ids
    texts = find_texts(store, _list_earlier_runs(store, run_id, schedule), missing) if missing else {}
    renamed = match_by_text(texts, documents)
    absent = missing - renamed
    return None if absent == labelled else IndexListing(len(documents), frozenset(absent), renamed)


def _list_earlier_runs(store: Store, run_id: str, schedule: ScheduleSection) -> list[str]:
    """The baseline, which stays, then the earlier runs, the newest first."""
    from ragauge.comparison.baselines.baseline import find_baseline_run

    run_ids = [
        job.run_id for job in store.jobs.list_latest(MAX_EARLIER_RUNS) if job.name == schedule.name and job.run_id
    ]
    try:
        base = find_baseline_run(schedule.baseline, store)
    except RagaugeError:  # there is none yet
        base = None
    return [
        earlier_id
        for earlier_id in dict.fromkeys([*([base.run_id] if base is not None else []), *run_ids])
        if earlier_id != run_id
    ]


def find_texts(store: Store, run_ids: Iterable[str], doc_ids: Collection[str]) -> dict[str, str]:
    """The longest text that runs found of some documents, in the first run that found one of each."""
    texts: dict[str, str] = {}
    for run_id in run_ids:
        if texts.keys() >= set(doc_ids):
            break
        run_texts: dict[str, str] = {}
        try:
            pairs = list(store.runs.pairs(run_id))
        except RagaugeError:  # it was deleted meanwhile
            continue
        for _, response in pairs:
            for passage in response.passages or ():
                if passage.doc_id in doc_ids and passage.doc_id not in texts and passage.text:
                    run_texts[passage.doc_id] = max(run_texts.get(passage.doc_id, ""), passage.text, key=len)
        texts |= run_texts
    return texts


def match_by_text(texts: Mapping[str, str], documents: Sequence[Document]) -> frozenset[str]:
    """Those whose text stands in a document; one of fewer than three words, or of frequent ones alone, says nothing.

    >>> from ragauge.core.document import Document
    >>> there = [Document("new", "", "Refunds  take 14 days. Ask us.")]
    >>> sorted(match_by_text({"old": "Refunds take 14 days.", "gone": "Parcels leave on Monday.", "few": "Ask"}, there))
    ['old']
    """
    needles = {doc_id: normalize_text(text) for doc_id, text in texts.items() if not is_weak_quotation(text)}
    document_texts = [normalize_text(document.text) for document in documents] if needles else []
    return frozenset(
        doc_id for doc_id, text in needles.items() if any(text in document_text for document_text in document_texts)
    )
