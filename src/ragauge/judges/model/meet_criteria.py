"""meet_criteria: which criteria of the run an example meets, each with one sentence of reason."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ragauge.core.ask import Ask, Reply
from ragauge.core.criterion import Criterion, CriterionVerdict, Seen
from ragauge.core.facts import CriteriaFacts
from ragauge.judges.inputs import MeetCriteria
from ragauge.judges.judge import Asking
from ragauge.judges.model.prompt_blocks import Block, Prompt, earlier_turns
from ragauge.judges.model.question_spec import (
    INTEGER,
    TEXT,
    YES_NO,
    QuestionSpec,
    Schema,
    a_list,
    an_object,
    passage_batches,
)
from ragauge.judges.model.reply_parser import whole_number, written, yes
from ragauge.judges.model.verdicts import Listing, ask_each, interleave

VERSION = 1
MAX_REASON_CHARS = 400
NOTHING_RETRIEVED = "(no passage was retrieved)"
MET = """For every criterion [C1], [C2], …: reason = one sentence that names what decides it; then met = true if the \
criterion is met, false if not."""
LEVEL = """For every scale [S1], [S2], …: reason = one sentence that names what decides it; then level = the number of \
the level whose description fits best, one of those that stand there."""
EACH = "Judge each by its own words alone, whatever the others say. Give every number n."
CHECKING = Prompt(
    "meet_criteria",
    f"Check these texts against what is asked of them.\n{MET}\n{LEVEL}\n{EACH}",
    f"{MET}\n{LEVEL}\nGive every number n.",
    ("question", "passages", "reference", "answer", "criteria", "scales"),
)
FORMS: Mapping[str, Schema] = {
    "criteria": a_list(n=INTEGER, reason=TEXT, met=YES_NO),
    "scales": a_list(n=INTEGER, reason=TEXT, level=INTEGER),
}
SCHEMAS = tuple(
    an_object(**{name: FORMS[name] for name in names}) for names in (("criteria",), ("scales",), ("criteria", "scales"))
)


@dataclass(frozen=True, slots=True)
class _ItemVerdict:
    """What an item of a reply says: true or false, or a level; two that differ in their reasons alone are one."""

    verdict: bool | int
    reason: str = field(compare=False)


def meet_criteria(inputs: MeetCriteria, asked: QuestionSpec) -> Asking:
    """Criteria that see the same go out in one call."""
    groups: dict[frozenset[Seen], list[Criterion]] = {}
    for criterion in inputs.criteria:
        groups.setdefault(frozenset(inputs.seen_by(criterion)), []).append(criterion)
    found = yield from interleave([_checked(group, seen, inputs, asked) for seen, group in groups.items()])
    verdicts = {verdict.name: verdict for group in found for verdict in group}
    return CriteriaFacts(tuple(verdicts[criterion.name] for criterion in inputs.criteria))


def _checked(
    group: Sequence[Criterion], seen: frozenset[Seen], inputs: MeetCriteria, asked: QuestionSpec
) -> Generator[list[Ask], list[Reply], list[CriterionVerdict]]:
    plain = dict(enumerate((one for one in group if not one.levels), 1))
    scaled = dict(enumerate((one for one in group if one.levels), 1))

    def met(item: Mapping[str, Any]) -> _ItemVerdict | None:
        verdict = yes(item.get("met"))
        return None if verdict is None else _ItemVerdict(verdict, _reason(item))

    def level(item: Mapping[str, Any]) -> _ItemVerdict | None:
        criterion, verdict = scaled.get(whole_number(item.get("n")) or 0), whole_number(item.get("level"))
        there = criterion is not None and verdict is not None and 1 <= verdict <= len(criterion.levels)
        return _ItemVerdict(verdict, _reason(item)) if there and verdict is not None else None

    listings = [
        Listing(name, letter, {n: _shown(one) for n, one in texts.items()}, read, lambda said: bool(said.reason))
        for name, letter, texts, read in (("criteria", "C", plain, met), ("scales", "S", scaled, level))
        if texts
    ]
    names = [listing.name for listing in listings]
    tasks = {"criteria": MET, "scales": LEVEL}
    prompt = replace(CHECKING, task="\n".join([CHECKING.task.split("\n")[0], *map(tasks.__getitem__, names), EACH]))
    blocks = [*_blocks(seen, inputs, asked), *(listing.block() for listing in listings)]
    schema = an_object(**{name: FORMS[name] for name in names})
    replies = yield from ask_each(asked, asked.worded(prompt, *blocks), schema, *listings)
    said = {
        criterion.name: verdict
        for listing, criteria in zip(listings, [each for each in (plain, scaled) if each], strict=True)
        for n, criterion in criteria.items()
        if (verdict := replies.of(listing).get(n)) is not None
    }
    return [
        CriterionVerdict.of(one, said[one.name].verdict, said[one.name].reason)
        if one.name in said
        else CriterionVerdict.of(one, None, replies.reason)
        for one in group
    ]


def _shown(criterion: Criterion) -> str:
    levels = [f"Level {n}: {_line(text)}" for n, text in enumerate(criterion.levels, 1)]
    return "\n".join([_line(criterion.text), *levels])


def _line(text: str) -> str:
    return " ".join(text.split())


def _reason(item: Mapping[str, Any]) -> str:
    text = _line(written(item.get("reason")))
    return text if len(text) <= MAX_REASON_CHARS else f"{text[:MAX_REASON_CHARS]}…"


def _blocks(seen: frozenset[Seen], inputs: MeetCriteria, asked: QuestionSpec) -> list[Block]:
    """What these criteria see, in the order of all prompts. All passages go out together: no part decides alone."""
    blocks = earlier_turns(inputs.history) if "history" in seen else []
    if "query" in seen:
        blocks.append(Block.of("question", inputs.query))
    if "passages" in seen:
        passages = inputs.passages or ()
        size = max(asked.settings.pack, sum(map(len, passages)))
        batches = passage_batches(passages, size)
        blocks += [batch.block for batch in batches] or [Block.of("passages", NOTHING_RETRIEVED)]
    if "reference" in seen:
        main, *others = inputs.references
        blocks.append(Block.of("reference", main, *(f"Accepted too: {other}" for other in others)))
    if "answer" in seen:
        blocks.append(Block.of("answer", inputs.answer or ""))
    return blocks
