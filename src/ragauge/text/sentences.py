"""Sentences with their offsets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: `text[start:end]` of the whole, numbered from 1."""

    n: int
    text: str
    start: int
    end: int


def split(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text, in order."""
    raise NotImplementedError
