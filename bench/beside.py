"""How far the local judge tells a sentence of an answer that bears on the question from one of another answer.

Into each answer of two to twelve sentences goes one sentence of the next answer, at a place drawn by lot: to the
question it was not asked. Measured is whether its probability lies below those of the answer's own sentences, with the
words alone and with vectors. The answer's own sentences count as bearing on the question, which not all do; sentences
that stay on the topic and say nothing that was asked are not among the foreign ones, and are harder.

    python bench/beside.py
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np
from coverage import Embedding
from judge_data import lines
from logistic import auroc

from ragauge.core.ask import Ask, Reply
from ragauge.core.facts import RelevanceFacts
from ragauge.judges.inputs import RateAnswer
from ragauge.judges.judge import answer_asks
from ragauge.judges.local.judge import LocalJudge
from ragauge.text.sentences import split_sentences

SEED = 20_261_123
MOST = 300  # answers a source
Answers = list[tuple[str, list[str]]]
Replying = Callable[[Sequence[Ask]], list[Reply]]


def clapnq() -> Answers:
    """Questions with answers that people wrote."""
    rows = lines("clapnq", "clapnq_dev_answerable.jsonl")
    return _cut({row["input"]: row["output"][0]["answer"] for row in rows})


def attributionbench() -> Answers:
    """Questions with answers of several systems."""
    rows = lines("attributionbench", "dev_all_subset_balanced.jsonl")
    return _cut({row["question"]: row.get("response") or row["claim"] for row in rows})


def _cut(answers: dict[str, str]) -> Answers:
    pieces = [(query, [one.text for one in split_sentences(answer)]) for query, answer in answers.items()]
    long = [(query, said) for query, said in pieces if 2 <= len(said) <= 12]
    random.Random(SEED).shuffle(long)
    return long[:MOST]


def told(answers: Answers, embedded: Replying) -> None:
    """Prints how well the foreign sentence is told from the others."""
    draw = random.Random(SEED)
    labels, scores, marked = [], [], []
    for place, (query, said) in enumerate(answers):
        foreign, at = draw.choice(answers[(place + 1) % len(answers)][1]), draw.randrange(len(said) + 1)
        mixed = [*said[:at], foreign, *said[at:]]
        facts = answer_asks(LocalJudge().ask(RateAnswer(query, " ".join(mixed))), embedded)
        if not isinstance(facts, RelevanceFacts) or len(facts.ratings) != len(mixed):
            continue  # sentences that were joined read as one
        labels += [number != at for number in range(len(mixed))]
        scores += [one.chance or 0.0 for one in facts.ratings]
        marked += [bool(one.relevant) for one in facts.ratings]
    own, p, found = np.array(labels), np.array(scores), np.array(marked)
    print(
        f"  {len(own):,} sentences, AUROC {auroc(own, p):.3f}; mean p {p[own].mean():.2f} of its own, "
        f"{p[~own].mean():.2f} of foreign ones; called off the question: {1 - found[own].mean():.0%} and "
        f"{1 - found[~own].mean():.0%}"
    )


def main() -> None:
    """Prints every number."""
    embedding = Embedding()
    ways: dict[str, Replying] = {"vectors": embedding, "words alone": lambda asks: [Reply("failed") for _ in asks]}
    for name, answers in (("CLAPNQ", clapnq()), ("AttributionBench", attributionbench())):
        for way, embedded in ways.items():
            print(f"{name}, {way}:")
            told(answers, embedded)


if __name__ == "__main__":
    main()
