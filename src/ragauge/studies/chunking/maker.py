"""Trials of chunkers: cut, index, rank once, and read every cutoff and budget from the one ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from statistics import mean
from time import perf_counter
from typing import Any, Literal

from ragauge.core.errors import DataError, UsageError, find_nearest
from ragauge.core.example import Example, Span
from ragauge.core.identity import hash_json
from ragauge.core.ranking import GoldOverlap
from ragauge.core.response import Passage, Response
from ragauge.core.study import Measurement
from ragauge.engine.retrievers import RetrieverName, build_retriever, compute_embedding_price
from ragauge.metrics.base import Metric, MetricResult, Undefined
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.spans.span_coverage import MAX_TRIED_CHUNKS, Fill, compute_attainable, merge_spans
from ragauge.scores.estimation import compute_rate_interval
from ragauge.studies.chunking.alignment import ChunkAlignment, align_chunks
from ragauge.studies.chunking.chunkers import TokenizedDocument, format_name, make_chunker
from ragauge.studies.chunking.compute import CHUNKING
from ragauge.studies.conduct import TrialMaker

UNHELD_REASON = "its gold spans contain no complete token"
METRIC_FAMILY = ("token_recall", "token_precision", "token_iou", "attainable_recall")


@dataclass(frozen=True, slots=True)
class ChunkingSettings:
    """What all chunkers of a study share."""

    retriever: RetrieverName = "bm25"  #: bm25, dense or hybrid.
    k: tuple[int, ...] = (1, 3, 5, 10, 15, 20)  #: cutoffs.
    budgets: tuple[int, ...] = (512, 1024, 2048, 4096)  #: of tokens.
    fill: Fill = "cut"  #: cut shortens the last chunk, so that all send equally many tokens; whole leaves it out.
    allow_changed: bool = False  #: leave out chunks whose text is not in the document, and count them.
    #: the embedding model whose price an index has, provider:model; "" = none is told.
    price_of: str = "openai:text-embedding-3-small"

    def __post_init__(self) -> None:
        for name, values in (("k", self.k), ("budget", self.budgets)):
            if any(value < 1 for value in values):
                raise UsageError(f"chunking: {name} must be at least 1, got {min(values)}.")
        if not self.k and not self.budgets:
            raise UsageError("chunking: give at least one cutoff or budget.")
        if self.price_of:
            compute_embedding_price(self.price_of, 1)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """What is scored, in order."""
        fill = "" if self.fill == "cut" else f":fill={self.fill}"
        filled = [f"{name}:budget={budget}{fill}" for budget in self.budgets for name in METRIC_FAMILY]
        names = [*filled, *(f"{name}@{k}" for k in self.k for name in METRIC_FAMILY)]
        char_cutoff = 5 if 5 in self.k else next(iter(self.k), None)  # where characters are told beside tokens
        names += [] if char_cutoff is None else [f"{name}:unit=char@{char_cutoff}" for name in METRIC_FAMILY[:3]]
        return tuple(parse_metric(name) for name in [*names, "precision_omega", "precision_omega:unit=char"])


class ChunkingMaker(TrialMaker):
    """Makes trials of chunkers over one corpus.

    Args:
        texts: doc_id -> text.
        settings: what all trials share.
        examples: what will be asked, with gold spans; overlapping ones are merged.

    Raises:
        DataError: a gold span of an unknown document, or one that is empty or outside its document.
    """

    kind = CHUNKING

    def __init__(self, texts: Mapping[str, str], settings: ChunkingSettings, examples: Iterable[Example]) -> None:
        self._settings = settings
        self._documents = {doc_id: TokenizedDocument(doc_id, text) for doc_id, text in texts.items()}
        self._gold = {example.query_id: self._merge_gold_spans(example) for example in examples}
        hashes = {doc_id: sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for doc_id, text in texts.items()}
        self.fixed: Mapping[str, Any] = {
            "corpus": hash_json(hashes)[:16],
            "retriever": settings.retriever,
            "k": list(settings.k),
            "budgets": list(settings.budgets),
            "fill": settings.fill,
            "allow_changed": settings.allow_changed,
            "price_of": settings.price_of,
        }

    def _merge_gold_spans(self, example: Example) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
        """The gold spans of an example, merged, in characters and in tokens."""
        for span in example.gold_spans or ():
            document = self._documents.get(span.doc_id)
            if document is None or not 0 <= span.start < span.end <= len(document.text):
                if document is None:
                    near = ", ".join(find_nearest(span.doc_id, self._documents, 3, 0.0))
                    problem_text = f"names a document that is not in the corpus, which has {near} …"
                elif span.start == span.end:
                    problem_text = "is empty"
                else:
                    problem_text = f"is outside the document, which has {len(document.text):,} characters"
                problem = f"the gold span [{span.start}, {span.end}) of {span.doc_id!r} {problem_text}."
                hint = (
                    "Use the corpus that was labeled." if span.start < span.end else "The end must be after the start."
                )
                raise DataError(problem, source=f"example {example.query_id}", hint=hint)
        chars = merge_spans(example.gold_spans or ())
        return chars, merge_spans([self._documents[span.doc_id].to_token_span(span.start, span.end) for span in chars])

    def name(self, parameters: Mapping[str, Any]) -> str:
        """The chunker with its parameters."""
        return format_name(parameters)

    def open(self, parameters: Mapping[str, Any]) -> ChunkingTrial:
        """Cuts every document, finds the chunks in it, and indexes them."""
        cut = make_chunker(parameters, self._documents)
        started = perf_counter()
        alignments = {
            doc_id: align_chunks(doc_id, document.text, cut(document), allow_changed=self._settings.allow_changed)
            for doc_id, document in self._documents.items()
        }
        seconds = perf_counter() - started
        config = {**self.fixed, **parameters}
        return ChunkingTrial(config, self._settings, self._documents, self._gold, ChunkedCorpus(alignments, seconds))


@dataclass(frozen=True, slots=True)
class ChunkedCorpus:
    """Where a chunker's chunks stand in each document, and the seconds that it took."""

    alignments: Mapping[str, ChunkAlignment]
    seconds: float


