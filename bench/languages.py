"""Shows, by language, how far apart the local judge's scores of what belongs together and of what does not are.

    python bench/languages.py                       # prints the table
    python bench/languages.py --write               # and writes it into docs/local-judge.md
    python bench/languages.py --write ko=FILE …     # with more languages, from files of the form of SQuAD

Yes: a question with its own paragraph (context_precision), with the sentence that answers it (answer_relevance), and
that sentence with its paragraph (faithfulness). No: the paragraph and the sentence of another article. 60 paragraphs of
XQuAD a language, which no scorer was trained on; what is trained on other paragraphs of XQuAD has seen the language.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from language_data import LANGUAGES, Paragraph, paragraphs, strangers
from logistic import auroc

from ragauge.core.ask import Ask, Reply
from ragauge.core.facts import AnswerFacts, RelevanceFacts
from ragauge.judges.inputs import RatePassages, VerifyAnswer
from ragauge.judges.judge import answer_asks
from ragauge.judges.local.relevance import rate_passages
from ragauge.judges.local.verify_answer import verify_answer
from ragauge.models.embedders.base import WordLlamaEmbedder

PAGE = Path(__file__).resolve().parents[1] / "docs/local-judge.md"
MARKS = "<!-- languages, written by bench/languages.py: begin -->", "<!-- languages: end -->"
METRICS = ("context_precision", "answer_relevance", "faithfulness")
LEAST_AUROC, LEAST_GAP = 0.9, 0.3  # from which on a language counts as read


class Measured(NamedTuple):
    """Scores of one metric of pairs that belong together and of pairs that do not."""

    yes: list[float]
    no: list[float]

    @property
    def gap(self) -> float:
        """Between the medians."""
        return float(np.median(self.yes) - np.median(self.no))

    @property
    def auroc(self) -> float:
        """Chance that one that belongs together scores above one that does not."""
        labels = np.repeat([1.0, 0.0], [len(self.yes), len(self.no)])
        return auroc(labels, np.asarray([*self.yes, *self.no]))

    @property
    def read(self) -> bool:
        """Whether the two are far enough apart."""
        return self.auroc >= LEAST_AUROC and self.gap >= LEAST_GAP


class Judge:
    """The local judge's three scores of one pair."""

    def __init__(self) -> None:
        self._embedder = WordLlamaEmbedder()

    def _answer(self, asks: Sequence[Ask]) -> list[Reply]:
        return [Reply("ok", vectors=self._embedder.embed([text for _, text in ask.messages])) for ask in asks]

    def relevance(self, query: str, passage: str) -> float:
        """Of one passage to a question."""
        facts = answer_asks(rate_passages(RatePassages(query, (passage,))), self._answer)
        assert isinstance(facts, RelevanceFacts)
        return facts.ratings[0].p or 0.0

    def answer(self, query: str, answer: str, passage: str) -> tuple[float | None, float | None]:
        """answer_relevance and faithfulness of an answer; None of one that states nothing."""
        facts = answer_asks(verify_answer(VerifyAnswer(query, (passage,), answer)), self._answer)
        assert isinstance(facts, AnswerFacts)
        if facts.address_p is None or not facts.claims:
            return None, None
        return facts.address_p[0] + facts.address_p[1] / 2, float(np.mean([claim.p or 0.0 for claim in facts.claims]))


def layouts(every: Sequence[Paragraph]) -> Iterator[tuple[str, Sequence[Paragraph]]]:
    """How the paragraphs are laid out, by name."""
    yield "prose", every


def measured(every: Sequence[Paragraph], judge: Judge) -> dict[str, Measured]:
    """Of each metric the scores of pairs that belong together, and of others."""
    found = {name: Measured([], []) for name in METRICS}
    for own, other in zip(every, strangers(every), strict=True):
        for into, given in ((0, own), (1, other)):
            found["context_precision"][into].append(judge.relevance(own.query, given.text))
            scores = judge.answer(own.query, given.answering, own.text)
            for name, score in zip(METRICS[1:], scores, strict=True):
                if score is not None:
                    found[name][into].append(score)
    return found


def written(rows: Mapping[tuple[str, str], Mapping[str, Measured]]) -> str:
    """The table in Markdown."""
    heads = [f"{name}: yes / no | AUROC | gap" for name in METRICS]
    lines = [f"language | layout | {' | '.join(heads)}", "---|---|" + "|".join(["---:"] * 3 * len(METRICS))]
    for (language, layout), found in rows.items():
        cells = [
            f"{np.median(one.yes):.2f} / {np.median(one.no):.2f} | {one.auroc:.2f} | {one.gap:.2f}"
            + ("" if one.read else " (not read)")
            for one in found.values()
        ]
        lines.append(f"{language} | {layout} | {' | '.join(cells)}")
    return "\n".join(lines)


def main() -> None:
    """Measures and prints, and writes."""
    judge, rows = Judge(), {}
    given = dict(word.split("=", 1) for word in sys.argv[1:] if "=" in word)
    for language in (*LANGUAGES, *given):
        file = Path(given[language]) if language in given else None
        for layout, every in layouts(paragraphs(language, "shown", file)):
            rows[language, layout] = measured(every, judge)
    print(written(rows))
    if "--write" in sys.argv[1:]:
        page, (begin, end) = PAGE.read_text(encoding="utf-8"), MARKS
        block = f"{begin}\n\n{written(rows)}\n\n{end}"
        PAGE.write_text(re.sub(f"{begin}.*?{end}", lambda _: block, page, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
