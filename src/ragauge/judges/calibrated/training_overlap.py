"""Which sentences of an answer trained a judge, whether their labels came as answers or as lists of claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragauge.core.identity import digest
from ragauge.judges.calibrated.file import KEY
from ragauge.text.sentences import split
from ragauge.text.tokens import answer as bare
from ragauge.text.tokens import folded, words


def like(text: str) -> str:
    """A text for comparing: without case, punctuation and white space; of signs alone, the signs."""
    return bare(text) or folded(text)


def marks(passages: Sequence[str], texts: Sequence[str]) -> list[str]:
    """What each text is recognised by: a hash of it, as `like` compares, and of the words of its passages.

    The passages count as the set of their words: order, repetition and where one ends and the next begins make no
    difference, and neither does the question, which a list of claims often lacks.

    Args:
        passages: what the texts are held against.
        texts: answers, sentences or parts of them.
    """
    known = digest(sorted({word for passage in passages for word in words(passage) or [folded(passage)]}))
    return [digest([known, like(text)])[:KEY] for text in texts]


class Recognised:
    """The folds of the models that did not see what is known of an answer.

    Args:
        folds: mark of a text that trained -> the place of its fold.
        passages: what the answer is held against.
        answer: its text.
        whole: the fold of the whole answer where that is known otherwise.
    """

    def __init__(
        self, folds: Mapping[str, int], passages: Sequence[str], answer: str, whole: int | None = None
    ) -> None:
        sentences = split(answer)
        first, *rest = marks(passages, [answer, *(one.text for one in sentences)])
        self._whole = folds.get(first, whole)
        known = ((one.start, one.end, folds.get(mark)) for one, mark in zip(sentences, rest, strict=True))
        self._sentences = [(start, end, fold) for start, end, fold in known if fold is not None]

    def fold(self, start: int, end: int) -> int | None:
        """The fold for the claims in `answer[start:end]`; None = nothing of the answer trained the judge.

        That of the first known sentence there; where none is, that of the whole answer, or of its first known sentence.
        """
        there = (fold for begins, ends, fold in self._sentences if begins < end and ends > start)
        first = self._sentences[0][2] if self._sentences else None
        return next(there, first if self._whole is None else self._whole)
