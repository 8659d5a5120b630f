"""What the second planter's parts hand each other."""

from __future__ import annotations

import re
from typing import NamedTuple

TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]")


class Token(NamedTuple):
    """A word or mark of a sentence: `sentence[start:end]`."""

    text: str
    start: int
    end: int

    @property
    def low(self) -> str:
        """Without capitals, its apostrophe a plain one."""
        return self.text.lower().replace("’", "'")


class Change(NamedTuple):
    """`sentence[start:end]` is replaced by `new`."""

    start: int
    end: int
    new: str

    def applied(self, sentence: str) -> str:
        """The sentence with the change made."""
        return sentence[: self.start] + self.new + sentence[self.end :]


class Copied(NamedTuple):
    """A sentence copied from a passage of a data set."""

    source: str
    passage: str
    sentence: str


def tokens(text: str) -> list[Token]:
    """Words (with their apostrophes) and marks, in order."""
    return [Token(found[0], *found.span()) for found in TOKEN.finditer(text)]


def cased_like(new: str, old: str) -> str:
    """The new word with a capital where the old one had it."""
    return new[:1].upper() + new[1:] if old[:1].isupper() else new
