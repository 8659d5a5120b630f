"""Whether an answer declines to answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from ragauge.judging.local import refusal_turns as turns
from ragauge.judging.local import refusal_words as english
from ragauge.judging.local import refusal_words_east as east
from ragauge.judging.local import refusal_words_germanic as germanic
from ragauge.judging.local import refusal_words_romance as romance
from ragauge.judging.local import refusal_words_slavic as slavic
from ragauge.judging.local import refusal_words_sources as sources
from ragauge.judging.local import refusal_words_south as south
from ragauge.judging.local.wordings import LOOKED_AT, compiled
from ragauge.text.language import LATIN, guess

# those with wordings
LANGUAGES = frozenset(
    ["en", "de", "nl", "sv", "fr", "es", "it", "pt", "pl", "tr", "zh", "ja", "ko", "ru", "uk", "ar", "hi"]
)
MOST_SENTENCES = 150      # of a refusal; what is longer says something
LONGEST_DIVIDED = 600     # characters of a sentence within which a "but" is looked for
QUOTED = re.compile(r"(?<=\S )(?:“[^”]{1,200}”|\"[^\"]{1,200}\"|«[^»]{1,200}»|„[^“”]{1,200}[“”]|「[^」]{1,200}」)")
ITEM = re.compile(r"^\s*(?:[-*+•‣◦·–]\s|\(?\d{1,2}[.)]\s|\*\*)")
CHARACTER_SET = re.compile(r"\[[^\]]*\]")
CUT_OFF_WORDS = 6         # of a last sentence that breaks off
STOP = re.compile(r"[.!?。！？…:]\W{0,3}$")
LEAD_END = re.compile(r"[:：]\W{0,3}$")
VOWEL_SIGNS = re.compile("[\u0640\u064b-\u0652]")     # of Arabic, with the stroke that lengthens a word


@dataclass(frozen=True, slots=True)
class Declining:
    """The wordings of some languages.

    Attributes:
        hint: what every refusal in them has somewhere; without it none is looked for.
        plain_hint: the same for a sentence of ASCII in small letters, at a fifth of the time; None where none fits.
        lacking: declining for want of knowledge.
        conduct: declining by a rule of conduct.
        wrapping: what may stand beside.
    """

    hint: re.Pattern[str]
    plain_hint: re.Pattern[str] | None
    lacking: re.Pattern[str]
    conduct: re.Pattern[str]
    wrapping: re.Pattern[str]


def is_refusal(sentence: str) -> bool:
    """Whether a sentence declines to answer.

    >>> is_refusal("I could not find the price in the documents."), is_refusal("We could not find any effect.")
    (True, False)
    """
    start = _unquoted(sentence)
    return any(
        one.lacking.search(start) is not None or one.conduct.search(start) is not None for one in _hinted(start)
    )


def unread(answer: str) -> str:
    """The code of an answer's language where no wordings of it are known, "und" where its script has none; else "".

    Latin letters that speak for no language count as English.

    >>> unread("Die Karte gilt nur im Hafen."), unread("Το κείμενο δεν το αναφέρει."), unread("42")
    ('', 'el', '')
    """
    code = guess(answer)
    if code == "und":
        letters = [one for one in answer[:LOOKED_AT] if one.isalpha()]
        return "und" if letters and not any(LATIN.match(one) for one in letters) else ""
    return "" if code in LANGUAGES else code


def only_wraps(sentence: str) -> bool:
    """Whether a sentence may stand beside a refusal without answering: apology, advice, what there is instead.

    What is concluded, and a condition that an amount follows, may not.
    """
    start = ITEM.sub("", _plain(sentence))
    if not any(one.wrapping.search(start) is not None for one in _languages()) or _matches(turns.CONCLUDED, start):
        return False
    return not (_matches(turns.CONDITION, start) and _amounts(start))


def refuses(texts: Sequence[str], declined: Sequence[bool], told: Sequence[str | None]) -> bool:
    """Whether an answer as a whole declines: one sentence does, and no other one answers.

    An answer that opens by declining for a rule of conduct answers only where it turns ("However, ..."). One that
    closes by saying that what came before does not suffice for an answer declines, whatever it listed.

    Args:
        texts: the sentences.
        declined: which of them decline.
        told: what each states; of a declining one, what its other part states; None where nothing.
    """
    if not any(declined) or len(texts) > MOST_SENTENCES:
        return False
    if _by_conduct(texts, declined):
        return not _answers_after_all(texts, declined, told)
    answering = _answering(texts, told)
    if _gives_up(texts, declined, answering):
        after_all = (text for one, text in zip(answering, texts, strict=True) if one)
        return not any(_amounts(text) or _matches(turns.BACK, text) for text in after_all)
    return not any(answering) or _concludes(texts, declined, told, answering)


def clauses(sentence: str) -> list[tuple[int, int]]:
    """Where a sentence that says one thing but another divides: characters [start, end) of its parts.

    >>> text = "It costs 49 euros, but the documents do not mention taxes."
    >>> [text[start:end] for start, end in clauses(text)]
    ['It costs 49 euros', 'the documents do not mention taxes.']
    """
    head = sentence[:LONGEST_DIVIDED]
    cuts = [
        found.span()
        for found in _pattern(turns.TURN).finditer(head)
        if _pattern(turns.NOT_ONLY).search(head, 0, found.start()) is None
    ]
    lead = _pattern(turns.LEAD).match(head)
    if lead is not None:
        cuts.append((lead.end(1), lead.end()))
    spans, start = [], 0
    for end, following in sorted(cuts):
        if end > start:
            spans.append((start, end))
            start = following
    return [*spans, (start, len(sentence))]


def _answering(texts: Sequence[str], told: Sequence[str | None]) -> list[bool]:
    """Which sentences answer; the items of a list of what would be needed, or how it is worked out, do not."""
    listing = supposing = False
    found: list[bool] = []
    for text, one in zip(texts, told, strict=True):
        wraps = one is None or only_wraps(one) or _is_formula(one)
        wraps = wraps or (0 < len(found) == len(texts) - 1 and _cut_off(text))
        if LEAD_END.search(text):
            listing = _matches(turns.NEEDING, text)
        elif not ITEM.match(text):
            listing = listing and not _amounts(text) and not _matches(turns.BACK, text)
        supposing = supposing or _matches(turns.SUPPOSING, text)
        found.append(not (wraps or listing or supposing))
    return found


def _cut_off(text: str) -> bool:
    """Whether a last sentence breaks off before it says anything."""
    return text.isascii() and STOP.search(text) is None and len(text.split()) <= CUT_OFF_WORDS and not _amounts(text)


def _gives_up(texts: Sequence[str], declined: Sequence[bool], answering: Sequence[bool]) -> bool:
    """Whether an answer declines before it says anything, and says what would be needed."""
    before = next((n for n, no in enumerate(declined) if no), 0)
    return not any(answering[: before + 1]) and any(_matches(turns.NEED, text) for text in texts)


def _by_conduct(texts: Sequence[str], declined: Sequence[bool]) -> bool:
    """Whether the first sentence that is no mere apology declines by a rule of conduct, and the answer names one."""
    for text, no in zip(texts, declined, strict=True):
        if no:
            start = _unquoted(text)
            by_rule = any(one.conduct.search(start) is not None for one in _hinted(start))
            return by_rule and _matches(turns.CONDUCT, " ".join(texts)[: turns.CONDUCT_LOOKED_AT])
        if not only_wraps(text):
            return False
    return False


def _answers_after_all(texts: Sequence[str], declined: Sequence[bool], told: Sequence[str | None]) -> bool:
    """Whether an answer that declined by a rule of conduct turns, and answers there or later.

    "However, I cannot ..." is no turn.
    """
    turned = False
    for text, no, one, answers in zip(texts, declined, told, _answering(texts, told), strict=True):
        turned = turned or (_matches(turns.BACK, text) and not no) or (one is not None and one != text)
        if turned and answers:
            return True
    return False


def _concludes(
    texts: Sequence[str], declined: Sequence[bool], told: Sequence[str | None], answering: Sequence[bool]
) -> bool:
    """Whether an answer that did not open with an answer ends by declining because of what it said.

    Where it opened by declining, remarks without amounts may follow.
    """
    opened = declined[0] and told[0] is None
    for n in range(len(texts) - 1, 0, -1):
        if declined[n] and told[n] is None and _matches(turns.CONCLUSION, texts[n]):
            led = opened or only_wraps(texts[0]) or _matches(turns.NEED, texts[0])
            return led and not answering[0] and not _matches(turns.EXACT, texts[n])
        if answering[n] and (not opened or _amounts(texts[n])):
            return False
    return False


def _is_formula(text: str) -> bool:
    """Whether a line names a quantity by others, without their values."""
    return _matches(turns.EQUATION, text) and not _amounts(text)


def _amounts(text: str) -> bool:
    """Whether a sentence holds an amount that could answer."""
    start = text[:LOOKED_AT]
    return (
        _pattern(turns.VALUE).search(_pattern(turns.NO_VALUE).sub("", start)) is not None
        or _pattern(turns.PAST).search(start) is not None
    )


def _plain(sentence: str) -> str:
    return " ".join(VOWEL_SIGNS.sub("", sentence[:LOOKED_AT]).replace("’", "'").replace("**", "").split())


def _unquoted(sentence: str) -> str:
    """The start of a sentence without what it quotes after its first word."""
    return QUOTED.sub("it", _plain(sentence))


def _matches(pattern: str, text: str) -> bool:
    return _pattern(pattern).search(_plain(text)) is not None


@cache
def _pattern(wording: str) -> re.Pattern[str]:
    return re.compile(wording, re.IGNORECASE)


def _hinted(start: str) -> list[Declining]:
    """The wordings worth looking for in a sentence."""
    if not start.isascii():
        return [one for one in _languages() if one.hint.search(start)]
    small = start.lower()
    return [one for one in _languages() if one.plain_hint is not None and one.plain_hint.search(small)]


def _plain_hint(hint: str) -> re.Pattern[str] | None:
    """The alternatives of a hint that a text of small ASCII letters can match.

    Where case is not regarded, a dotless i matches i.
    """
    parts = hint.replace("ı", "i").split("|")
    kept = [part for part in parts if CHARACTER_SET.sub("", part).isascii()]
    return re.compile("|".join(kept)) if kept else None


@cache
def _languages() -> tuple[Declining, ...]:
    return tuple(
        Declining(
            re.compile(words.HINT, re.IGNORECASE),
            _plain_hint(words.HINT),
            compiled(words.DECLINING, words.WORDS),
            compiled(words.CONDUCT, words.WORDS),
            compiled(words.WRAPPING, {**words.WORDS, **words.WRAP_WORDS}),
        )
        for words in (english, sources, germanic, romance, slavic, south, east)
    )
