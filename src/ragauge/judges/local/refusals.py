"""Whether an answer declines to answer.

Where an answer that declines turns, lists and concludes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, cached_property

from ragauge.text.language import LATIN, guess_language
from ragauge.text.word_files import MAX_READ_CHARS, compile_wordings, join_lines, read_words

CONDUCT_CHARS = 1_000  # of an answer in which a rule of conduct is looked for
FILES = ("english", "sources", "germanic", "romance", "slavic", "south", "east")  # in `words/refusals`
MORE_ENGLISH = frozenset(["sources"])  # which uses the words of english.toml
# those with wordings
LANGUAGES = frozenset(
    ["en", "de", "nl", "sv", "fr", "es", "it", "pt", "pl", "tr", "zh", "ja", "ko", "ru", "uk", "ar", "hi"]
)
MAX_SENTENCES = 150  # of a refusal; what is longer says something
MAX_DIVIDED_CHARS = 600  # characters of a sentence within which a "but" is looked for
CHARACTER_SET = re.compile(r"\[[^\]]*\]")
MAX_CUT_OFF_WORDS = 6  # of a last sentence that breaks off


class RefusalWordings:
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
        ascii_parts = [part for part in hint.replace("ı", "i").split("|") if CHARACTER_SET.sub("", part).isascii()]
        self.plain_hint = re.compile("|".join(ascii_parts)) if ascii_parts else None

    @cached_property
    def lacking(self) -> re.Pattern[str]:
        """Declining for want of knowledge."""
        return compile_wordings(self._read["declining"], self._words)

    @cached_property
    def conduct(self) -> re.Pattern[str]:
        """Declining by a rule of conduct."""
        return compile_wordings(self._read["conduct"], self._words)

    @cached_property
    def wrapper(self) -> re.Pattern[str]:
        """What may stand beside."""
        words = {**self._words, **self._english.get("wrap_words", {}), **self._read.get("wrap_words", {})}
        return compile_wordings(self._read["wrapping"], words)


def is_refusal(sentence: str) -> bool:
    """Whether a sentence declines to answer.

    >>> is_refusal("I could not find the price in the documents."), is_refusal("We could not find any effect.")
    (True, False)
    """
    start = _remove_quotes(sentence)
    return any(
        declining.lacking.search(start) or declining.conduct.search(start) for declining in _select_wordings(start)
    )


def find_unread_language(answer: str) -> str:
    """The code of an answer's language where no wordings of it are known, "und" where its script has none; else "".

    Latin letters that speak for no language count as English.

    >>> (find_unread_language("Die Karte gilt nur im Hafen."), find_unread_language("Το κείμενο δεν το αναφέρει."),
    ...     find_unread_language("42"))
    ('', 'el', '')
    """
    code = guess_language(answer)
    if code == "und":
        letters = [character for character in answer[:MAX_READ_CHARS] if character.isalpha()]
        return "und" if letters and not any(LATIN.match(letter) for letter in letters) else ""
    return "" if code in LANGUAGES else code


def is_only_wrapper(sentence: str) -> bool:
    """Whether a sentence may stand beside a refusal without answering: apology, advice, what there is instead.

    What is concluded, and a condition that an amount follows, may not.
    """
    start = _read_pattern("item").sub("", _normalize_text(sentence))
    if not any(declining.wrapper.search(start) for declining in _read_wordings()) or _has_wording("concluded", start):
        return False
    return not (_has_wording("condition", start) and _has_amount(start))


def is_whole_refusal(texts: Sequence[str], declined: Sequence[bool], stated_texts: Sequence[str | None]) -> bool:
    """Whether an answer as a whole declines: one sentence does, and no other one answers.

    An answer that opens by declining for a rule of conduct answers only where it turns ("However, ..."). One that
    closes by saying that what came before does not suffice for an answer declines, whatever it listed.

    `stated_texts` is what each sentence states; of a declining one, what its other part states; None where nothing.
    """
    if not any(declined) or len(texts) > MAX_SENTENCES:
        return False
    if _is_by_conduct(texts, declined):
        return not _has_late_answer(texts, declined, stated_texts)
    answering = _find_answering(texts, stated_texts)
    before_said = not any(answering[: declined.index(True) + 1])
    if before_said and any(_has_wording("need", text) for text in texts):
        after_all = (text for answers, text in zip(answering, texts, strict=True) if answers)
        return not any(_has_amount(text) or _has_wording("back", text) for text in after_all)
    return not any(answering) or _has_concluding_refusal(texts, declined, stated_texts, answering)


def divide_sentence(sentence: str) -> list[tuple[int, int]]:
    """Where a sentence that says one thing but another divides: characters [start, end) of its parts.

    >>> text = "It costs 49 euros, but the documents do not mention taxes."
    >>> [text[start:end] for start, end in divide_sentence(text)]
    ['It costs 49 euros', 'the documents do not mention taxes.']
    """
    head = sentence[:MAX_DIVIDED_CHARS]
    turns = _read_pattern("turn").finditer(head)
    cuts = [turn.span() for turn in turns if _read_pattern("not_only").search(head, 0, turn.start()) is None]
    lead = _read_pattern("lead").match(head)
    if lead is not None:
        cuts.append((lead.end(1), lead.end()))
    spans, start = [], 0
    for end, following in sorted(cuts):
        if end > start:
            spans.append((start, end))
            start = following
    return [*spans, (start, len(sentence))]


def _find_answering(texts: Sequence[str], stated_texts: Sequence[str | None]) -> list[bool]:
    """Which sentences answer; a list of what would be needed, a formula without values, and a broken end do not."""
    listing = supposing = False
    answers: list[bool] = []
    for text, verdict in zip(texts, stated_texts, strict=True):
        wraps = (
            verdict is None
            or is_only_wrapper(verdict)
            or (_has_wording("equation", verdict) and not _has_amount(verdict))
        )
        if 0 < len(answers) == len(texts) - 1 and len(text.split()) <= MAX_CUT_OFF_WORDS and text.isascii():
            wraps = wraps or (_read_pattern("stop").search(text) is None and not _has_amount(text))  # it breaks off
        if _read_pattern("lead_end").search(text):
            listing = _has_wording("needing", text)
        elif not _read_pattern("item").match(text):
            listing = listing and not _has_amount(text) and not _has_wording("back", text)
        supposing = supposing or _has_wording("supposing", text)
        answers.append(not (wraps or listing or supposing))
    return answers


def _is_by_conduct(texts: Sequence[str], declined: Sequence[bool]) -> bool:
    """Whether the first sentence that is no mere apology declines by a rule of conduct, and the answer names one."""
    for text, no in zip(texts, declined, strict=True):
        if no:
            start = _remove_quotes(text)
            by_rule = any(declining.conduct.search(start) is not None for declining in _select_wordings(start))
            return by_rule and _has_wording("conduct", " ".join(texts)[:CONDUCT_CHARS])
        if not is_only_wrapper(text):
            return False
    return False


def _has_late_answer(texts: Sequence[str], declined: Sequence[bool], stated_texts: Sequence[str | None]) -> bool:
    """Whether an answer that declined by a rule of conduct turns, and answers there or later.

    "However, I cannot ..." is no turn.
    """
    turned = False
    for text, no, verdict, answers in zip(
        texts, declined, stated_texts, _find_answering(texts, stated_texts), strict=True
    ):
        turned = turned or (_has_wording("back", text) and not no) or (verdict is not None and verdict != text)
        if turned and answers:
            return True
    return False


def _has_concluding_refusal(
    texts: Sequence[str], declined: Sequence[bool], stated_texts: Sequence[str | None], answering: Sequence[bool]
) -> bool:
    """Whether an answer that did not open with an answer ends by declining because of what it said.

    Where it opened by declining, remarks without amounts may follow.
    """
    opens_declining = declined[0] and stated_texts[0] is None
    for n in range(len(texts) - 1, 0, -1):
        if declined[n] and stated_texts[n] is None and _has_wording("conclusion", texts[n]):
            led = opens_declining or is_only_wrapper(texts[0]) or _has_wording("need", texts[0])
            return led and not answering[0] and not _has_wording("exact", texts[n])
        if answering[n] and (not opens_declining or _has_amount(texts[n])):
            return False
    return False


def _has_amount(text: str) -> bool:
    """Whether a sentence holds an amount that could answer."""
    start = text[:MAX_READ_CHARS]
    valued = _read_pattern("value").search(_read_pattern("no_value").sub("", start))
    return valued is not None or _read_pattern("past").search(start) is not None


def _normalize_text(sentence: str) -> str:
    return " ".join(
        _read_pattern("vowel_signs").sub("", sentence[:MAX_READ_CHARS]).replace("’", "'").replace("**", "").split()
    )


def _remove_quotes(sentence: str) -> str:
    """The start of a sentence without what it quotes after its first word."""
    return _read_pattern("quoted").sub("it", _normalize_text(sentence))


def _has_wording(name: str, text: str) -> bool:
    return _read_pattern(name).search(_normalize_text(text)) is not None


@cache
def _read_pattern(name: str) -> re.Pattern[str]:
    """A wording of `words/refusals/whole.toml`."""
    return re.compile(join_lines(read_words(__file__, "refusals/whole")[name]), re.IGNORECASE)


def _select_wordings(start: str) -> list[RefusalWordings]:
    """The wordings worth looking for in a sentence."""
    if not start.isascii():
        return [declining for declining in _read_wordings() if declining.hint.search(start)]
    small = start.lower()
    return [each for each in _read_wordings() if each.plain_hint is not None and each.plain_hint.search(small)]


@cache
def _read_wordings() -> tuple[RefusalWordings, ...]:
    return tuple(map(RefusalWordings, FILES))
