"""Documents that should carry a label: those that state the reference, and copies of gold documents."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from zlib import crc32

from ragauge.core.document import Document, chunk_document
from ragauge.core.example import Example, Relevant
from ragauge.core.facts import ReferenceFacts
from ragauge.engine.caller import CallCounts
from ragauge.engine.retrievers import STOP_WORDS, Bm25
from ragauge.testsets.check.freshness import ExampleState, SetFreshness
from ragauge.testsets.generate.draft import CHUNK_TOKENS
from ragauge.testsets.generate.question_writer import Judge, Session, ask_support, can_ask_models
from ragauge.testsets.lock import list_gold_ids
from ragauge.testsets.unspaced_words import SHINGLE_WORDS, locate_words
from ragauge.text.sentences import split_sentences
from ragauge.text.tokens import split_words, stem_word

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


MAX_SEARCHED_DOCUMENTS = 20  # best documents by BM25 that are looked at
MAX_JUDGED_PASSAGES = 3  # passages of an example that the judge sees, at most
MIN_REFERENCE_SHARE, MIN_TOTAL_SHARE = (
    0.6,
    0.75,
)  # share of a reference's words, and of question and reference together, in a passage
SHORT_REFERENCE_WORDS = (
    4  # words of a reference that stand in many passages: without a model one sentence has to hold them all
)


@dataclass(frozen=True)
class StatingPassage:
    """A passage of a document without a label that states a whole reference."""

    doc_id: str  #: the document.
    start: int  #: first character of the passage.
    end: int  #: after its last character.
    quote: str  #: the sentences of it that say most of the reference.


@dataclass(frozen=True)
class LabelHole:
    """An example whose reference documents without a label state."""

    query_id: str  #: of the example.
    query: str  #: its question.
    passages: tuple[StatingPassage, ...]  #: one of each document, the most words of the reference first.
    #: the labels with the documents, and copies of the gold, as ones that will do in place of each other.
    relevant: tuple[Relevant, ...]


@dataclass(frozen=True)
class LabelHoles:
    """What was found."""

    judge: str  #: who looked.
    holes: tuple[LabelHole, ...]  #: in the order of the set.
    examples: int  #: with a reference and gold documents.
    judged: int  #: of them, with a passage that might state it, which the judge looked at.
    undecided: int = 0  #: of those, without a verdict.
    stopped: str = ""  #: why the judge looked no further; "" = it saw all.
    calling: CallCounts | None = None  #: calls to models; None = no model was asked.


@dataclass(frozen=True)
class CandidatePassage:
    """A passage that might state a reference: characters [start, end) of a document."""

    doc_id: str
    start: int
    end: int
    text: str


async def find_label_holes(
    fresh: SetFreshness, texts: Mapping[str, str], judge: Judge, session: Session, copies: Sequence[LabelCopies] = ()
) -> LabelHoles:
    """Has a judge look at unlabelled passages that hold most of a reference's words.

    Examples that were rejected, are not answerable, or have no reference or no gold document are passed by, and
    documents with any label, 0 too, or that hold the gold evidence now: they moved.

    Args:
        fresh: the set, held against the corpus.
        texts: doc_id -> text of every document.
        judge: who says whether a passage states all of the reference.
        session: asks it.
        copies: examples with copies of their gold, which are no holes beside.

    Raises:
        JudgeError: a model cannot be asked at all.
    """
    states = [
        item
        for item in fresh.examples
        if item.line.example.answerable is not False and item.line.example.references and list_gold_ids(item.line)
    ]
    search = _PassageSearch(texts, strict=not can_ask_models(judge))
    copies_by_id = {item.query_id: item for item in copies}
    candidates = [
        (item.line.example, passages)
        for item in states
        if (passages := search.passages(item, copies_by_id.get(item.line.example.query_id)))
    ]
    todo = [
        partial(ask_support, judge, example, tuple(item.text for item in passages)) for example, passages in candidates
    ]
    verdicts = await session.drive_all(judge, todo)
    holes, undecided = [], 0
    for n, (example, passages) in enumerate(candidates):
        facts = verdicts.get(n)
        supporting = [claim.supporting for claim in facts.claims] if isinstance(facts, ReferenceFacts) else [None]
        undecided += None in supporting
        complete = set.intersection(*(set(item or ()) for item in supporting)) if supporting else set()
        if complete:
            stating = tuple(_quote_passage(example, passages[number - 1]) for number in sorted(complete))
            copied = copies_by_id.get(example.query_id)
            groups = select_gold_groups(example) if copied is None else copied.relevant
            ids = tuple(item.doc_id for item in stating)
            offered = tuple(replace(item, doc_ids=(*item.doc_ids, *ids)) for item in groups)
            holes.append(LabelHole(example.query_id, example.query, stating, offered))
    return LabelHoles(
        judge.judge_id, tuple(holes), len(states), len(candidates), undecided, session.stopped, session.counts
    )


class _PassageSearch:
    """Finds the passages of a corpus that hold most words of a reference.

    Args:
        texts: doc_id -> text.
        strict: of a reference of up to four words, one sentence has to hold all, and three in four of these and the
            question's together.
    """

    def __init__(self, texts: Mapping[str, str], *, strict: bool) -> None:
        self._texts, self._strict = texts, strict
        self._bm25 = Bm25(list(texts), list(texts.values()))
        self._terms: dict[str, frozenset[str]] = {}
        self._pieces: dict[str, list[tuple[CandidatePassage, frozenset[str]]]] = {}

    def passages(self, state: ExampleState, copies: LabelCopies | None = None) -> tuple[CandidatePassage, ...]:
        """The best passage of each unlabelled document that has one, the most words first."""
        example = state.line.example
        labeled_ids = list_labeled_ids(state).union(item.doc_id for item in (copies.copies if copies else ()))
        reference, query_terms = _extract_terms(example.references[0]), _extract_terms(example.query)
        ranked = []
        for hit in self._bm25.search(f"{example.query} {example.references[0]}", MAX_SEARCHED_DOCUMENTS):
            if hit.passage_id not in labeled_ids and _has_enough_terms(
                self._read_terms(hit.passage_id), reference, query_terms
            ):
                pieces = (
                    item
                    for item in self._cut_passages(hit.passage_id)
                    if _has_enough_terms(item[1], reference, query_terms)
                )
                best = max(pieces, key=lambda item: len(item[1] & (reference | query_terms)), default=None)
                if best is not None and self._is_in_one_sentence(best[0].text, reference, query_terms):
                    ranked.append((len(best[1] & reference), best[0]))
        return tuple(item for _, item in sorted(ranked, key=lambda item: -item[0])[:MAX_JUDGED_PASSAGES])

    def _is_in_one_sentence(self, text: str, reference: frozenset[str], query_terms: frozenset[str]) -> bool:
        """Whether a passage holds the words of a short reference together."""
        if not self._strict or len(reference) > SHORT_REFERENCE_WORDS:
            return True
        sentence_terms = (_extract_terms(sentence.text) for sentence in split_sentences(text))
        return any(reference <= words and _has_enough_terms(words, reference, query_terms) for words in sentence_terms)

    def _read_terms(self, doc_id: str) -> frozenset[str]:
        if doc_id not in self._terms:
            self._terms[doc_id] = _extract_terms(self._texts[doc_id])
        return self._terms[doc_id]

    def _cut_passages(self, doc_id: str) -> Sequence[tuple[CandidatePassage, frozenset[str]]]:
        if doc_id not in self._pieces:
            pieces = chunk_document(Document(doc_id, "", self._texts[doc_id]), CHUNK_TOKENS, overlap=2)
            self._pieces[doc_id] = [
                (
                    CandidatePassage(doc_id, document_chunk.start, document_chunk.end, document_chunk.body),
                    _extract_terms(document_chunk.body),
                )
                for document_chunk in pieces
            ]
        return self._pieces[doc_id]


def _extract_terms(text: str) -> frozenset[str]:
    return frozenset(stem_word(word) for word in split_words(text) if word not in STOP_WORDS)


def _has_enough_terms(text_terms: frozenset[str], reference: frozenset[str], query_terms: frozenset[str]) -> bool:
    """Whether a text holds so many of the words that it might state the reference."""
    both = reference | query_terms
    return (
        bool(reference)
        and len(text_terms & reference) >= MIN_REFERENCE_SHARE * len(reference)
        and (len(text_terms & both) >= MIN_TOTAL_SHARE * len(both))
    )


def _quote_passage(example: Example, passage: CandidatePassage) -> StatingPassage:
    quoted = " … ".join(_select_sentences(example, passage.text))
    return StatingPassage(passage.doc_id, passage.start, passage.end, quoted)


def _select_sentences(example: Example, text: str) -> Iterator[str]:
    """For each sentence of the reference the sentence of a passage that shares most of its words, in their order.

    Of several the one that shares most with the question, then the shortest.
    """
    sentences, query_terms = split_sentences(text), _extract_terms(example.query)
    terms = [_extract_terms(sentence.text) for sentence in sentences]
    best = {
        max(
            range(len(sentences)),
            key=lambda n: (len(terms[n] & reference_terms), len(terms[n] & query_terms), -len(terms[n])),
        )
        for reference_terms in [_extract_terms(sentence.text) for sentence in split_sentences(example.references[0])]
    }
    yield from (sentences[n].text for n in sorted(best))
