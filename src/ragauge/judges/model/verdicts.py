"""How a model is asked for verdicts: numbered, read back by number, what is missing once more, and then failed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from ragauge.core.ask import Ask, Reply
from ragauge.judges.model.prompt_blocks import Block, Worded
from ragauge.judges.model.question_spec import QuestionSpec, Schema
from ragauge.judges.model.reply_parser import objects, sentence_number, structured, whole_number

T = TypeVar("T")
log = logging.getLogger("ragauge.judges")
NO_VERDICT = "no verdict, asked twice"
UNNAMED = "the judge said supported or contradicted but named no sentence that shows it, asked twice"
NAME_IT = '\nGive the numbers of the sentences that show it, such as "2.1"; else it is absent.'


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """Texts that each want a verdict: [C1] in the prompt, {"n": 1, …} in a list of the reply.

    Attributes:
        name: of the reply's list.
        letter: before the numbers in the prompt; no two listings of a prompt share it. "" = the numbers of `sentences`.
        texts: by number.
        verdict: what an item of the list says; None where that is no verdict.
        settles: whether a verdict needs no second asking; one that does is kept until another comes.
        sentences: of passages, such as 2.1: one a text, in their order.
        unnamed: how many verdicts of an item name no sentence that shows them, and should.
    """

    name: str
    letter: str
    texts: Mapping[int, str]
    verdict: Callable[[Mapping[str, Any]], T | None]
    settles: Callable[[T], bool] = lambda _: True
    sentences: Sequence[str] = ()
    unnamed: Callable[[Mapping[str, Any]], int] = lambda _: 0

    def block(self, name: str = "") -> Block:
        """The numbered texts as they are sent."""
        return Block(name or self.name, list(zip(self.places, self.texts.values(), strict=True)))

    @property
    def places(self) -> list[str]:
        """Letter and number of every text."""
        return list(self.sentences) or [f"{self.letter}{n}" for n in self.texts]

    def read(self, value: Mapping[str, Any], wanted: Collection[str], unnamed: dict[str, int]) -> dict[str, T]:
        """Verdicts by place. Places not wanted are dropped; one that comes twice with two verdicts has none.

        Args:
            value: a reply's object.
            wanted: places.
            unnamed: is filled: place -> how many of its verdicts name no sentence.
        """
        verdicts: dict[str, T] = {}
        torn: set[str] = set()
        for item in objects(value.get(self.name)):
            n, verdict = item.get("n"), self.verdict(item)
            number = sentence_number(n) if self.sentences else f"{self.letter}{whole_number(n)}"
            if number not in wanted:
                log.info("A verdict on %s is dropped: it was not asked for.", number)
                continue
            unnamed[number] = self.unnamed(item)
            if verdict is not None and verdicts.setdefault(number, verdict) != verdict:
                log.info("Two verdicts on %s disagree: neither counts.", number)
                torn.add(number)
        return {number: verdict for number, verdict in verdicts.items() if number not in torn}


class VerdictsRead(NamedTuple):
    """What was read.

    Attributes:
        by_place: the verdicts.
        reason: why some are missing; "" where none are.
        values: every reply's object.
        texts: every reply's text.
        unnamed: verdicts of the first reply that named no sentence.
    """

    by_place: Mapping[str, Any]
    reason: str
    values: tuple[Mapping[str, Any], ...]
    texts: tuple[str, ...]
    unnamed: int = 0

    def of(self, listing: Listing[T]) -> dict[int, T]:
        """The verdicts of one listing, by number."""
        places = zip(listing.texts, listing.places, strict=True)
        return {n: self.by_place[number] for n, number in places if number in self.by_place}


def ask_each(
    asked: QuestionSpec, worded: Worded, schema: Schema, *listings: Listing[Any]
) -> Generator[list[Ask], list[Reply], VerdictsRead]:
    """Asks for a verdict on every text, and once more for those that are missing.

    A few that are missing are asked for one by one; all of them together, or in halves where the reply was cut off.
    Those whose verdicts named no sentence are asked for one by one, and told so.
    Nothing is asked again where the call itself failed or was filtered.

    Args:
        asked: which question.
        worded: everything to judge, which holds the listings' texts, and what to do with it.
        schema: of the reply.
        listings: what wants verdicts.
    """
    settles = {number: listing.settles for listing in listings for number in listing.places}
    everything = list(settles)
    verdicts: dict[str, Any] = {}
    values: list[Mapping[str, Any]] = []
    said: list[str] = []
    unnamed: dict[str, int] = {}
    reasons: list[str] = []

    def ask(wanted: Sequence[str], attempt: int) -> Ask:
        only = "" if len(wanted) == len(everything) else f"\nOnly {', '.join(wanted)}."
        return asked.chat(worded, schema, attempt, (NAME_IT if any(map(unnamed.get, wanted)) else "") + only)

    def left(reply: Reply, wanted: Sequence[str]) -> list[str]:
        """Takes in a reply; returns what still wants a verdict."""
        values.append(structured(reply, schema) or {})
        said.append(reply.text)
        unnamed.update(dict.fromkeys(wanted, 0))
        for listing in listings:
            verdicts.update(listing.read(values[-1], frozenset(wanted), unnamed))
        missing = [number for number in wanted if number not in verdicts or not settles[number](verdicts[number])]
        if missing:
            reasons.append(reply.reason or (UNNAMED if any(map(unnamed.get, missing)) else NO_VERDICT))
        return missing

    (first,) = yield [ask(everything, 1)]
    missing = left(first, everything)
    count = sum(unnamed.values())
    if not missing or hopeless(first):
        reason = first.reason or "the call failed" if missing else ""
        return VerdictsRead(verdicts, reason, tuple(values), tuple(said), count)
    parts = _parts(missing, everything=missing == everything and not count, cut_off=first.finish == "length")
    reasons.clear()
    for part, reply in zip(parts, (yield [ask(part, 2) for part in parts]), strict=True):
        left(reply, part)
    return VerdictsRead(verdicts, next(iter(reasons), ""), tuple(values), tuple(said), count)


def ask_retry(
    asked: QuestionSpec,
    worded: Worded,
    schema: Schema,
    read: Callable[[Mapping[str, Any]], T],
    enough: Callable[[T], bool],
) -> Generator[list[Ask], list[Reply], tuple[list[T], str]]:
    """Asks for one thing, and once more where the reply is not enough and another might be.

    Args:
        asked: which question.
        worded: what to do, and what to do it with.
        schema: of the reply.
        read: what an object says; {} where a reply has none.
        enough: whether that will do.

    Returns:
        What each reply says, and what the last call says of itself where it failed.
    """
    replies: list[T] = []
    for attempt in (1, 2):
        (reply,) = yield [asked.chat(worded, schema, attempt)]
        replies.append(read(structured(reply, schema) or {}))
        if enough(replies[-1]) or hopeless(reply):
            break
    return replies, reply.reason


def hopeless(reply: Reply) -> bool:
    """Whether asking again would change nothing: the provider filters it, or does not answer however often it is asked.

    A reply that was cut off may be shorter the next time.
    """
    return reply.finish == "content_filter" or (reply.status == "failed" and reply.finish != "length")


def _parts(missing: Sequence[str], *, everything: bool, cut_off: bool) -> list[Sequence[str]]:
    if not everything:
        return [[number] for number in missing]
    if cut_off and len(missing) > 1:
        half = (len(missing) + 1) // 2
        return [missing[:half], missing[half:]]
    return [missing]


def interleave(
    generators: Sequence[Generator[list[Ask], list[Reply], T]],
) -> Generator[list[Ask], list[Reply], list[T]]:
    """Runs several generators side by side: what they ask at one time is one list."""
    waiting: dict[int, list[Ask]] = {}
    results: dict[int, T] = {}
    for index, generator in enumerate(generators):
        _advance(index, generator, None, waiting, results)
    while waiting:
        turn = list(waiting.items())
        replies = yield [ask for _, asks in turn for ask in asks]
        waiting, at = {}, 0
        for index, asks in turn:
            _advance(index, generators[index], replies[at : at + len(asks)], waiting, results)
            at += len(asks)
    return [results[index] for index in range(len(generators))]


def _advance(
    index: int,
    generator: Generator[list[Ask], list[Reply], T],
    replies: list[Reply] | None,
    waiting: dict[int, list[Ask]],
    results: dict[int, T],
) -> None:
    try:
        waiting[index] = next(generator) if replies is None else generator.send(replies)
    except StopIteration as done:
        results[index] = done.value
