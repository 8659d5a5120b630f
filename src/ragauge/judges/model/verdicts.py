"""How a model is asked for verdicts: numbered, read back by number, what is missing once more, and then failed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from ragauge.core.ask import Ask, Reply
from ragauge.judges.model.prompt_blocks import Block, RequestTexts
from ragauge.judges.model.question_spec import QuestionSpec, Schema
from ragauge.judges.model.reply_parser import list_objects, parse_sentence_number, parse_structured, parse_whole_number
from ragauge.metrics.reasons import NO_SENTENCE_NAMED, NO_VERDICT

T = TypeVar("T")
log = logging.getLogger("ragauge.judges")
NO_VERDICT_REASON = NO_VERDICT.build_reason()
UNNAMED_REASON = NO_SENTENCE_NAMED.build_reason()
NAME_REMINDER = '\nGive the numbers of the sentences that show it, such as "2.1"; else it is absent.'


@dataclass(frozen=True, slots=True)
class VerdictList(Generic[T]):
    """Texts that each want a verdict: [C1] in the prompt, {"n": 1, …} in a list of the reply."""

    name: str  #: of the reply's list.
    #: before the numbers in the prompt; no two listings of a prompt share it. "" = the numbers of `sentences`.
    letter: str
    texts: Mapping[int, str]  #: by number.
    verdict: Callable[[Mapping[str, Any]], T | None]  #: what an item of the list says; None where that is no verdict.
    #: whether a verdict needs no second asking; one that does is kept until another comes.
    settles: Callable[[T], bool] = lambda _: True
    sentences: Sequence[str] = ()  #: of passages, such as 2.1: one a text, in their order.
    #: how many verdicts of an item name no sentence that shows them, and should.
    unnamed: Callable[[Mapping[str, Any]], int] = lambda _: 0

    def build_block(self, name: str = "") -> Block:
        """The numbered texts as they are sent."""
        return Block(name or self.name, list(zip(self.numbers, self.texts.values(), strict=True)))

    @property
    def numbers(self) -> list[str]:
        """Letter and number of every text."""
        return list(self.sentences) or [f"{self.letter}{n}" for n in self.texts]

    def read_verdicts(
        self, value: Mapping[str, Any], requested: Collection[str], unnamed: dict[str, int]
    ) -> dict[str, T]:
        """Verdicts by place. Places not wanted are dropped; one that comes twice with two verdicts has none.

        Args:
            value: a reply's object.
            requested: places.
            unnamed: is filled: place -> how many of its verdicts name no sentence.
        """
        verdicts: dict[str, T] = {}
        torn: set[str] = set()
        for item in list_objects(value.get(self.name)):
            n, verdict = item.get("n"), self.verdict(item)
            number = parse_sentence_number(n) if self.sentences else f"{self.letter}{parse_whole_number(n)}"
            if number not in requested:
                log.info("A verdict on %s was ignored because it was not requested.", number)
                continue
            unnamed[number] = self.unnamed(item)
            if verdict is not None and verdicts.setdefault(number, verdict) != verdict:
                log.info("Two verdicts on %s disagree, so neither counts.", number)
                torn.add(number)
        return {number: verdict for number, verdict in verdicts.items() if number not in torn}


class ParsedVerdicts(NamedTuple):
    """What was read."""

    by_place: Mapping[str, Any]  #: the verdicts.
    reason: str  #: why some are missing; "" where none are.
    values: tuple[Mapping[str, Any], ...]  #: every reply's object.
    texts: tuple[str, ...]  #: every reply's text.
    unnamed: int = 0  #: verdicts of the first reply that named no sentence.

    def of(self, listing: VerdictList[T]) -> dict[int, T]:
        """The verdicts of one listing, by number."""
        numbered = zip(listing.texts, listing.numbers, strict=True)
        return {n: self.by_place[number] for n, number in numbered if number in self.by_place}


def ask_each(
    question_spec: QuestionSpec, worded: RequestTexts, schema: Schema, *listings: VerdictList[Any]
) -> Generator[list[Ask], list[Reply], ParsedVerdicts]:
    """Asks for a verdict on every text, and once more for those that are missing.

    A few that are missing are asked for one by one; all of them together, or in halves where the reply was cut off.
    Those whose verdicts named no sentence are asked for one by one, and told so.
    Nothing is asked again where the call itself failed or was filtered.

    Args:
        question_spec: which question.
        worded: everything to judge, which holds the listings' texts, and what to do with it.
        schema: of the reply.
        listings: what wants verdicts.
    """
    settles = {number: listing.settles for listing in listings for number in listing.numbers}
    everything = list(settles)
    verdicts: dict[str, Any] = {}
    values: list[Mapping[str, Any]] = []
    texts: list[str] = []
    unnamed: dict[str, int] = {}
    reasons: list[str] = []

    def build_ask(requested: Sequence[str], attempt: int) -> Ask:
        only = "" if len(requested) == len(everything) else f"\nOnly {', '.join(requested)}."
        return question_spec.build_chat_ask(
            worded, schema, attempt, (NAME_REMINDER if any(map(unnamed.get, requested)) else "") + only
        )

    def take_reply(reply: Reply, requested: Sequence[str]) -> list[str]:
        """Takes in a reply; returns what still wants a verdict."""
        values.append(parse_structured(reply, schema) or {})
        texts.append(reply.text)
        unnamed.update(dict.fromkeys(requested, 0))
        for listing in listings:
            verdicts.update(listing.read_verdicts(values[-1], frozenset(requested), unnamed))
        missing = [number for number in requested if number not in verdicts or not settles[number](verdicts[number])]
        if missing:
            reasons.append(reply.reason or (UNNAMED_REASON if any(map(unnamed.get, missing)) else NO_VERDICT_REASON))
        return missing

    (first,) = yield [build_ask(everything, 1)]
    missing = take_reply(first, everything)
    count = sum(unnamed.values())
    if not missing or is_hopeless(first):
        reason = first.reason or "the call failed" if missing else ""
        return ParsedVerdicts(verdicts, reason, tuple(values), tuple(texts), count)
    groups = _split_missing(missing, everything=missing == everything and not count, cut_off=first.finish == "length")
    reasons.clear()
    for group, reply in zip(groups, (yield [build_ask(group, 2) for group in groups]), strict=True):
        take_reply(reply, group)
    return ParsedVerdicts(verdicts, next(iter(reasons), ""), tuple(values), tuple(texts), count)


def ask_retry(
    question_spec: QuestionSpec,
    worded: RequestTexts,
    schema: Schema,
    parse: Callable[[Mapping[str, Any]], T],
    is_enough: Callable[[T], bool],
) -> Generator[list[Ask], list[Reply], tuple[list[T], str]]:
    """Asks for one thing, and once more where the reply is not enough and another might be.

    Args:
        question_spec: which question.
        worded: what to do, and what to do it with.
        schema: of the reply.
        parse: what an object says; {} where a reply has none.
        is_enough: whether that will do.

    Returns:
        What each reply says, and what the last call says of itself where it failed.
    """
    replies: list[T] = []
    for attempt in (1, 2):
        (reply,) = yield [question_spec.build_chat_ask(worded, schema, attempt)]
        replies.append(parse(parse_structured(reply, schema) or {}))
        if is_enough(replies[-1]) or is_hopeless(reply):
            break
    return replies, reply.reason


def is_hopeless(reply: Reply) -> bool:
    """Whether asking again would change nothing: the provider filters it, or does not answer however often it is asked.

    A reply that was cut off may be shorter the next time.
    """
    return reply.finish == "content_filter" or (reply.status == "failed" and reply.finish != "length")


def _split_missing(missing: Sequence[str], *, everything: bool, cut_off: bool) -> list[Sequence[str]]:
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
        _advance_generator(index, generator, None, waiting, results)
    while waiting:
        turn = list(waiting.items())
        replies = yield [ask for _, asks in turn for ask in asks]
        waiting, start = {}, 0
        for index, asks in turn:
            _advance_generator(index, generators[index], replies[start : start + len(asks)], waiting, results)
            start += len(asks)
    return [results[index] for index in range(len(generators))]


def _advance_generator(
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
