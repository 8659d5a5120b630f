"""Commands on a page break between their words, never behind a hyphen."""

from __future__ import annotations

import re
from html import unescape

import pytest

from ragauge.rendering.writers.html import make_breakable, render_command


def shown(text: str) -> str:
    """What a reader copies."""
    return unescape(re.sub(r"<[^>]+>", "", text))


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("ragauge judge check run-1 --judge openai:gpt-5-mini -o check.json", {"--judge", "-o"}),
        ("say it with `ragauge gate --baseline main`, or (--fix)", {"--baseline", "--fix"}),
        ("ragauge show 'a <b> & c' --store 'sqlite:///my store.db'", {"--store"}),
    ],
)
def test_no_option_can_be_torn(text: str, options: set[str]) -> None:
    """Every option stands whole in an element, in a command and in a sentence; what is copied is the text."""
    for made in (render_command(text), make_breakable(text)):
        assert shown(made) == text
        whole = re.findall(r'<span class="word">([^<]*)</span>', made)
        assert options <= {one.strip("`(),") for one in whole}
        assert "<b>" not in made


def test_prose_breaks_as_ever() -> None:
    """In a sentence a word with a hyphen may break behind it, and a range, a minus or a name gets no markup."""
    assert make_breakable("multi-hop, 3 - 4, -0.5 and x--y") == "multi-hop, 3 - 4, -0.5 and x--y"
    assert make_breakable("not_in_context") == "not_<wbr>in_<wbr>context"
