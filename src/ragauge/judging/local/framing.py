"""Whether a sentence holds a statement without saying that it is so: under a denial, a doubt, a condition, a question.

The frame is looked for by closed lists of wordings outside the stretch of the sentence that is the claim's copy. What
the claim itself has of it is no frame: "There is no evidence that X" states that there is no evidence that X.

Whether a passage holds a claim only under a denial, a doubt, a condition or a question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from ragauge.judging.local import framing_words as english
from ragauge.judging.local.checks import StatedSpan
from ragauge.judging.local.framing_words import TONGUES
from ragauge.judging.local.index import LONGEST_SEGMENT, STOPS, Indexed
from ragauge.judging.local.overlap import PreparedClaim
from ragauge.text.language import guess
from ragauge.text.tokens import stem

Kind = Literal["denied", "doubted"]
KINDS: tuple[Kind, Kind] = ("denied", "doubted")

HELD = 0.7          # share of the claim's content that stands under the frame
FEWEST = 3          # words with content of a claim that says something; two beside a verb such as "is"
FAR, NEAR = 12, 2   # words between a frame and the copy; of a condition, which opens its clause
BEFORE = 1_500      # characters before a sentence in which its heading is looked for
AFTER = 160         # characters behind it
MOST_TAIL = 30      # characters of a question behind what it asks
MOST_SHOWN = 60     # characters of a frame in a reason
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_COMMON = "is are was were be has have had can may will does did do"
_VERBS = frozenset(_COMMON.split())
_LEAD = re.compile(r"\s*(?:in|on|at|for|with|by|during|after|since|under|among|from|as of)\b", re.IGNORECASE)
_BREAK = re.compile(
    r"[;?!]|\.\s|\b(?:but|however|whereas|although|though|yet|aber|sondern|mais|pero|sino|mas|maar)\b"
    r"|\band\s+(?:\w+\s+)?(?:sa(?:id|ys)|added|confirmed|noted|found|stated|showed|reported|concluded)\b",
    re.IGNORECASE,
)
_MAIN = re.compile(r"[^,;]{0,80}(?:,|\bthen\b)\s*\S+\s+\S+", re.IGNORECASE)
_BULLET = re.compile(r"\s*(?:[-*•–]|\(?\w{1,2}[.)])\s")


class Frame(NamedTuple):
    """What a sentence does with a statement, and the words that do it."""

    kind: Kind
    words: str


class Word(NamedTuple):
    """A word of a text: characters [start, end), and its stem."""

    start: int
    end: int
    stem: str


@dataclass(frozen=True)
class Copy:
    """A claim's words beside a sentence's.

    Attributes:
        claim: the claim's words.
        words: the sentence's.
        pairs: sentence word -> claim word, of the equal ones in order.
        sentence: as written.
        asks: the claim is a question itself.
    """

    claim: tuple[Word, ...]
    words: tuple[Word, ...]
    pairs: dict[int, int]
    sentence: str
    asks: bool

    @cached_property
    def content(self) -> list[int]:
        """Words of the sentence with content that the claim has."""
        return [at for at in self.pairs if self.words[at].stem not in STOPS] or list(self.pairs)

    @cached_property
    def size(self) -> int:
        """Words of the claim with content."""
        return sum(word.stem not in STOPS for word in self.claim) or len(self.claim)

    def under(self, at: int) -> list[int]:
        """Paired words with content behind a character; empty unless they are most of the claim."""
        paired = [n for n in self.content if self.words[n].start >= at]
        return paired if len(paired) >= HELD * self.size else []

    def first(self, at: int) -> int:
        """Where the copy begins behind a character: at the words without content that lead to it, too."""
        n = self.under(at)[0]
        while n - 1 in self.pairs and self.words[n - 1].start >= at:
            n -= 1
        return self.words[n].start

    @cached_property
    def end(self) -> int:
        """Where the copy ends."""
        return self.words[max(self.pairs)].end

    def has(self, start: int, end: int) -> bool:
        """Whether the claim has most of the words of the sentence within these characters."""
        inside = [n for n, word in enumerate(self.words) if start <= word.start < end]
        return bool(inside) and 2 * sum(n in self.pairs for n in inside) > len(inside)

    def aside(self, kind: Kind, start: int) -> bool:
        """Whether the claim has a frame of this kind itself, outside what it copies behind a character."""
        copied = {self.pairs[n] for n in self.pairs if self.words[n].start >= start}
        own = {word.stem for n, word in enumerate(self.claim) if n not in copied}
        return not own.isdisjoint(_DENYING if kind == "denied" else _DOUBTING) or any(
            word[-3:] == "n't" for word in own
        )


_DENYING: Set[str] = english.DENYING | {stem(word) for word in english.DENYING}
_DOUBTING: Set[str] = english.DOUBTING | {stem(word) for word in english.DOUBTING}


def frame(claim: str, text: str, start: int, end: int) -> Frame | None:
    """The frame under which the sentence at characters [start, end) of a text holds a claim; None where it has none.

    >>> said = "There is no evidence that the lamp was built in Porto."
    >>> frame("The lamp was built in Porto.", said, 0, len(said))
    Frame(kind='denied', words='There is no evidence that')
    >>> frame("There is no evidence that the lamp was built in Porto.", said, 0, len(said)) is None
    True
    """
    sentence = text[start:end]
    copy = _copy(claim, sentence)
    if copy is None:
        return None
    frame_found = _before(copy) or _conditioned(copy) or _named(copy) or _after(copy) or _within(copy)
    return frame_found or _around(copy, text, start, end)


def says_something(claim: str) -> bool:
    """Whether a claim is long enough to be a statement, which only can be denied.

    >>> says_something("Leeds"), says_something("the old depot"), says_something("The lid is steel.")
    (False, False, True)
    """
    markup = _words(claim)
    size = sum(one.stem not in STOPS for one in markup)
    return size >= FEWEST or (size == FEWEST - 1 and any(one.stem in _VERBS for one in markup))


@lru_cache(maxsize=256)
def _words(text: str) -> tuple[Word, ...]:
    matches = _WORD.finditer(text)
    return tuple([Word(match.start(), match.end(), stem(match[0].casefold().replace("’", "'"))) for match in matches])


def _copy(claim: str, sentence: str) -> Copy | None:
    mine, its = _words(claim), _words(sentence)
    blocks = SequenceMatcher(None, [w.stem for w in its], [w.stem for w in mine], autojunk=False).get_matching_blocks()
    pairs = {a + k: b + k for a, b, size in blocks for k in range(size) if size > 1 or its[a].stem not in STOPS}
    copy = Copy(mine, its, dict(sorted(pairs.items())), sentence, claim.rstrip().endswith("?"))
    return copy if pairs and copy.under(0) else None


def _tongues(sentence: str) -> Iterator[tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str] | None]]:
    """The wordings that deny, doubt and condition, of English and of the sentence's own language."""
    code = guess(sentence)
    yield english.DENIED, english.DOUBTED, english.CONDITION
    for name, (denied, doubted, condition) in TONGUES.items():
        if code in (name, "und"):
            yield denied, doubted, condition if code == name else None


