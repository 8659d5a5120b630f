"""Which language a text is in: a guess good enough to divide examples into segments."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from ragauge.text.word_files import read_patterns, read_words

WORDS = read_words(__file__, "language")

MAX_READ_CHARS = 4_000  # characters read
WORD = re.compile(r"[^\W\d_]+(?:'[a-z]{1,2}(?![^\W\d_]))?")
ASCII_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]{1,2}(?![A-Za-z]))?")
MIN_WORD_SHARE = 0.12  # share of words that must speak for a language written in Latin letters
MIN_EVIDENCE_WORDS = (
    1.5  # words of one language alone: fewer may be names, titles and chance (a word of two counts half)
)
MIN_LEAD_WORDS = 0.75  # words by which the best language has to lead, less of a short text's than of a long one's
NAME_WEIGHT = 0.5  # what a word counts that has a capital within a sentence, as in a name or a title
MIN_SECOND = 0.02  # share of letters that only the second language of a script has: fewer stand in names
MIN_LEAD_SHARE = 0.25  # share of its own evidence by which it has to lead in a text of many words

VOTES: dict[str, tuple[str, ...]] = {}
for _code, _line in WORDS["common"].items():
    for _word in dict.fromkeys(f"{_line} {WORDS['more'].get(_code, '')}".split()):
        VOTES[_word] = (*VOTES.get(_word, ()), _code)
LETTERS: dict[str, tuple[str, ...]] = {}
for _code, _line in WORDS["letters"].items():
    for _letter in _line:
        LETTERS[_letter] = (*LETTERS.get(_letter, ()), _code)

FORMS = read_patterns(__file__, "language")
SCRIPTS = {name.removeprefix("script_"): form for name, form in FORMS.items() if name.startswith("script_")}
SECOND_LANGUAGES = [(name[7:9], name[10:], form) for name, form in FORMS.items() if name.startswith("second_")]
LATIN = re.compile(r"[a-zA-Z\u00c0-\u024f]")


@lru_cache(maxsize=256)  # the questions about the responses of one batch guess the same texts
def guess_language(text: str) -> str:
    """ISO 639-1 code of the language, or "und" where nothing tells.

    The script decides first; Latin letters are told apart by frequent words and by letters, for English, German,
    French, Spanish, Italian, Portuguese, Dutch, Swedish, Polish, Turkish, Romanian and Vietnamese. A word or a name of
    another language is no evidence: a text of which little speaks for one language, or nearly as much for a second,
    is "und", unless English leads or ties: its short words are words of many languages. The same text gives the same
    code.

    >>> (guess_language("Where is the station?"), guess_language("Wo ist der Bahnhof?"), guess_language("車站在哪裡？"),
    ...     guess_language("42"))
    ('en', 'de', 'zh', 'und')
    """
    text = text[:MAX_READ_CHARS]
    if text.isascii():
        return _guess_latin(text)
    counts = {code: len(pattern.findall(text)) for code, pattern in SCRIPTS.items()}
    counts["zh"] += counts["ja"] if 0 < counts["ja"] < 0.05 * counts["zh"] else 0  # a stray kana in Chinese
    code = max(counts, key=lambda candidate: counts[candidate])
    if counts["ja"] and code == "zh" and counts["ja"] >= 0.05 * counts["zh"]:
        code = "ja"
    if counts[code] * 2 < len(LATIN.findall(text)) or not counts[code]:
        return _guess_latin(text)
    for first, second, pattern in SECOND_LANGUAGES:
        if code == first and len(pattern.findall(text)) >= MIN_SECOND * counts[code]:
            return second
    return code


@cache
def list_frequent_words(language: str) -> frozenset[str]:
    """The most frequent words of a language, in small letters; none of one that is not known."""
    return frozenset(WORDS["common"].get(language, "").split())


def _guess_latin(text: str) -> str:
    words = (ASCII_WORD if text.isascii() else WORD).findall(text.replace("’", "'"))
    if not words:
        return "und"
    votes = dict.fromkeys(WORDS["common"], 0.0)
    for index, word in enumerate(words):
        if word == "I" if index else word.lower() == "do" and "?" in text:
            votes["en"] += 1
        else:
            _count_vote(votes, word, inside=index > 0)
    second, top = sorted(votes.values())[-2:]
    best = max(votes, key=lambda code: (votes[code], code == "en"))
    if top < max(MIN_EVIDENCE_WORDS, MIN_WORD_SHARE * len(words)):
        return "und"
    return best if best == "en" or top - second >= max(MIN_LEAD_WORDS, MIN_LEAD_SHARE * top) else "und"


def _count_vote(votes: dict[str, float], word: str, *, inside: bool) -> None:
    """Counts a word for the languages that it belongs to, shared out among them; else its letters but for a name's."""
    small = word.lower()
    is_name = inside and small != word
    codes = VOTES.get(small)
    if codes is not None:
        for code in codes:
            votes[code] += (NAME_WEIGHT if is_name else 1) / len(codes)
    elif not word.isascii() and not is_name:
        letters = {*small} & LETTERS.keys()
        for letter in letters:
            for code in LETTERS[letter]:
                votes[code] += 1 / len(LETTERS[letter]) / len(letters)
