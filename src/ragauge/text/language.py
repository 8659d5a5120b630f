"""Which language a text is in: a guess good enough to divide examples into segments."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache, lru_cache

ENOUGH = 4_000      # characters read
WORD = re.compile(r"[^\W\d_]+")
ASCII_WORD = re.compile(r"[a-z]+")
FEWEST = 0.12       # share of words that must speak for a language written in Latin letters

# the most frequent words of each language
_COMMON = {
    "en": "the of and to in is was for that with are by be this from at which have has an were not it on as or does "
    "what how who",
    "de": "der die das und ist in den von zu mit ein eine nicht des im auf für sich dem wird sind auch es an als bei "
    "war wurde wie was wer er am im zum zur nach über wo sie wir",
    "fr": "le la les des de et est en un une du dans pour que qui sur par au pas ne sont avec il elle ce cette plus "
    "été quelle quel",
    "es": "el la los las de y en que es un una por con para del se al lo como su fue son más no está qué cuál quién",
    "it": "il la le di che è un una per in del della con non si dei sono gli lo nel alla da come più anche ha quale "
    "chi i",
    "pt": "o a os as de e que do da em um uma para com não por dos das no na se foi mais são é ao como qual quem",
    "nl": "de het een van en in is dat op te zijn voor met die niet aan er door was om ook naar bij werd wordt wat "
    "wie hoe",
    "sv": "och att det som en är av för på den till med ett inte har om var i från kan de vid eller hur vad vem",
    "pl": "w i na z że się do jest nie to o jak po od za przez są był była dla oraz które który jego co kto",
    "tr": "ve bir bu için ile de da olarak en çok daha olan ne gibi kadar sonra değil mi hangi nedir kim nasıl "
    "vardır oldu",
}
VOTES: dict[str, tuple[str, ...]] = {}
for _code, _line in _COMMON.items():
    for _word in _line.split():
        VOTES[_word] = (*VOTES.get(_word, ()), _code)
# letters that few other languages of the list use
_LETTERS = {
    "de": "ßäöü", "fr": "êèàçùœîûô", "es": "ñ¿¡áíóú", "it": "òìùàè", "pt": "ãõçâêá", "sv": "åäö", "pl": "łąęśżźćń",
    "tr": "ışğçöü",
}     # fmt: skip
LETTERS: dict[str, tuple[str, ...]] = {}
for _code, _line in _LETTERS.items():
    for _letter in _line:
        LETTERS[_letter] = (*LETTERS.get(_letter, ()), _code)

SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\u1100-\u11ff\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u3400-\u9fff\U00020000-\U0003ffff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff\u0750-\u077f]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("bn", re.compile(r"[\u0980-\u09ff]")),
    ("ta", re.compile(r"[\u0b80-\u0bff]")),
    ("te", re.compile(r"[\u0c00-\u0c7f]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
    ("ka", re.compile(r"[\u10a0-\u10ff]")),
    ("hy", re.compile(r"[\u0530-\u058f]")),
    ("am", re.compile(r"[\u1200-\u137f]")),
)
LATIN = re.compile(r"[a-zA-Z\u00c0-\u024f]")
# letters that the second language of a script has and the first has not
SECOND = (
    ("ru", "uk", re.compile(r"[іїєґІЇЄҐ]")),
    ("ar", "ur", re.compile(r"[ٹڈڑںےہھ]")),
    ("ar", "fa", re.compile(r"[پچژگک]")),
)


@lru_cache(maxsize=1_024)     # the questions about the responses of one batch guess the same texts
def guess(text: str) -> str:
    """ISO 639-1 code of the language, or "und" where nothing tells.

    The script decides first; Latin letters are told apart by frequent words and by letters, for English, German,
    French, Spanish, Italian, Portuguese, Dutch, Swedish, Polish and Turkish. The same text gives the same code.

    >>> guess("Where is the station?"), guess("Wo ist der Bahnhof?"), guess("車站在哪裡？"), guess("42")
    ('en', 'de', 'zh', 'und')
    """
    text = text[:ENOUGH]
    if text.isascii():
        return _latin(text)
    counts = {code: len(pattern.findall(text)) for code, pattern in SCRIPTS}
    counts["zh"] += counts["ja"] if 0 < counts["ja"] < 0.05 * counts["zh"] else 0     # a stray kana in Chinese
    code = max(counts, key=lambda known: counts[known])
    if counts["ja"] and code == "zh" and counts["ja"] >= 0.05 * counts["zh"]:
        code = "ja"
    if counts[code] * 2 < len(LATIN.findall(text)) or not counts[code]:
        return _latin(text)
    for first, second, pattern in SECOND:
        if code == first and pattern.search(text):
            return second
    return code


@cache
def frequent(language: str) -> frozenset[str]:
    """The most frequent words of a language, in small letters; none of one that is not known."""
    return frozenset(_COMMON.get(language, "").split())


def _latin(text: str) -> str:
    words = (ASCII_WORD if text.isascii() else WORD).findall(text.lower())
    if not words:
        return "und"
    votes: Counter[str] = Counter()
    for word in words:
        for code in VOTES.get(word, ()):
            votes[code] += 2
    if not text.isascii():
        for letter in text.lower():
            for code in LETTERS.get(letter, ()):
                votes[code] += 1
    if not votes:
        return "und"
    best = max(votes.items(), key=lambda item: (item[1], item[0]))
    return best[0] if best[1] >= 2 * FEWEST * len(words) else "und"
