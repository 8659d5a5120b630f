"""Draws pairs whose truth is known, from a run's own responses and from the texts shipped with the package.

What is drawn depends on ids and texts alone: neither the order of the examples nor a limit changes it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from ragauge.core.example import Example
from ragauge.core.identity import hash_json
from ragauge.core.response import MIN_PAIRS, Passage, Response, TextKind
from ragauge.judges.known_texts import KnownText, read_known_texts
from ragauge.text.characters import UNSPACED
from ragauge.text.language import guess_language
from ragauge.text.sentences import split_sentences
from ragauge.text.table_rows import Layout, detect_layout
from ragauge.text.tokens import split_words

PairKind = Literal["passages", "address"]  # what is judged: a query, answer and reference beside passages, or alone
MIN_WORDS = 6  # of a sentence of which half is taken
MAX_CHARS = 400  # of such a sentence
CELL_LINES = 4  # neighboring lines that stand for a row where each cell has its own
N_SHIPPED = 24  # of each kind, from the shipped documents
N_SHIPPED_PASSAGES = 3  # of a shipped known-no pair
MIN_COMMON = 3  # responses that have a passage which is common to more than half
MAX_SHARED = 0.7  # of the words of the shorter of two texts: with more, neither is a known no for the other
UNSPACED_CHARACTER = re.compile(f"[{UNSPACED}]")
HAS_DIGIT = re.compile(r"\d")
CELL_MARKS = re.compile(r"[|\t]+")


@dataclass(frozen=True, slots=True)
class ControlPair:
    """A pair whose truth is known."""

    kind: PairKind  #: what is judged of it.
    is_yes: bool  #: whether the truth is yes.
    example: Example  #: with the query and the reference.
    response: Response  #: with the answer, and the passages where there are any.
    place: TextKind  #: whose scale its scores belong to.
    is_shipped: bool = False  #: whether it is of the shipped texts.


@dataclass(frozen=True, slots=True)
class Source:
    """One response that pairs are drawn from; `doc_ids` holds its documents and the hashes of its texts."""

    key: str  # by which it is drawn
    example: Example
    response: Response
    place: TextKind
    doc_ids: frozenset[str]
    query_words: frozenset[str]
    words: frozenset[str]

    def is_distinct_from(self, other: Source) -> bool:
        """Whether the other may stand for what does not belong here: same tenant, language and layout, no document."""
        own_example, theirs = self.example, other.example
        same_tenant = own_example.segments.get("tenant") == theirs.segments.get("tenant")
        same_cluster = own_example.cluster is not None and own_example.cluster == theirs.cluster
        return same_tenant and not same_cluster and self.place == other.place and not self.doc_ids & other.doc_ids

    def is_same_as(self, other: Source) -> bool:
        """Whether both were given the same document, or texts that say nearly the same."""
        return bool(self.doc_ids & other.doc_ids) or self.has_similar_words(other)

    def has_similar_words(self, other: Source) -> bool:
        """Whether the texts are so alike, in words, that one may well hold what the other holds."""
        return len(self.words & other.words) >= MAX_SHARED * min(len(self.words), len(other.words))


def sample_pairs(responses: Iterable[tuple[Example, Response]], n: int) -> list[ControlPair]:
    """At most n pairs of each kind from a run's responses, half of them known no: of these half random, half near.

    Args:
        responses: with their examples, one an example.
        n: how many at most.
    """
    distinctive = _drop_common(list(responses))
    sources = sorted((source for pair in distinctive if (source := build_source(*pair))), key=lambda source: source.key)
    half = n // 2
    pairs: list[ControlPair] = []
    for source, other in _match_partners(sources, half):
        example = _build_example(source.example.query, source.example, other.example.query_id)
        passages = other.response.passages
        pairs.append(ControlPair("passages", False, example, replace(source.response, passages=passages), source.place))
        if other.response.answer:
            alone = _build_example(source.example.query, Example("", ""), other.example.query_id)
            answer = Response("", answer=other.response.answer)
            pairs.append(ControlPair("address", False, alone, answer, source.place))
    for source in sources[:half]:
        pairs += _build_known_yes(source)
    return pairs


def select_shipped_pairs(kind: PairKind, language: str, layout: Layout) -> list[ControlPair]:
    """24 known-yes and 24 known-no pairs of the shipped texts of a language and layout; [] where there are none."""
    return [pair for pair in _build_shipped_pairs(language, layout) if pair.kind == kind]


@cache
def _build_shipped_pairs(language: str, layout: Layout) -> tuple[ControlPair, ...]:
    documents = read_known_texts(language, layout)
    text_kind = TextKind(language, language, layout)
    return tuple(
        replace(pair, place=text_kind, is_shipped=True)
        for number, document in enumerate(documents[:N_SHIPPED])
        for pair in _build_document_pairs(documents, number, document)
    )


def _build_document_pairs(documents: Sequence[KnownText], number: int, document: KnownText) -> Iterator[ControlPair]:
    """A known yes and a known no of each kind; every second known no is beside the other document of its topic."""
    passage_text, *_ = sorted(document.parts, key=lambda text: hash_json([document.doc_id, text]))
    others = [other for other in documents if other.doc_id not in (document.doc_id, document.near_doc_id)]
    others.sort(key=lambda other: hash_json([document.doc_id, other.doc_id]))
    near = [other for other in documents if other.doc_id == document.near_doc_id]
    strangers = ((near if number % 2 else []) + others)[:N_SHIPPED_PASSAGES]
    query, text_kind = halve_sentence(passage_text), TextKind("", "", "prose")
    yes, no = (
        tuple(Passage(text.doc_id, text.doc_id, text.text) for text in texts) for texts in ([document], strangers)
    )
    example = Example(document.doc_id, query, references=(query,))
    yield ControlPair("passages", True, example, Response("", passages=yes, answer=query), text_kind)
    wrong = replace(example, references=(flatten_cells(passage_text),))
    yield ControlPair(
        "passages", False, wrong, Response("", passages=no, answer=flatten_cells(passage_text)), text_kind
    )
    alone = Example(document.doc_id, query)
    yield ControlPair("address", True, alone, Response("", answer=flatten_cells(passage_text)), text_kind)
    yield ControlPair("address", False, alone, Response("", answer=flatten_cells(strangers[0].parts[0])), text_kind)


def build_source(example: Example, response: Response) -> Source | None:
    """A response that pairs can be drawn from; None of one without passages, or whose texts were not recorded."""
    if response.error is not None or not response.passages or not response.has_passage_texts:
        return None
    texts = [passage.text or "" for passage in response.passages]
    labeled = [doc_id for relevant in example.relevant or () for doc_id in relevant.doc_ids]
    retrieved_ids = [passage.doc_id for passage in response.passages if passage.doc_id]
    return Source(
        hash_json([example.query_id, example.query]),
        example,
        response,
        TextKind.from_texts(example, response),
        frozenset((*labeled, *retrieved_ids, *map(hash_json, texts))),
        frozenset(split_words(example.query)),
        frozenset(word for text in texts for word in split_words(text)),
    )


def _drop_common(responses: Sequence[tuple[Example, Response]]) -> Iterator[tuple[Example, Response]]:
    """The responses without passages that more than half of them have: such a page belongs to no question."""
    counts = Counter(text for _, response in responses for text in {each.text for each in response.passages or ()})
    common = {text for text, n in counts.items() if n >= MIN_COMMON and 2 * n > len(responses)}
    for example, response in responses:
        passages = tuple(passage for passage in response.passages or () if passage.text not in common)
        yield example, response if response.passages is None else replace(response, passages=passages)


def _match_partners(sources: Sequence[Source], n: int) -> list[tuple[Source, Source]]:
    """At most n examples, each with another: half of them with a random one, half with the nearest by words."""
    pairs: dict[tuple[str, str], tuple[Source, Source]] = {}

    def add_pairs(max_pairs: int, ordered: Sequence[Source], rank: str) -> None:
        for source in ordered:
            if len(pairs) >= max_pairs:
                return
            others = [other for other in sources if source.is_distinct_from(other)]
            if rank == "near":
                others.sort(key=lambda other: (len(source.query_words & other.words), other.key), reverse=True)
            else:
                others.sort(key=lambda other: hash_json([source.key, other.key]))
            other = next((other for other in others if not source.has_similar_words(other)), None)
            if other is not None:
                pairs.setdefault((source.key, other.key), (source, other))

    add_pairs(n // 2, sources, "random")
    add_pairs(n, sources[::-1], "near")
    return list(pairs.values())


def _build_known_yes(source: Source) -> Iterator[ControlPair]:
    """Half of a sentence, row or group of cells of one of its passages, beside that passage, and alone."""
    passages = sorted(source.response.passages or (), key=lambda passage: hash_json([source.key, passage.text]))
    for passage in passages:
        text = passage.text or ""
        layout = detect_layout(text)
        sentences = sorted(_split_parts(text, layout), key=lambda sentence: hash_json([source.key, sentence]))
        if not sentences:
            continue
        sentence, half, language = sentences[0], halve_sentence(sentences[0]), guess_language(text)
        text_kind = TextKind(language, language, layout)
        example = replace(_build_example(half, source.example, "yes"), references=(half,), reference_claims=None)
        response = Response("", passages=(passage,), answer=half)
        yield ControlPair("passages", True, example, response, text_kind)
        if layout == "prose":
            yield ControlPair(
                "address", True, _build_example(half, Example("", ""), ""), Response("", answer=sentence), text_kind
            )
        return


def _split_parts(text: str, layout: Layout) -> list[str]:
    """Sentences of prose, rows of a table, neighboring lines of cells, of six words and more."""
    if layout == "prose":
        candidates = [sentence.text for sentence in split_sentences(text)]
    else:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        size = 1 if layout == "table" else CELL_LINES
        candidates = ["\n".join(lines[start : start + size]) for start in range(0, len(lines) - size + 1, size)]
    min_words = MIN_WORDS if layout == "prose" else 3
    return [
        flatten_cells(candidate)
        for candidate in candidates
        if min_words <= len(split_words(candidate)) and len(candidate) <= MAX_CHARS
    ]


def flatten_cells(sentence: str) -> str:
    """A row or group of cells as one line without marks between the cells."""
    return " ".join(CELL_MARKS.sub(" ", sentence).split())


def halve_sentence(sentence: str) -> str:
    """Half of the words of a sentence, in their order; names and numbers are kept. Without spaces, its first half.

    Two numbers keep the word between them, or they would read as one.

    >>> halve_sentence("The library in Marlow Street opens at 10 in the morning from Tuesday to Saturday")
    'The in Marlow Street at 10 the from Tuesday Saturday'
    >>> halve_sentence("| Adult card | 24 | 15 |")
    'Adult 24 15'
    """
    sentence_words = flatten_cells(sentence).split()
    if len(UNSPACED_CHARACTER.findall(sentence)) > len(sentence) / 2:
        text = " ".join(sentence_words)
        end = max(1, (len(text) + 1) // 2)
        within = re.compile(rf"[^\s{UNSPACED}]*").match(text, end)  # no number or name is cut
        inside = end < len(text) and not UNSPACED_CHARACTER.match(text[end - 1]) and text[end - 1] != " "
        return text[: within.end()] if inside and within is not None else text[:end]
    kept_indices, dropped = [0] if sentence_words else [], False
    for index, word in enumerate(sentence_words[1:], 1):
        if HAS_DIGIT.search(word):
            if kept_indices[-1] == index - 2 and HAS_DIGIT.search(sentence_words[index - 2]):
                kept_indices.append(index - 1)
            kept_indices.append(index)
        elif word.lower() != word:
            kept_indices.append(index)
        else:
            dropped = not dropped
            if not dropped:
                kept_indices.append(index)
    return " ".join(sentence_words[index] for index in kept_indices)


def _build_example(query: str, source: Example, other: str) -> Example:
    """What a pair asks: the query, the references of an example, and no label of it."""
    query_id = f"control:{source.query_id}:{other}"
    return Example(query_id, query, references=source.references, reference_claims=source.reference_claims)


def list_missing_kinds(n_yes: int, n_no: int) -> tuple[bool, ...]:
    """Of which kinds, yes (True) and no (False), there are too few scores for a scale."""
    return tuple(kind for kind, n in ((True, n_yes), (False, n_no)) if n < MIN_PAIRS)