def _before(copy: Copy) -> Frame | None:
    """A frame that leads to the copy: "It is a myth that …"."""
    for denied, doubted, _ in _tongues(copy.sentence):
        for kind, pattern in zip(KINDS, (denied, doubted), strict=True):
            for match in pattern.finditer(copy.sentence):
                if _leads(copy, match, kind) and not english.UNDONE.search(copy.sentence[: match.start()]):
                    return Frame(kind, _shown(copy.sentence, match.start(), match.end()))
    return None


def _leads(copy: Copy, match: re.Match[str], kind: Kind) -> bool:
    """Whether a wording leads to the copy: few words between, no clause that ends, and the claim has not got it."""
    if not copy.under(match.end()) or copy.has(*match.span()):
        return False
    first = copy.first(match.end())
    between = copy.sentence[match.end() : first]
    if len(_WORD.findall(between)) > FAR or _BREAK.search(between):
        return False
    if "," in between and not (between.lstrip().startswith(",") or (between.count(",") == 1 and _LEAD.match(between))):
        return False
    return not copy.aside(kind, first)


def _conditioned(copy: Copy) -> Frame | None:
    """A condition that the copy is, beside what depends on it: "If X, the lamp goes out"."""
    for _, _, pattern in _tongues(copy.sentence):
        for match in pattern.finditer(copy.sentence) if pattern is not None else ():
            if not copy.under(match.end()) or copy.has(*match.span()):
                continue
            first = copy.first(match.end())
            between = copy.sentence[match.end() : first]
            if "," in between or len(_WORD.findall(between)) > NEAR or copy.aside("doubted", first):
                continue
            opens = len(_WORD.findall(copy.sentence[: match.start()])) <= 1
            if not opens or _MAIN.match(copy.sentence[copy.end :]):
                return Frame("doubted", _shown(copy.sentence, match.start(), match.end()))
    return None


def _named(copy: Copy) -> Frame | None:
    """A statement that is named, and then called wrong: "The claim that X is false"."""
    for match in english.NAMED.finditer(copy.sentence):
        if copy.under(match.end()) and (ended := english.ENDED.match(copy.sentence[copy.end :])):
            undone = copy.has(*match.span()) or copy.aside("denied", match.end())
            return None if undone else Frame("denied", f"{match[0]} … {ended[0].strip()}")
    return None


def _after(copy: Copy) -> Frame | None:
    """What a sentence says of the copy behind it: ", which is wrong"."""
    rest = copy.sentence[copy.end :]
    for kind, pattern in zip(KINDS, (english.AFTER_DENIED, english.AFTER_DOUBTED), strict=True):
        match = pattern.search(rest)
        if match and copy.under(0) and not copy.aside(kind, 0):
            return Frame(kind, match[0].strip(" ,(–—-"))
    return None


def _within(copy: Copy) -> Frame | None:
    """What stands in the midst of the copy: "The lamp is falsely said to …"."""
    first = copy.words[copy.content[0]].start
    for kind, pattern in zip(KINDS, (english.WITHIN_DENIED, english.WITHIN_DOUBTED), strict=True):
        for match in pattern.finditer(copy.sentence, first, copy.end):
            if not copy.has(*match.span()) and not copy.aside(kind, first):
                return Frame(kind, match[0])
    return None


