"""verify_answer: the claims of each sentence, their support, whether the answer addresses the question and refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragauge.data.ask import Ask, Reply
from ragauge.data.facts import Address, AnswerFacts, Claim
from ragauge.judging.inputs import VerifyAnswer
from ragauge.judging.judge import Asking
from ragauge.judging.model.asking import Asked, Settings, only
from ragauge.judging.model.fences import DATA, Block, fenced
from ragauge.judging.model.packs import Pack, packs
from ragauge.judging.model.reading import objects, structured, whole_number, word, written, yes
from ragauge.judging.model.support import FIELDS, RULES, Support, check, judged, support_of
from ragauge.judging.model.verdicts import INTEGER, TEXT, YES_NO, array_of, each, one_of
from ragauge.text.sentences import Sentence, split

VERSION = 1
ADDRESSES: Mapping[str, Address] = {"fully": "fully", "partly": "partly", "no": "no"}
CLAIMS = """For every answer sentence [S1], [S2], … list its claims: short statements that can be checked by \
themselves (names instead of pronouns, one fact each, nothing added). A sentence that states nothing to check \
(greeting, question, pointer, refusal) gets an empty list."""
WHOLE = """Of the whole answer: addresses = fully, partly or no: does it answer the question, right or wrong? \
refuses = true if it declines to answer or says that the information is not there."""
CHECKING = f"""You check an answer against passages. {DATA}
{CLAIMS}
{RULES}
{WHOLE}
Reply with JSON only."""
LISTING = f"""You list the claims of an answer. {DATA}
{CLAIMS}
{WHOLE}
Reply with JSON only."""


@dataclass(frozen=True, slots=True)
class Said:
    """The claims of one sentence with their support, None where a claim's verdict is missing; lost = claims unread."""

    claims: tuple[tuple[str, Support | None], ...]
    lost: bool = False

    @property
    def whole(self) -> bool:
        """Nothing is missing."""
        return not self.lost and all(support is not None for _, support in self.claims)


def verify_answer(inputs: VerifyAnswer, settings: Settings, judge_repeat: int = 0) -> Asking:
    """Sentences are numbered by us; each comes back with its claims or none, each claim with its verdict.

    A sentence that is missing, or has a claim without a verdict, is asked about again alone. What then still lacks a
    verdict is a failed claim; a sentence that lacks everything is one failed claim of unknown text. Passages beyond the
    first pack are asked about with the claims that the first pack gave. Without passages support is not asked.
    """
    recorded = inputs.passages is not None
    sentences = {one.n: one for one in split(inputs.answer)}
    if not sentences:
        return AnswerFacts((), "no", False, support_asked=recorded)
    asked = Asked("verify_answer", VERSION, settings, judge_repeat)
    parts = packs(inputs.passages or (), settings.pack)
    fused = parts[:1] if not settings.per_claim else []
    reading = _Reading(inputs, sentences, fused[0] if fused else None, asked)
    found = yield from each(list(sentences), reading.ask, reading.read)
    address, refuse = _whole(found.replies)
    plain = list(_plain(sentences, found.by_number, reading.best, found.reason))
    texts = [claim.text or "" for claim, _ in plain if claim.text]
    later = yield from check(inputs.query, texts, parts[len(fused) :], asked)
    verdicts = iter(later.supports)
    reason = found.reason or later.reason
    claims = [
        claim if claim.text is None or not parts
        else judged(claim, [*([support] if fused else []), *next(verdicts)], parts, reason)
        for claim, support in plain
    ]  # fmt: skip
    return AnswerFacts(tuple(claims), address, refuse, support_asked=recorded, parts=max(1, len(parts)))


class _Reading:
    """The ask about some sentences of an answer, and how its reply is read."""

    def __init__(
        self, inputs: VerifyAnswer, sentences: Mapping[int, Sentence], pack: Pack | None, asked: Asked
    ) -> None:
        self.inputs, self.sentences, self.pack, self.asked = inputs, sentences, pack, asked
        self.best: dict[int, Said] = {}
        fields = {"text": TEXT} if pack is None else {"text": TEXT, **FIELDS}
        self.schema = array_of(
            "sentences", {"n": INTEGER, "claims": array_of("claims", fields)["properties"]["claims"]},
            addresses=one_of(*ADDRESSES), refuses=YES_NO,
        )  # fmt: skip

    def ask(self, numbers: Sequence[int], attempt: int) -> Ask:
        """Asks about these sentences; the whole answer is shown in any case."""
        blocks = [Block("question", [("", self.inputs.query)])]
        if self.pack is not None:
            blocks.append(self.pack.block)
        blocks.append(Block("answer", [(f"S{n}", one.text) for n, one in self.sentences.items()]))
        text = fenced(blocks) + only("S", numbers, len(self.sentences))
        return self.asked.chat(LISTING if self.pack is None else CHECKING, text, self.schema, attempt)

    def read(self, reply: Reply, numbers: Sequence[int]) -> dict[int, Said]:
        """Sentences that came back whole; of the others the last that was seen is kept aside."""
        seen: dict[int, list[Said]] = {}
        for item in objects((structured(reply) or {}).get("sentences")):
            n = whole_number(item.get("n"))
            if n is not None and n in numbers and isinstance(item.get("claims"), list):
                seen.setdefault(n, []).append(self._said(item["claims"]))
        agreed = {n: said[0] for n, said in seen.items() if all(one == said[0] for one in said)}
        self.best |= agreed
        return {n: said for n, said in agreed.items() if said.whole}

    def _said(self, items: Sequence[Any]) -> Said:
        found = []
        for item in objects(items):
            if text := written(item.get("text")):
                support = Support() if self.pack is None else support_of(item, self.pack.sentences)
                found.append((text, support))
        return Said(tuple(found), lost=len(found) < len(items))


def _plain(
    sentences: Mapping[int, Sentence], whole: Mapping[int, Said], best: Mapping[int, Said], reason: str
) -> Iterator[tuple[Claim, Support | None]]:
    """The claims in order, numbered, each with the first call's verdict; text None = the sentence's are unknown."""
    n = 0
    for number, sentence in sentences.items():
        said = whole.get(number) or best.get(number) or Said((), lost=True)
        for text, support in said.claims:
            n += 1
            yield Claim(n, text, sentence.start, sentence.end), support
        if said.lost:
            n += 1
            yield Claim(n, None, sentence.start, sentence.end, status="failed", reason=reason or "no verdict"), None


def _whole(replies: Sequence[Reply]) -> tuple[Address | None, bool | None]:
    """What the replies say of the whole answer: each from the first that says it."""
    address: Address | None = None
    refuse: bool | None = None
    for reply in replies:
        value = structured(reply) or {}
        found = word(value.get("addresses"), ADDRESSES)
        address = address if address is not None or found is None else ADDRESSES[found]
        refuse = refuse if refuse is not None else yes(value.get("refuses"))
    return address, refuse
