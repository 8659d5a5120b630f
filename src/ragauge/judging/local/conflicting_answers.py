"""Whether a claim names another thing of the kind that a short reference names: Lyon for Paris, 1914 for 1912."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.judging.local.kinds import EXACT, NAME
from ragauge.judging.local.short_answers import AnswerClaim, figures, is_figure, plain_words, readings
from ragauge.text.specifics import Specific, find


def names_another(said: AnswerClaim, references: Sequence[str], query: str) -> bool:
    """Whether a claim that states none of the accepted answers gives another number, date or name in their place.

    What the question names already is no answer to it, and a claim that shares a word with an accepted answer may be
    another form of it. Of claims found so in labelled answers (EVOUNA, the tuning half) people called 92 % wrong.

    >>> names_another(AnswerClaim("The capital is Lyon."), ["Paris"], "What is the capital of France?")
    True
    >>> names_another(AnswerClaim("It is the largest city of France."), ["Paris"], "What is the capital of France?")
    False
    """
    parts = [part for text in references for reading in readings(text) for part in reading]
    if any(said.where(word) for part in parts for word in part.words):
        return False
    asked = set(plain_words(query))
    if all(part.numbers and not part.words for part in parts):
        figures = [one for part in parts if part.is_bare for one in part.numbers]
        wanted = [one for part in parts for one in part.numbers]
        return not any(map(said.scales, figures)) and _another_number(said, wanted, query)
    named = sum(bool(find(text, NAME)) for text in references)
    if 2 * named < len(references):
        return False
    return any(not asked.issuperset(plain_words(one.text)) for one in find(said.text, NAME))


def _another_number(said: AnswerClaim, wanted: Sequence[Specific], query: str) -> bool:
    if any(said.counts(one) for one in wanted):
        return False
    asked = {one.normal for one in find(query, EXACT)}
    kinds = {one.kind for one in wanted}
    units = {one.unit for one in wanted}
    scaled = set().union(*map(figures, wanted))     # "1,577" may leave out the scale of "1,577 million"
    return any(
        not (is_figure(one) and one.normal in scaled)
        and one.kind in kinds and one.normal not in asked and (not one.unit or "" in units or one.unit in units)
        for one in find(said.text, EXACT)
    )