def _around(copy: Copy, text: str, start: int, end: int) -> Frame | None:
    """What the sentences beside say of the whole one: a question, a heading, "This was retracted"."""
    if copy.aside("doubted", 0):
        return None
    rest = text[end : end + AFTER]
    sentence = copy.sentence.rstrip("\"'”’) ")
    if sentence.endswith("?"):
        ahead = sentence[: copy.words[copy.content[0]].start]
        known = copy.asks or "?" in sentence[:-1] or english.OPEN_QUESTION.search(ahead) or english.YES.match(rest)
        return None if known or copy.end + MOST_TAIL <= len(sentence) else Frame("doubted", "a question")
    if match := english.NEXT_DENIED.match(rest):
        return Frame("denied", match[0].strip())
    ahead = text[max(0, start - BEFORE) : start]
    line = f"{ahead.rpartition(chr(10))[2]}{copy.sentence}"
    return _headed(ahead, listed=_BULLET.match(line) is not None)


def _headed(ahead: str, *, listed: bool) -> Frame | None:
    """What a heading says of the items below it, or of the one line that follows it."""
    lines = [line for line in ahead.rstrip(" -*•–\t").splitlines() if line.strip()]
    while listed and lines and _BULLET.match(lines[-1]) and not lines[-1].rstrip().endswith(":"):
        lines.pop()
    if not lines or not lines[-1].rstrip().endswith(":"):
        return None
    heading = re.split(r"(?<=[.!?])\s", lines[-1].strip())[-1]
    if english.PLAIN_HEAD.search(heading):
        return None
    if english.HEADED_DENIED.search(heading):
        return Frame("denied", heading[-MOST_SHOWN:])
    return Frame("doubted", heading[-MOST_SHOWN:]) if english.HEADED_DOUBTED.search(heading) else None


def _shown(sentence: str, start: int, end: int) -> str:
    """A frame as it is shown: from the beginning of its clause, where that is near."""
    clause = max((sentence.rfind(mark, 0, start) + 1 for mark in ",;:.("), default=0)
    return sentence[clause if end - clause <= MOST_SHOWN else start : end].strip()


PLAIN = 0.8         # of what the best sentence holds: another that holds so much may state the claim by itself
MOST_SENTENCES = 6  # looked at
MOST_LINES = 4      # of one sentence that was broken into lines
_ENDS = re.compile(r"[.!?:;][\"'”’)\]]*\s*$|\n\s*\n")


class Framed(NamedTuple):
    """The frame of a passage's best sentence, and the passage without such sentences.

    `rest` is empty where no other sentence could state the claim.
    """

    frame: Frame
    rest: str


def framed(claim: str, want: PreparedClaim, text: str, passage: Indexed, stated: StatedSpan | None) -> Framed | None:
    """Under what a passage holds a claim; None where its best sentence states it, or holds less than most of it.

    Args:
        claim: as written.
        want: its units, as they are compared with the passage.
        text: the passage as written.
        passage: the same, ready for comparison.
        stated: where it has the claim's items one by one, if it has: maybe in lines that are no sentences.
    """
    if not says_something(claim):
        return None
    widest: Frame | None = None
    plain = False
    rest = text
    for start, end in _spans(want, text, passage, stated):
        own = frame(claim, text, start, end)
        if own is None:
            plain = True
            continue
        widest = widest or own
        rest = f"{rest[:start]}{' ' * (end - start)}{rest[end:]}"
    return Framed(widest, rest if plain else "") if widest is not None else None


def _spans(want: PreparedClaim, text: str, passage: Indexed, stated: StatedSpan | None) -> list[tuple[int, int]]:
    """The sentences that hold nearly as much of a claim as the best one, best first, each whole."""
    held: dict[int, int] = {}
    for unit in want.distinct:
        for segment in passage.places.get(unit, ()):
            held[segment] = held.get(segment, 0) + 1
    most = max(held.values(), default=0)
    if most < HELD * len(want.distinct):
        return [(stated.start, stated.end)] if stated is not None else []
    best = sorted((n for n in held if held[n] >= PLAIN * most), key=lambda n: (-held[n], n))[:MOST_SENTENCES]
    return list(dict.fromkeys(_whole(text, passage, n) for n in best))


def _whole(text: str, passage: Indexed, number: int) -> tuple[int, int]:
    """A segment with the lines around it that belong to the same sentence: a small letter goes on with it."""
    first = last = number
    segments = passage.segments
    while first and number - first < MOST_LINES and _goes_on(text, segments[first - 1].end, segments[first].start):
        first -= 1
    while last + 1 < len(segments) and last - number < MOST_LINES and _goes_on(
        text, segments[last].end, segments[last + 1].start
    ):  # fmt: skip
        last += 1
    return segments[first].start, segments[last].end


def _goes_on(text: str, end: int, start: int) -> bool:
    return text[start].islower() and not _ENDS.search(text[max(0, end - LONGEST_SEGMENT) : start][-8:])
