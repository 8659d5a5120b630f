"""meet_criteria: which criteria of the run an example meets, each with one sentence of reason."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ragauge.core.ask import Ask, Reply
from ragauge.core.facts import CriteriaFacts, Criterion, CriterionVerdict, VisibleField
from ragauge.judges.inputs import MeetCriteria
from ragauge.judges.judge import AskGenerator
from ragauge.judges.model.prompt_blocks import Block, Prompt, build_turn_blocks
from ragauge.judges.model.question_spec import (
    INTEGER,
    TEXT,
    YES_NO,
    QuestionSpec,
    Schema,
    batch_passages,
    build_list,
    build_object,
)
from ragauge.judges.model.reply_parser import parse_bool, parse_text, parse_whole_number
from ragauge.judges.model.verdicts import VerdictList, ask_each, interleave

VERSION = 1
MAX_REASON_CHARS = 400
NOTHING_RETRIEVED = "(no passage was retrieved)"
MET_TASK = """For every criterion [C1], [C2], …: reason = one sentence that names what decides it; then met = true if \
the criterion is met, false if not."""
LEVEL_TASK = """For every scale [S1], [S2], …: reason = one sentence that names what decides it; then level = the \
number of the level whose description fits best, one of those that stand there."""
EACH_TASK = "Judge each by its own words alone, whatever the others say. Give every number n."
CHECK_PROMPT = Prompt(
    "meet_criteria",
    f"Check these texts against what is asked of them.\n{MET_TASK}\n{LEVEL_TASK}\n{EACH_TASK}",
    f"{MET_TASK}\n{LEVEL_TASK}\nGive every number n.",
    ("question", "passages", "reference", "answer", "criteria", "scales"),
)
FORMS: Mapping[str, Schema] = {
    "criteria": build_list(n=INTEGER, reason=TEXT, met=YES_NO),
    "scales": build_list(n=INTEGER, reason=TEXT, level=INTEGER),
}
SCHEMAS = tuple(
    build_object(**{name: FORMS[name] for name in names})
    for names in (("criteria",), ("scales",), ("criteria", "scales"))
)


@dataclass(frozen=True, slots=True)
class _ItemVerdict:
    """What an item of a reply says: true or false, or a level; two that differ in their reasons alone are one."""

    verdict: bool | int
    reason: str = field(compare=False)


def meet_criteria(inputs: MeetCriteria, question_spec: QuestionSpec) -> AskGenerator:
    """Criteria that see the same go out in one call."""
    groups: dict[frozenset[VisibleField], list[Criterion]] = {}
    for criterion in inputs.criteria:
        groups.setdefault(frozenset(inputs.list_sources(criterion)), []).append(criterion)
    verdict_groups = yield from interleave(
        [_ask_group(group, sources, inputs, question_spec) for sources, group in groups.items()]
    )
    verdicts = {verdict.name: verdict for group in verdict_groups for verdict in group}
    return CriteriaFacts(tuple(verdicts[criterion.name] for criterion in inputs.criteria))


def _ask_group(
    group: Sequence[Criterion], sources: frozenset[VisibleField], inputs: MeetCriteria, question_spec: QuestionSpec
) -> Generator[list[Ask], list[Reply], list[CriterionVerdict]]:
    unscaled = dict(enumerate((criterion for criterion in group if not criterion.levels), 1))
    scaled = dict(enumerate((criterion for criterion in group if criterion.levels), 1))

    def parse_met(item: Mapping[str, Any]) -> _ItemVerdict | None:
        verdict = parse_bool(item.get("met"))
        return None if verdict is None else _ItemVerdict(verdict, _parse_reason(item))

    def parse_level(item: Mapping[str, Any]) -> _ItemVerdict | None:
        criterion, verdict = scaled.get(parse_whole_number(item.get("n")) or 0), parse_whole_number(item.get("level"))
        is_valid = criterion is not None and verdict is not None and 1 <= verdict <= len(criterion.levels)
        return _ItemVerdict(verdict, _parse_reason(item)) if is_valid and verdict is not None else None

    listings = [
        VerdictList(
            name,
            letter,
            {n: _format_criterion(criterion) for n, criterion in texts.items()},
            read,
            lambda verdicts: bool(verdicts.reason),
        )
        for name, letter, texts, read in (("criteria", "C", unscaled, parse_met), ("scales", "S", scaled, parse_level))
        if texts
    ]
    names = [listing.name for listing in listings]
    tasks = {"criteria": MET_TASK, "scales": LEVEL_TASK}
    prompt = replace(
        CHECK_PROMPT, task="\n".join([CHECK_PROMPT.task.split("\n")[0], *map(tasks.__getitem__, names), EACH_TASK])
    )
    blocks = [*_build_blocks(sources, inputs, question_spec), *(listing.build_block() for listing in listings)]
    schema = build_object(**{name: FORMS[name] for name in names})
    replies = yield from ask_each(question_spec, question_spec.build_texts(prompt, *blocks), schema, *listings)
    verdicts = {
        criterion.name: verdict
        for listing, criteria in zip(listings, [each for each in (unscaled, scaled) if each], strict=True)
        for n, criterion in criteria.items()
        if (verdict := replies.of(listing).get(n)) is not None
    }
    return [
        CriterionVerdict.of(criterion, verdicts[criterion.name].verdict, verdicts[criterion.name].reason)
        if criterion.name in verdicts
        else CriterionVerdict.of(criterion, None, replies.reason)
        for criterion in group
    ]


def _format_criterion(criterion: Criterion) -> str:
    levels = [f"Level {n}: {_join_lines(text)}" for n, text in enumerate(criterion.levels, 1)]
    return "\n".join([_join_lines(criterion.text), *levels])


def _join_lines(text: str) -> str:
    return " ".join(text.split())


def _parse_reason(item: Mapping[str, Any]) -> str:
    text = _join_lines(parse_text(item.get("reason")))
    return text if len(text) <= MAX_REASON_CHARS else f"{text[:MAX_REASON_CHARS]}…"


def _build_blocks(sources: frozenset[VisibleField], inputs: MeetCriteria, question_spec: QuestionSpec) -> list[Block]:
    """What these criteria see, in the order of all prompts. All passages go out together: no part decides alone."""
    blocks = build_turn_blocks(inputs.history) if "history" in sources else []
    if "query" in sources:
        blocks.append(Block.of("question", inputs.query))
    if "passages" in sources:
        passages = inputs.passages or ()
        size = max(question_spec.settings.pack, sum(map(len, passages)))
        batches = batch_passages(passages, size)
        blocks += [batch.block for batch in batches] or [Block.of("passages", NOTHING_RETRIEVED)]
    if "reference" in sources:
        main, *others = inputs.references
        blocks.append(Block.of("reference", main, *(f"Accepted too: {other}" for other in others)))
    if "answer" in sources:
        blocks.append(Block.of("answer", inputs.answer or ""))
    return blocks
