"""What kind of thing a statement is, by what it takes to find it: an amount, a phrase, or a sentence."""

from __future__ import annotations

from typing import Literal

from ragauge.text.specifics import find
from ragauge.text.stopwords import ENGLISH
from ragauge.text.tokens import words

ClaimKind = Literal["amount", "phrase", "sentence"]

MOST_BESIDE = 2     # words with content beside a number that is a statement by itself
SHORT = 5           # words with content: fewer make a phrase


def claim_kind(text: str) -> ClaimKind:
    """Amount: a number and at most two words of content. Phrase: fewer than five of these.

    >>> [claim_kind(text) for text in ("$1,577 million", "the Port of Leith", "Two sisters founded it in Leeds, Ohio.")]
    ['amount', 'phrase', 'sentence']
    """
    content = [word for word in words(text) if word not in ENGLISH and not word[0].isdigit()]
    if len(content) <= MOST_BESIDE and find(text, ("number", "percent")):
        return "amount"
    return "phrase" if len(content) < SHORT else "sentence"
