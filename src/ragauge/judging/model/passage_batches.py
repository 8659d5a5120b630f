"""Long contexts go out in packs, so that nothing is cut off silently."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ragauge.judging.model.prompt_blocks import Block, Numbered, numbered

PACK = 24_000     # characters of passages in one call, about 6,000 tokens


@dataclass(frozen=True, slots=True)
class Pack:
    """Sentences of the passages that go out together; passages keep their numbers over all packs.

    Attributes:
        sentences: number ("2.1") -> sentence.
    """

    sentences: dict[str, Numbered]

    @property
    def block(self) -> Block:
        """The sentences as they are sent."""
        return Block("passages", [(number, one.sentence.text) for number, one in self.sentences.items()])


@lru_cache(maxsize=16)
def packs(passages: tuple[str, ...], size: int = PACK) -> tuple[Pack, ...]:
    """The passages in packs of at most `size` characters, cut between passages, and inside one that is longer.

    A single sentence longer than that goes out whole in a pack of its own. No passages give no pack. Kept, since
    several questions about a response see the same passages.
    """
    found: list[Pack] = []
    current: dict[str, Numbered] = {}
    used = 0
    lengths = [len(text) for text in passages]
    for one in numbered(passages):
        cost = len(one.sentence.text)
        begins = one.sentence.n == 1 and used + min(lengths[one.passage - 1], size) > size
        if current and (begins or used + cost > size):
            found.append(Pack(current))
            current, used = {}, 0
        current[one.number] = one
        used += cost
    if current:
        found.append(Pack(current))
    return tuple(found)
