"""Whether an answer declines to answer.

Where an answer that declines turns, lists and concludes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, cached_property

from ragauge.text.language import LATIN, guess
from ragauge.text.word_files import LOOKED_AT, compiled, join_lines, read_words

CONDUCT_CHARS = 1_000  # of an answer in which a rule of conduct is looked for
FILES = ("english", "sources", "germanic", "romance", "slavic", "south", "east")  # in `words/refusals`
MORE_ENGLISH = frozenset(["sources"])  # which uses the words of english.toml
# those with wordings
LANGUAGES = frozenset(
    ["en", "de", "nl", "sv", "fr", "es", "it", "pt", "pl", "tr", "zh", "ja", "ko", "ru", "uk", "ar", "hi"]
)
MOST_SENTENCES = 150  # of a refusal; what is longer says something
LONGEST_DIVIDED = 600  # characters of a sentence within which a "but" is looked for
CHARACTER_SET = re.compile(r"\[[^\]]*\]")
CUT_OFF_WORDS = 6  # of a last sentence that breaks off


class Declining:
    """The wordings of some languages, each pattern compiled when it is first searched for: that takes long.

    Args:
        name: of a file in `words/refusals`; those in `MORE_ENGLISH` use the English words, too.
    """

    def __init__(self, name: str) -> None:
        self._read = read_words(__file__, f"refusals/{name}")
        self._english = read_words(__file__, "refusals/english") if name in MORE_ENGLISH else {}
        self._words = {**self._english.get("words", {}), **self._read["words"]}
        hint = "|".join(join_lines(file["hint"]) for file in (self._english, self._read) if file)
        # what every refusal in them has somewhere; without it none is looked for
        self.hint = re.compile(hint, re.IGNORECASE)
        # the same for a sentence of ASCII in small letters, at a fifth of the time; None where none fits. Where case is
        # not regarded, a dotless i matches i
        plain = [part for part in hint.replace("ı", "i").split("|") if CHARACTER_SET.sub("", part).isascii()]
        self.plain_hint = re.compile("|".join(plain)) if plain else None

    @cached_property
    def lacking(self) -> re.Pattern[str]:
        """Declining for want of knowledge."""
        return compiled(self._read["declining"], self._words)

    @cached_property
    def conduct(self) -> re.Pattern[str]:
        """Declining by a rule of conduct."""
        return compiled(self._read["conduct"], self._words)

    @cached_property
    def wrapping(self) -> re.Pattern[str]:
        """What may stand beside."""
        words = {**self._words, **self._english.get("wrap_words", {}), **self._read.get("wrap_words", {})}
        return compiled(self._read["wrapping"], words)


def is_refusal(sentence: str) -> bool:
    """Whether a sentence declines to answer.

    >>> is_refusal("I could not find the price in the documents."), is_refusal("We could not find any effect.")
    (True, False)
    """
    start = _unquoted(sentence)
    return any(declining.lacking.search(start) or declining.conduct.search(start) for declining in _hinted(start))


def unread(answer: str) -> str:
    """The code of an answer's language where no wordings of it are known, "und" where its script has none; else "".

    Latin letters that speak for no language count as English.

    >>> unread("Die Karte gilt nur im Hafen."), unread("Το κείμενο δεν το αναφέρει."), unread("42")
    ('', 'el', '')
    """
    code = guess(answer)
    if code == "und":
        letters = [one for one in answer[:LOOKED_AT] if one.isalpha()]
        return "und" if letters and not any(LATIN.match(letter) for letter in letters) else ""
    return "" if code in LANGUAGES else code


def only_wraps(sentence: str) -> bool:
    """Whether a sentence may stand beside a refusal without answering: apology, advice, what there is instead.

    What is concluded, and a condition that an amount follows, may not.
    """
    start = _pattern("item").sub("", _plain(sentence))
    if not any(declining.wrapping.search(start) for declining in _languages()) or _matches("concluded", start):
        return False
    return not (_matches("condition", start) and _amounts(start))


def refuses(texts: Sequence[str], declined: Sequence[bool], told: Sequence[str | None]) -> bool:
    """Whether an answer as a whole declines: one sentence does, and no other one answers.

    An answer that opens by declining for a rule of conduct answers only where it turns ("However, ..."). One that
    closes by saying that what came before does not suffice for an answer declines, whatever it listed.

    `told` is what each sentence states; of a declining one, what its other part states; None where nothing.
    """
    if not any(declined) or len(texts) > MOST_SENTENCES:
        return False
    if _by_conduct(texts, declined):
        return not _answers_after_all(texts, declined, told)
    answering = _answering(texts, told)
    before_said = not any(answering[: declined.index(True) + 1])
    if before_said and any(_matches("need", text) for text in texts):
        after_all = (text for answers, text in zip(answering, texts, strict=True) if answers)
        return not any(_amounts(text) or _matches("back", text) for text in after_all)
    return not any(answering) or _concludes(texts, declined, told, answering)


def clauses(sentence: str) -> list[tuple[int, int]]:
    """Where a sentence that says one thing but another divides: characters [start, end) of its parts.

    >>> text = "It costs 49 euros, but the documents do not mention taxes."
    >>> [text[start:end] for start, end in clauses(text)]
    ['It costs 49 euros', 'the documents do not mention taxes.']
    """
    head = sentence[:LONGEST_DIVIDED]
    turns = _pattern("turn").finditer(head)
    cuts = [turn.span() for turn in turns if _pattern("not_only").search(head, 0, turn.start()) is None]
    lead = _pattern("lead").match(head)
    if lead is not None:
        cuts.append((lead.end(1), lead.end()))
    spans, start = [], 0
    for end, following in sorted(cuts):
        if end > start:
            spans.append((start, end))
            start = following
    return [*spans, (start, len(sentence))]


def _answering(texts: Sequence[str], told: Sequence[str | None]) -> list[bool]:
    """Which sentences answer; a list of what would be needed, a formula without values, and a broken end do not."""
    listing = supposing = False
    answers: list[bool] = []
    for text, verdict in zip(texts, told, strict=True):
        wraps = verdict is None or only_wraps(verdict) or (_matches("equation", verdict) and not _amounts(verdict))
        if 0 < len(answers) == len(texts) - 1 and len(text.split()) <= CUT_OFF_WORDS and text.isascii():
            wraps = wraps or (_pattern("stop").search(text) is None and not _amounts(text))  # it breaks off
        if _pattern("lead_end").search(text):
            listing = _matches("needing", text)
        elif not _pattern("item").match(text):
            listing = listing and not _amounts(text) and not _matches("back", text)
        supposing = supposing or _matches("supposing", text)
        answers.append(not (wraps or listing or supposing))
    return answers


def _by_conduct(texts: Sequence[str], declined: Sequence[bool]) -> bool:
    """Whether the first sentence that is no mere apology declines by a rule of conduct, and the answer names one."""
    for text, no in zip(texts, declined, strict=True):
        if no:
            start = _unquoted(text)
            by_rule = any(declining.conduct.search(start) is not None for declining in _hinted(start))
            return by_rule and _matches("conduct", " ".join(texts)[:CONDUCT_CHARS])
        if not only_wraps(text):
            return False
    return False


def _answers_after_all(texts: Sequence[str], declined: Sequence[bool], told: Sequence[str | None]) -> bool:
    """Whether an answer that declined by a rule of conduct turns, and answers there or later.

    "However, I cannot ..." is no turn.
    """
    turned = False
    for text, no, verdict, answers in zip(texts, declined, told, _answering(texts, told), strict=True):
        turned = turned or (_matches("back", text) and not no) or (verdict is not None and verdict != text)
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
        if declined[n] and told[n] is None and _matches("conclusion", texts[n]):
            led = opened or only_wraps(texts[0]) or _matches("need", texts[0])
            return led and not answering[0] and not _matches("exact", texts[n])
        if answering[n] and (not opened or _amounts(texts[n])):
            return False
    return False


def _amounts(text: str) -> bool:
    """Whether a sentence holds an amount that could answer."""
    start = text[:LOOKED_AT]
    valued = _pattern("value").search(_pattern("no_value").sub("", start))
    return valued is not None or _pattern("past").search(start) is not None


def _plain(sentence: str) -> str:
    return " ".join(_pattern("vowel_signs").sub("", sentence[:LOOKED_AT]).replace("’", "'").replace("**", "").split())


def _unquoted(sentence: str) -> str:
    """The start of a sentence without what it quotes after its first word."""
    return _pattern("quoted").sub("it", _plain(sentence))


def _matches(name: str, text: str) -> bool:
    return _pattern(name).search(_plain(text)) is not None


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """A wording of `words/refusals/whole.toml`."""
    return re.compile(join_lines(read_words(__file__, "refusals/whole")[name]), re.IGNORECASE)


def _hinted(start: str) -> list[Declining]:
    """The wordings worth looking for in a sentence."""
    if not start.isascii():
        return [declining for declining in _languages() if declining.hint.search(start)]
    small = start.lower()
    return [each for each in _languages() if each.plain_hint is not None and each.plain_hint.search(small)]


@cache
def _languages() -> tuple[Declining, ...]:
    return tuple(map(Declining, FILES))
