"""The fenced blocks of the pages, and which of them a test takes and runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md")))
FENCE = re.compile(r"(?:^<!-- not run: (?P<reason>.+?) -->\n)?^```(?P<info>[^`\n]*)\n(?P<text>.*?)^```$", re.M | re.S)
TAKEN: set[tuple[str, int]] = set()


@dataclass(frozen=True, slots=True)
class Block:
    """What stands between two fences.

    Attributes:
        page: the file, from the root.
        line: of its first fence, from 1.
        info: behind the first fence: the language and, where a page tells its blocks apart, a name.
        text: what is between the fences.
        reason: why no test runs it, from the comment above; "" where one has to.
    """

    page: str
    line: int
    info: str
    text: str
    reason: str

    @property
    def language(self) -> str:
        """The first word behind the fence."""
        return self.info.partition(" ")[0]

    @property
    def commands(self) -> list[str]:
        """What is typed at a prompt."""
        return [line[2:] for line in self.text.splitlines() if line.startswith("$ ")]


@cache
def blocks(page: str) -> tuple[Block, ...]:
    """All of a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = []
    for fence in FENCE.finditer(text):
        line = text.count("\n", 0, fence.start("info")) + 1
        found.append(Block(page, line, fence["info"], fence["text"], fence["reason"] or ""))
    return tuple(found)


def taken(page: str, language: str, *numbers: int) -> list[Block]:
    """Blocks of a language that the calling test file runs or compares; it has to ask while it is imported.

    Args:
        page: the file, from the root.
        language: the first word behind the fence.
        numbers: which of them, from 0; all if left out.
    """
    found = [block for block in blocks(page) if block.language == language and not block.reason]
    found = [found[number] for number in numbers] or found
    TAKEN.update((block.page, block.line) for block in found)
    return found
