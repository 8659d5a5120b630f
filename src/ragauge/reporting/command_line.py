"""A command on a line of its own in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragauge.text.messages import command

if TYPE_CHECKING:
    from rich.text import Text


def command_line(*words: str) -> Text:
    """The command, never wrapped: what is copied must be whole."""
    from rich.text import Text

    return Text(f"  {command(*words)}", style="cyan", no_wrap=True, overflow="ignore")
