"""Which sentences of an answer trained a judge, whether their labels came as answers or as lists of claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragauge.core.identity import hash_json
from ragauge.judges.calibrated.file import KEY_HEX_DIGITS
from ragauge.text.sentences import split_sentences
from ragauge.text.tokens import fold_text, split_words
from ragauge.text.tokens import normalize_answer as bare


def normalize_for_match(text: str) -> str:
    """A text for comparing: without case, punctuation and white space; of signs alone, the signs."""
    return bare(text) or fold_text(text)


def compute_marks(passages: Sequence[str], texts: Sequence[str]) -> list[str]:
    """What each text is recognized by: a hash of it as normalized for matching, and of the words of its passages.

    The passages count as the set of their words: order, repetition and where one ends and the next begins make no
    difference, and neither does the question, which a list of claims often lacks.

    Args:
        passages: what the texts are held against.
        texts: answers, sentences or parts of them.
    """
    passages_digest = hash_json(
        sorted({word for passage in passages for word in split_words(passage) or [fold_text(passage)]})
    )
    return [hash_json([passages_digest, normalize_for_match(text)])[:KEY_HEX_DIGITS] for text in texts]


class TrainingOverlap:
    """The folds of the models that did not see what is known of an answer.

    Args:
        folds: mark of a text that trained -> the place of its fold.
        passages: what the answer is held against.
        answer: its text.
        whole: the fold of the whole answer where that is known otherwise.
    """

    def __init__(
        self, folds: Mapping[str, int], passages: Sequence[str], answer: str, answer_fold: int | None = None
    ) -> None:
        sentences = split_sentences(answer)
        answer_mark, *sentence_marks = compute_marks(passages, [answer, *(sentence.text for sentence in sentences)])
        self._whole = folds.get(answer_mark, answer_fold)
        spans = (
            (sentence.start, sentence.end, folds.get(mark))
            for sentence, mark in zip(sentences, sentence_marks, strict=True)
        )
        self._sentences = [(start, end, fold) for start, end, fold in spans if fold is not None]

    def find_fold(self, start: int, end: int) -> int | None:
        """The fold for the claims in `answer[start:end]`; None = nothing of the answer trained the judge.

        That of the first known sentence there; where none is, that of the whole answer, or of its first known sentence.
        """
        overlapping = (
            fold
            for sentence_start, sentence_end, fold in self._sentences
            if sentence_start < end and sentence_end > start
        )
        first = self._sentences[0][2] if self._sentences else None
        return next(overlapping, first if self._whole is None else self._whole)
