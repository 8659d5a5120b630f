"""Named forms that an answer may have to keep to, and whether a text as a whole says that there is no answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache

from ragauge.core.errors import UnknownName, UsageError
from ragauge.text.sentences import split_sentences
from ragauge.text.word_files import read_patterns, read_words

Predicate = Callable[[str], bool]

FORMS = read_patterns(__file__, "patterns")
WORDS, NO_ANSWER_FORMS = read_words(__file__, "declining"), read_patterns(__file__, "declining")
MAX_NO_ANSWER_CHARS = 600  # characters: a longer text says more than that there is no answer
MAX_SENTENCES = 4
END_CHARS = " \t\n.!?…。！？\"'“”‘’«»()[]<>*_-"
ADDRESS, MARKDOWN, BULLET, BRACKETED_CITATION = (FORMS[name] for name in ("address", "markdown", "bullet", "bracketed"))


def _is_json(text: str) -> bool:
    """One JSON value and nothing else; NaN and Infinity are no JSON."""
    try:
        json.loads(text, parse_constant=int)  # which raises ValueError
    except (ValueError, RecursionError):
        return False
    return True


def _list_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


PATTERNS: dict[str, Predicate] = {
    "json": _is_json,
    "json_block": lambda text: _is_json(match[1] if (match := FORMS["fenced"].match(text)) else text),
    "url_free": lambda text: ADDRESS.search(text) is None,
    "no_markdown": lambda text: MARKDOWN.search(text) is None,
    "bullet_list": lambda text: bool(_list_lines(text)) and all(BULLET.match(line) for line in _list_lines(text)),
    "single_sentence": lambda text: len(split_sentences(text)) == 1,
    "single_line": lambda text: len(_list_lines(text)) == 1,
    "ends_with_punctuation": lambda text: FORMS["ending"].search(text[-400:]) is not None,
    "cites_brackets": lambda text: BRACKETED_CITATION.search(text) is not None,
    "not_empty": lambda text: bool(text.strip()),
}
_registered: dict[str, str] = {}


def register_pattern(name: str, regex: str) -> None:
    r"""Adds a pattern of the user's: an answer keeps to it when the expression is found anywhere in it.

    Args:
        name: letters, digits and ._+/-, so that it can stand in a metric's name; the same name and expression may
            be registered again.
        regex: Python's syntax; write \A and \Z to ask for the whole answer.

    Raises:
        UsageError: the name cannot stand in a metric's name or means something else already, or the expression is
            malformed.
    """
    if not FORMS["name"].fullmatch(name):
        raise UsageError(f"pattern {name!r}: a name may contain only letters, digits and ._+/-. Choose another name.")
    if name in PATTERNS and _registered.get(name) != regex:
        raise UsageError(f"pattern {name!r} exists already. Choose another name.")
    try:
        compiled = re.compile(regex)
    except re.error as error:
        raise UsageError(f"pattern {name!r}: {regex!r} is not a regular expression: {error}.") from None
    PATTERNS[name] = lambda text: compiled.search(text) is not None
    _registered[name] = regex


def get_pattern(name: str) -> Predicate:
    """What the named pattern asks of a text.

    Raises:
        UnknownName: there is no such pattern.
    """
    if name not in PATTERNS:
        raise UnknownName("pattern", name, PATTERNS, "Define your own under `patterns` in ragauge.yaml.")
    return PATTERNS[name]


def matches_pattern(name: str, text: str) -> bool:
    """Whether a text keeps to the named pattern.

    Raises:
        UnknownName: there is no such pattern.

    >>> (matches_pattern("json", '{"a": 1}'), matches_pattern("json", "a"),
    ...     matches_pattern("single_sentence", "Yes. No."))
    (True, False, False)
    """
    return get_pattern(name)(text)


def is_no_answer(text: str) -> bool:
    """Whether every sentence of a text says that the answer is not known or not there, and nothing else is said.

    It is meant for reference answers, which decide what a question is taken for: only wordings that leave no doubt
    count. A name or a plain word that may be an answer ("Unknown", "None", "Nothing") never does.

    >>> [is_no_answer(one) for one in ("The documents do not say.", "N/A", "I don't know", "Not enough information")]
    [True, True, True, True]
    >>> [is_no_answer(one) for one in ("NOT IN DOCS", "NO_ANSWER", "-", "(none)")]
    [True, True, True, True]
    >>> [is_no_answer(one) for one in ("Unknown", "None", "No.", "The manual does not contain a plan.", "")]
    [False, False, False, False, False]
    """
    text = " ".join(text[: MAX_NO_ANSWER_CHARS + 1].replace("’", "'").split())
    if NO_ANSWER_FORMS["placeholder"].fullmatch(text):
        return True
    if not text.strip(END_CHARS) or len(text) > MAX_NO_ANSWER_CHARS:
        return False
    sentences = split_sentences(text)
    bare_texts = [sentence.text.strip(END_CHARS).lower().replace("_", " ") for sentence in sentences]
    forms = [dict.fromkeys((text, NO_ANSWER_FORMS["lead"].sub("", text).strip(END_CHARS))) for text in bare_texts]
    return len(sentences) <= MAX_SENTENCES and all(any(map(_compile_wordings().fullmatch, each)) for each in forms)


@cache
def _compile_wordings() -> re.Pattern[str]:
    """Every wording in one expression: most references match none, and one call says so."""
    wordings = [*(sentence % WORDS["names"] for sentence in WORDS["sentences"]), *WORDS["others"]]
    return re.compile("|".join(f"(?:{wording})" for wording in wordings))
