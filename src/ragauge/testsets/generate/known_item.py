"""Questions without a model: known-item queries, terms of a document that a searcher might remember.

After Azzopardi and de Rijke, "Automatic construction of known-item finding test beds" (SIGIR 2006), and Azzopardi, de
Rijke and Balog (SIGIR 2007), popular selection: a term is drawn with its frequency in the document. They draw one in
five from the corpus instead, as a searcher misremembers; without these, retrievers are ordered more as people's
questions order them. Cloze sentences and the rarest terms order them worse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from ragauge.core.curation import Curation, Origin
from ragauge.core.document import Document
from ragauge.core.example import Example, Relevant
from ragauge.core.identity import derive_query_id
from ragauge.engine.retrievers import STOP_WORDS
from ragauge.testsets.corpus_view import CorpusView, classify_difficulty
from ragauge.testsets.set_file import SetLine, build_line
from ragauge.testsets.unspaced_words import UNSPACED_RUN, UnspacedWords
from ragauge.text.tokens import split_words

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
