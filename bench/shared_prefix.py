"""How much of the prompts about the same passages is the same from the first character on, as providers cache it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from os.path import commonprefix
from typing import NamedTuple

HEAD = re.compile(r"<<<passages [0-9a-f]{8}\n")  # the mark is that of these passages and their question


class Group(NamedTuple):
    """Prompts about the same passages: how many, their characters together, and what all of them begin with."""

    prompts: int
    characters: int
    prefix: str


class SharedPrefix:
    """Takes in prompts, and says what those about the same passages share."""

    def __init__(self) -> None:
        self._groups: dict[str, Group] = {}
        self._alone = 0  # characters of prompts without passages

    def add(self, prompt: str) -> None:
        """Takes in a prompt: the system's text and the user's in a row."""
        found = HEAD.search(prompt)
        if found is None:
            self._alone += len(prompt)
            return
        before = self._groups.get(found[0], Group(0, 0, prompt))
        prefix = commonprefix([before.prefix, prompt])  # noqa: RUF071 - of texts, character by character
        self._groups[found[0]] = Group(before.prompts + 1, before.characters + len(prompt), prefix)

    @property
    def share(self) -> float:
        """Share of the characters of prompts with passages that lie in their common prefixes, in [0, 1]."""
        groups = self._groups.values()
        whole = sum(group.characters for group in groups)
        shared = sum(group.prompts * len(group.prefix) for group in groups if group.prompts > 1)
        return shared / whole if whole else 0.0

    @property
    def fresh(self) -> int:
        """Characters of all prompts, each common prefix counted once: those that no cache can serve."""
        groups = self._groups.values()
        return self._alone + sum(group.characters - (group.prompts - 1) * len(group.prefix) for group in groups)


def measured(prompts: Iterable[str]) -> SharedPrefix:
    """What these prompts share."""
    found = SharedPrefix()
    for prompt in prompts:
        found.add(prompt)
    return found
