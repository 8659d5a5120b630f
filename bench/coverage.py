"""How far sentence-level precision and criteria of the local judge agree with labels that people gave.

Sentence-level precision: CLAPNQ, answerable questions. Annotators marked the sentences of the gold passage that answer
the question; measured is whether the judge calls those relevant and the others not, beside word overlap with the
question, and the mean of `context_precision:unit=sentence` by question beside the share that people marked.

Criteria: no labelled set is at hand, so accepted answers of EVOUNA serve, where a question has at most three: the
criterion "mentions X or Y" against whether people called the answer right. Right answers in other words count against
the judge here.

    python bench/coverage.py
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from judge_data import SYSTEMS, accepted_answers, lines
from logistic import auroc, balanced_accuracy

from ragauge.core.ask import Ask, Reply
from ragauge.core.facts import CoverFacts, RelevanceFacts
from ragauge.judges.inputs import CoverCriteria, RateSentences
from ragauge.judges.judge import answer_asks
from ragauge.judges.local.criteria import cover_criteria
from ragauge.judges.local.judge import LocalJudge
from ragauge.models.embedders.base import WordLlamaEmbedder
from ragauge.text.sentences import split_sentences
from ragauge.text.tokens import ENGLISH, split_words, stem_word

SEED = 20_240_601
SAMPLE = 400  # questions of EVOUNA
MOST_ACCEPTED = 3


class Embedding:
    """Answers embed asks from the embedded embedder."""

    def __init__(self) -> None:
        self.embedder = WordLlamaEmbedder()

    def __call__(self, asks: Sequence[Ask]) -> list[Reply]:
        """One reply an ask."""
        return [Reply("ok", vectors=self.embedder.embed([text for _, text in ask.messages])) for ask in asks]


def sentences(embedded: Embedding) -> None:
    """Prints how well marked sentences are told from the others."""
    labels, scores, said, overlaps, ours, theirs = [], [], [], [], [], []
    for row in lines("clapnq", "clapnq_dev_answerable.jsonl"):
        passage = row["passages"][0]
        marked = {_plain(text) for text in row["output"][0]["selected_sentences"]}
        text = " ".join(passage["sentences"])
        facts = answer_asks(LocalJudge().ask(RateSentences(row["input"], (text,))), embedded)
        assert isinstance(facts, RelevanceFacts)
        pieces = [one.text for one in split_sentences(text)]
        query = {stem_word(word) for word in split_words(row["input"]) if word not in ENGLISH}
        right = [float(any(_plain(piece) in one or one in _plain(piece) for one in marked)) for piece in pieces]
        labels += right
        scores += [rating.p or 0.0 for rating in facts.ratings]
        said += [bool(rating.relevant) for rating in facts.ratings]
        overlaps += [
            len(query & {stem_word(w) for w in split_words(p) if w not in ENGLISH}) / max(1, len(query)) for p in pieces
        ]
        ours.append(np.mean([bool(rating.relevant) for rating in facts.ratings]))
        theirs.append(np.mean(right))
    truth, p, plain = np.asarray(labels), np.asarray(scores), np.asarray(overlaps)
    print(f"sentences of gold passages (CLAPNQ): {len(truth):,}, marked by people {truth.mean():.3f}")
    print(
        f"  AUROC {auroc(truth, p):.3f}, word overlap {auroc(truth, plain):.3f}; "
        f"balanced accuracy {balanced_accuracy(truth, np.asarray(said)):.3f}; "
        f"called relevant {np.mean(said):.3f}"
    )
    print(
        f"  context_precision:unit=sentence {np.mean(ours):.3f}, by people {np.mean(theirs):.3f}, "
        f"correlation over {len(ours)} questions {np.corrcoef(ours, theirs)[0, 1]:.3f}"
    )


def criteria(embedded: Embedding) -> None:
    """Prints how far "mentions X" is met where people called the answer right."""
    draw = random.Random(SEED)
    right, met, opened = [], [], []
    rows = [row for row in accepted_answers() if len(row.accepted) <= MOST_ACCEPTED]
    for row in draw.sample(rows, min(SAMPLE, len(rows))):
        wanted = " or ".join(row.accepted)
        for system in SYSTEMS:
            inputs = CoverCriteria(row.query, (f"mentions {wanted}",), row.answers[system])
            facts: Any = answer_asks(cover_criteria(inputs), embedded)
            assert isinstance(facts, CoverFacts)
            right.append(float(row.right[system]))
            met.append(bool(facts.met[0]))
            opened.append(facts.met[0] is None)
    truth, yes, decided = np.asarray(right), np.asarray(met), ~np.asarray(opened)
    print(
        f'criterion "mentions X" (EVOUNA): {len(truth):,} answers; right {truth.mean():.3f}, met {yes.mean():.3f}, '
        f"no verdict {1 - decided.mean():.3f} (right {truth[~decided].mean():.3f})"
    )
    print(
        f"  balanced accuracy {balanced_accuracy(truth, yes):.3f} with these as not met, "
        f"{balanced_accuracy(truth[decided], yes[decided]):.3f} of the decided"
    )


def _plain(text: str) -> str:
    return " ".join(text.split()).strip()


def main() -> None:
    """Measures both."""
    embedded = Embedding()
    sentences(embedded)
    criteria(embedded)


if __name__ == "__main__":
    main()
