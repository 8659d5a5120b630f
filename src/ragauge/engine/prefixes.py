"""Asks that begin alike: one goes first, the others when the provider has read what they share and can serve it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from ragauge.core.ask import Ask, ModelName
from ragauge.models.prompt_cache import is_cacheable

Prefix = tuple[ModelName, tuple[tuple[str, str], ...], str]  # who is asked, earlier messages, the shared beginning


@dataclass
class _Group:
    """Asks under way with one prefix; `read` is done when an attempt at the first of them has ended."""

    under_way: int = 0
    several: bool = False
    read: asyncio.Future[None] | None = None


@dataclass
class PrefixQueue:
    """Whose turn it is among asks that begin alike, all on one event loop.

    What no provider caches, since it is too short or has no prefix, never waits.
    """

    _groups: dict[Prefix, _Group] = field(default_factory=dict)

    def join_group(self, name: ModelName, ask: Ask) -> Prefix | None:
        """The prefix of an ask that is under way from now on; None where it waits for none."""
        if not is_cacheable(name, ask):
            return None
        prefix = (name, ask.messages[:-1], ask.messages[-1][1][: ask.shared])
        group = self._groups.setdefault(prefix, _Group())
        group.under_way += 1
        group.several = group.several or group.under_way > 1
        return prefix

    def leave(self, prefix: Prefix | None) -> None:
        """An ask with this prefix has its answer, or is given up."""
        if prefix is None:
            return
        group = self._groups[prefix]
        group.under_way -= 1
        if not group.under_way:
            del self._groups[prefix]

    async def wait_turn(self, prefix: Prefix | None) -> bool:
        """Returns at once to the first with a prefix, to the others when an attempt at the first has ended.

        Returns:
            Whether it is the first: it says when it has `tried`.
        """
        if prefix is None:
            return False
        group = self._groups[prefix]
        if group.read is None:
            group.read = asyncio.get_running_loop().create_future()
            return True
        await asyncio.shield(group.read)
        return False

    def mark_tried(self, prefix: Prefix | None) -> None:
        """An attempt of whoever went first has ended, however it did; or it is given up."""
        group = None if prefix is None else self._groups.get(prefix)
        if group is not None and group.read is not None and not group.read.done():
            group.read.set_result(None)

    def several(self, prefix: Prefix | None) -> bool:
        """Whether others begin alike: only then is a place in a cache worth its price."""
        return prefix is not None and self._groups[prefix].several
