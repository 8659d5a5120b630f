"""Whether a statement stands in a text word for word, said as it says it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ragauge.judging.equal import plain
from ragauge.judging.local.contrast import NEGATIONS
from ragauge.text.clauses import clauses
from ragauge.text.sentences import split
from ragauge.text.tokens import words

FEWEST = 3          # words of a statement that may be a part of a sentence; a shorter one has to be the whole
LOOKED_AT = 20_000  # characters of a text
# words beside a statement that may take it back, or only report it
_TURNING = """
    if unless whether although false untrue wrong myth rumour rumor denied denies deny claimed claims alleged allegedly
    supposedly reportedly perhaps maybe might may could would possibly except hardly barely instead until
"""
TURNING = NEGATIONS.union(_TURNING.split())


class Wording:
    """Texts, ready to be searched for statements."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._cut = [one.text for text in texts for one in split(text[:LOOKED_AT])]
        self.sentences = list(dict.fromkeys(map(plain, self._cut)))
        self.whole = {*self.sentences, *map(plain, texts)} - {""}

    @cached_property
    def parts(self) -> set[str]:
        """The clauses of the sentences."""
        return {plain(one.text) for text in self._cut for one in clauses(text)} - {""}

    def has(self, statement: str) -> bool:
        """Whether a sentence or a clause is the statement, or says it among other things and takes nothing back.

        >>> text = Wording(["The pump was built in Porto in 1910.", "It is not true that the lamp is red."])
        >>> text.has("The pump was built in Porto."), text.has("the lamp is red"), text.has("Built in Porto in 1910.")
        (True, False, True)
        """
        wanted = plain(statement)
        if wanted in self.whole:
            return True
        if len(wanted.split(" ")) < FEWEST:
            return False
        if any(wanted in sentence and self._says(sentence, wanted) for sentence in self.sentences):
            return True
        return wanted in self.parts

    def _says(self, sentence: str, wanted: str) -> bool:
        before, _, after = f" {sentence} ".partition(wanted)
        if before[-1:].isalnum() or after[:1].isalnum():
            return False
        return TURNING.isdisjoint(words(before)) and TURNING.isdisjoint(words(after)) and "n't" not in before + after