@dataclass(frozen=True, slots=True)
class _IndexedChunk:
    passage: Passage
    tokens: Span
    chars: Span


class _DocumentChunks:
    """The chunks of one document, and where they begin and end."""

    def __init__(self, chunks: Sequence[_IndexedChunk]) -> None:
        import numpy as np

        self._chunks = chunks
        self._ends = {
            unit: np.array([(getattr(chunk, unit).start, getattr(chunk, unit).end) for chunk in chunks])
            for unit in ("chars", "tokens")
        }

    def find_touching(self, gold: Span, unit: Literal["chars", "tokens"]) -> list[_IndexedChunk]:
        """Those that share a unit with a span of this document."""
        starts, end_offsets = self._ends[unit].T
        return [
            self._chunks[n]
            for n in ((starts < gold.end) & (end_offsets > gold.start) & (starts < end_offsets)).nonzero()[0]
        ]


@dataclass
class _TrialCounts:
    greedy: int = 0
    spans: int = 0
    cut: int = 0
    seconds: float = 0.0


class ChunkingTrial:
    """One chunker's chunks, searched."""

    def __init__(
        self,
        config: Mapping[str, Any],
        settings: ChunkingSettings,
        documents: Mapping[str, TokenizedDocument],
        gold: Mapping[str, tuple[tuple[Span, ...], tuple[Span, ...]]],
        cuts: ChunkedCorpus,
    ) -> None:
        self.config: Mapping[str, Any] = config
        self.metrics: Sequence[Metric] = settings.metrics
        self._settings, self._documents, self._gold, self._cuts = settings, documents, gold, cuts
        self._chunks: dict[str, _IndexedChunk] = {}
        chunks_by_document: dict[str, list[_IndexedChunk]] = {}
        self._tally = _TrialCounts()
        for doc_id, alignment in cuts.alignments.items():
            for number, (start, end, text) in enumerate(alignment.spans, 1):
                span = Span(doc_id, start, end)
                passage = Passage(f"{doc_id}#{number}", doc_id, text, span=span)
                chunk = _IndexedChunk(passage, documents[doc_id].to_token_span(start, end), span)
                self._chunks[passage.passage_id] = chunk
                chunks_by_document.setdefault(doc_id, []).append(chunk)
        if not self._chunks:
            raise DataError("it produces no chunks.", source=format_name({"chunker": config.get("chunker", "")}))
        self._of = {doc_id: _DocumentChunks(chunks) for doc_id, chunks in chunks_by_document.items()}
        self._sizes = [chunk.tokens.end - chunk.tokens.start for chunk in self._chunks.values()]
        started = perf_counter()
        texts = [chunk.passage.text or "" for chunk in self._chunks.values()]
        self._retriever = build_retriever(settings.retriever, list(self._chunks), texts)
        self._tally.seconds = perf_counter() - started

    def answers(self, examples: Sequence[Example]) -> Iterable[tuple[Response, Sequence[MetricResult]]]:
        """One ranking for each example, deep enough for every cutoff and budget."""
        for example in examples:
            started = perf_counter()
            ranked = self._rank_chunks(example.query)
            self._tally.seconds += perf_counter() - started
            passages = tuple(chunk.passage for chunk in ranked)
            yield Response(example.query_id, passages=passages), self._score_example(example, ranked)

    def _rank_chunks(self, query: str) -> list[_IndexedChunk]:
        budget, cutoff = max(self._settings.budgets, default=0), max(self._settings.k, default=0)
        usual = sum(self._sizes) / len(self._sizes)
        depth = max(cutoff, int(1.5 * budget / max(usual, 1.0)) + 5)
        while True:
            results = self._retriever.search(query, min(depth, len(self._chunks)))
            hits = [self._chunks[passage.passage_id] for passage in results]
            n_tokens, n = 0, 0
            while n < len(hits) and (n_tokens < budget or n < cutoff):
                n_tokens += hits[n].tokens.end - hits[n].tokens.start
                n += 1
            if n_tokens >= budget or len(hits) < depth:
                return hits[:n]
            depth *= 2

    def _score_example(self, example: Example, ranked: Sequence[_IndexedChunk]) -> list[MetricResult]:
        """Every metric of one example."""
        chars, tokens = self._gold[example.query_id]
        near = self._find_touching(chars, "chars")
        touching = tuple(chunk.tokens for chunk in self._find_touching(tokens, "tokens"))
        in_chars = tuple(chunk.chars for chunk in near)
        overlaps = {
            "labels.token_spans": GoldOverlap(tokens, tuple(chunk.tokens for chunk in ranked), touching),
            "labels.char_spans": GoldOverlap(chars, tuple(chunk.chars for chunk in ranked), in_chars),
        }
        self._count_spans(chars, near, overlaps["labels.token_spans"])
        blank = {"labels.token_spans": MetricResult.of(Undefined(UNHELD_REASON))} if chars and not tokens else {}
        kinds = [(metric, metric.needs["overlap"]) for metric in self.metrics]
        return [blank.get(kind) or MetricResult.of(metric.value(overlaps[kind])) for metric, kind in kinds]

    def _count_spans(self, gold: Sequence[Span], near: Sequence[_IndexedChunk], overlap: GoldOverlap) -> None:
        tally = self._tally
        tally.spans += len(gold)
        tally.cut += sum(not any(_contains_span(chunk.chars, span) for chunk in near) for span in gold)
        if len(overlap.touching or ()) > MAX_TRIED_CHUNKS:
            policies = [(k, None) for k in self._settings.k] + [(None, budget) for budget in self._settings.budgets]
            tally.greedy += any(
                not compute_attainable(overlap, k, budget, self._settings.fill)[1] for k, budget in policies
            )

    def _find_touching(self, gold: Sequence[Span], unit: Literal["chars", "tokens"]) -> list[_IndexedChunk]:
        """The chunks of the index that share a unit with gold spans, in the order of their document."""
        touching: dict[str, _IndexedChunk] = {}
        for span in gold:
            document_chunks = self._of.get(span.doc_id)
            touching |= (
                {chunk.passage.passage_id: chunk for chunk in document_chunks.find_touching(span, unit)}
                if document_chunks
                else {}
            )
        return list(touching.values())

    def measurements(self) -> Sequence[Measurement]:
        """Sizes of chunks and index, what alignment had to do, gold spans cut, and what it took."""
        sizes, corpus = self._sizes, sum(map(len, self._documents.values()))
        alignments, tally, model = self._cuts.alignments.values(), self._tally, self._settings.price_of
        cut = compute_rate_interval(tally.cut, tally.spans)
        kinds = ("found", "ambiguous", "empty", "changed")
        counts = {name: sum(getattr(alignment, name) for alignment in alignments) for name in kinds}
        return (
            Measurement("chunks", float(len(sizes))),
            Measurement("chunk_tokens", mean(sizes), "tokens", n=len(sizes)),
            Measurement("chunk_tokens_least", float(min(sizes)), "tokens", n=len(sizes)),
            Measurement("chunk_tokens_most", float(max(sizes)), "tokens", n=len(sizes)),
            Measurement("index_tokens", float(sum(sizes)), "tokens"),
            Measurement("index_share", sum(sizes) / corpus if corpus else None),
            *((Measurement("embedding_price", compute_embedding_price(model, sum(sizes)), "USD"),) if model else ()),
            Measurement(
                "gold_spans_cut",
                tally.cut / tally.spans if tally.spans else None,
                "",
                cut.low if cut else None,
                cut.high if cut else None,
                tally.spans,
            ),
            Measurement("documents_empty", float(sum(not text.text.strip() for text in self._documents.values()))),
            *(Measurement(f"chunks_{name}", float(n)) for name, n in counts.items()),
            Measurement("attainable_greedy", float(tally.greedy), "examples"),
            Measurement("split_seconds", self._cuts.seconds, "s"),
            Measurement("search_seconds", tally.seconds, "s"),
        )

    def close(self) -> None:
        """Nothing is held open."""


def _contains_span(span: Span, gold: Span) -> bool:
    return span.doc_id == gold.doc_id and span.start <= gold.start and gold.end <= span.end
