"""Answers that are their reference: no judge needs to read those."""

from __future__ import annotations

import re
import unicodedata

from ragauge.data.facts import Agreement, AgreementFacts
from ragauge.judging.inputs import Agree
from ragauge.text.declining import declines

QUOTED = " '«»`"
STOPS = " .。"
SPACE = re.compile(r"\s+")
QUOTES = str.maketrans('’‘“”"–—', "'''''--")


def plain(text: str) -> str:
    """A text for comparing word for word: case, white space, quotes or marks of code around it and its stop aside.

    >>> plain("It's  “Half” done. ") == plain("it’s 'half' done"), plain(".5") == plain("5.")
    (True, False)
    """
    folded = unicodedata.normalize("NFKC", text).casefold().translate(QUOTES)
    return SPACE.sub(" ", folded).strip(QUOTED).rstrip(STOPS).rstrip(QUOTED)


def settled(inputs: Agree) -> AgreementFacts | None:
    """The facts where nothing needs to be judged: the answer is an accepted one, or both decline; else None.

    Then every claim agrees and every reference claim is stated, with probability 1: also where the text makes no
    claims, such as a heading, a question or a number.
    """
    given = plain(inputs.answer)
    accepted = [text for text in (inputs.reference, *inputs.accepted) if text]
    same = bool(given) and any(given == plain(text) for text in accepted)
    if not same and not (accepted and declines(inputs.answer) and all(map(declines, accepted))):
        return None
    return sure(inputs)


def sure(inputs: Agree) -> AgreementFacts:
    """Facts by which everything agrees."""
    n, m = len(inputs.answer_claims), len(inputs.reference_claims)
    agrees: Agreement = "agrees"
    return AgreementFacts((agrees,) * n, (True,) * m, (1.0,) * n, (1.0,) * m)
