"""Identifiers of code: what they are, and whether a text has them as they are written."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragauge.text.clauses import split_clauses
from ragauge.text.names import find_codes, has_code
from ragauge.text.sentences import remove_markup, split_sentences

NEVER = re.compile("(?!)")

IDENTIFIERS = [
    "MAX_POOL_SIZE",
    "_private",
    "__enter__",
    "class_",
    "--no-color",
    "-q",
    "/var/log/pump.log",
    "~/.pump/keys.toml",
    "./run.sh",
    "src/pump/valve.py",
    "pump.valve.Seal",
    "pump.valve.open",
    "valve.toml",
    "app-server_01.log",
    "std::vector",
    "4.1.3",
    "2.0.0-rc1",
    "openTheValve",
]
PROSE = [
    "It costs 3.50 euros, i.e. less than e.g. 4.00, at 5 p.m. on 12.03.2024 (or 2024.03.12).",
    "He and/or she drove at 40 km/h, 24/7, in the U.S., with a well-known, state-of-the-art car - said Dr. No.",
    "Ask Ada's sister; it's 50:50, see section 2.4, line-by-line. McDonald and iPhone are names.",
    "See https://example.com/a_b/c.html or write to a_b@example.com.",
]


@pytest.mark.parametrize("code", IDENTIFIERS)
def test_an_identifier_is_one_as_it_is_written(code: str) -> None:
    """It is found alone, in a sentence, in a code span, at a sentence's end and in brackets, whole each time."""
    for dress in ("{}", "Use {} here.", "Use `{}`.", "Use {}.", "The flag ({}) is new.", '"{}"'):
        text = dress.format(code)
        assert find_codes(text) == (code,), text
        assert has_code(code, text), text


def test_a_call_and_a_version_are_found_without_their_dress() -> None:
    """The brackets of a call and the v of a version may be left out on either side."""
    assert find_codes("close_all() and stop() in v2.1.3") == ("close_all", "stop", "2.1.3")
    assert has_code("close_all", "call close_all() now")
    assert has_code("2.1.3", "since v2.1.3")
    assert has_code("2.1.3", "since 2.1.3.")


@pytest.mark.parametrize("text", PROSE)
def test_prose_has_no_identifiers(text: str) -> None:
    """Abbreviations, dates, amounts, brands, hyphens and web addresses are none."""
    assert find_codes(text) == ()


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("--no-cache", "Run it with --no-cache-dir."),
        ("--no-cache-dir", "Run it with --no-cache."),
        ("--cache", "Run it with --no-cache."),
        ("-v", "Run it with -V."),
        ("close", "session.close_all()"),
        ("POOL_SIZE", "MAX_POOL_SIZE"),
        ("MAX_POOL", "MAX_POOL_SIZE"),
        ("a_b.log", "a-b.log"),
        ("2.1", "v2.1.3"),
        ("2.1.3", "v12.1.3"),
        ("/etc/pump", "/usr/etc/pump"),
        ("valve.toml", "valve.yaml"),
    ],
)
def test_a_changed_identifier_does_not_stand_there(code: str, text: str) -> None:
    """What is longer, shorter or spelled otherwise is another one."""
    assert not has_code(code, text)


def test_a_part_of_a_path_or_a_dotted_name_stands_there() -> None:
    """A file name stands in its path, a method in its dotted name; Markdown's backslashes are no part of a name."""
    assert has_code("keys.toml", "It is in ~/.pump/keys.toml")
    assert has_code("valve.open", "Call pump.valve.open first")
    assert has_code("MAX_POOL_SIZE", r"Set MAX\_POOL\_SIZE to 3")
    assert has_code("max_pool_size", "Set MAX_POOL_SIZE to 3")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("- **Set** `MAX_*` to `3`", "Set MAX_* to 3"),
        ("Call `__enter__` and __exit__.", "Call __enter__ and __exit__."),
        ("_Never_ set `_x_` or MAX_SIZE_.", "Never set _x_ or MAX_SIZE_."),
        ("It takes *args and **kwargs.", "It takes *args and **kwargs."),
        ("Delete *.tmp, then 2 * 3 files", "Delete *.tmp, then 2 * 3 files"),
        ("***Both* of them**, __very well__ indeed", "Both of them, very well indeed"),
        ("| `a|b` | c |", "a|b  c"),
        ("``a b c``", "a b c"),
    ],
)
def test_markup_goes_and_code_stays(written: str, shown: str) -> None:
    """Emphasis, list markers and the marks of code spans are taken off, what is in them and names are left alone."""
    assert remove_markup(written, str).strip() == shown


@given(st.text(alphabet="a_*`-. |#1[]", max_size=40))
@settings(derandomize=True, deadline=None)
def test_markup_removal_keeps_every_letter(text: str) -> None:
    """Whatever is taken off, no letter is; and identifiers of any text are read without error."""
    assert remove_markup(text, str).count("a") == text.count("a")
    assert all(code and has_code(code, code) for code in find_codes(text))


def test_nothing_is_cut_within_code() -> None:
    """A full stop, a comma or an "and" in a code span ends neither sentence nor clause; flags and paths stay whole."""
    text = "Type `load x. Save Y` first. Then `stop a, which b` ends the run."
    assert [one.text for one in split_sentences(text)] == [
        "Type `load x. Save Y` first.",
        "Then `stop a, which b` ends the run.",
    ]
    cut = split_clauses("The tool reads ~/.pump/a_1.toml at startup, and --no-cache skips the whole cache.")
    both = ["The tool reads ~/.pump/a_1.toml at startup", "--no-cache skips the whole cache"]
    assert [one.text for one in cut] == both
