"""A comparison as Markdown, short enough for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragauge.analysis.diagnosis.readings import words as reading
from ragauge.analysis.results.comparison import Compared, RunComparison, SegmentChange
from ragauge.reporting.comparing import words
from ragauge.reporting.words import ARROWS, UNNAMED, cell, line, opened, safe
from ragauge.text.messages import command

SIGNS = {"better": "▲ better", "worse": "▼ **worse**", "changed": "◆ changed", "not enough data": "? not enough data"}
MOST_SEGMENTS, MOST_FLIPS, MOST_FINDINGS, MOST_IDS = 12, 5, 3, 10
ANSWER = 160


def markdown(compared: Compared) -> str:
    """The verdict, what got worse where, the table, causes, examples that changed sides, and the settings."""
    base = compared.base
    lines: list[str] = []
    for found in compared.runs:
        lines += [f"## {cell(base.name)} → {cell(found.run.name)}", ""]
        lines += [f"**{cell(words.sentence(found))}**", ""]
        lines += [f"> {cell(warning)}\n" for warning in found.warnings]
        lines += _run(found, compared)
        lines.append("")
    runs = (base, *(found.run for found in compared.runs))
    names = (line(run.name).replace("`", "'") for run in runs)
    lines += [f"<sub>{cell(words.method(compared))}</sub>", ""]
    lines += [f"With charts: `{command('compare', *names, '-o', 'change.html')}`"]
    return "\n".join(lines) + "\n"


def _run(found: RunComparison, compared: Compared) -> Iterator[str]:
    if found.worse_segments:
        yield from ("### Segments that got worse", "")
        yield from _segments(found.worse_segments, words.chance_heading(compared))
        yield ""
    interval, chance = f"difference, {compared.level:.0%} interval", words.chance_heading(compared)
    yield f"| | metric | before | now | {interval} | {chance} | won / tied / lost | n |"
    yield "|---|---|--:|--:|---|--:|--:|--:|"
    for verdict in words.VERDICTS:
        for change in words.measured(found):
            if change.verdict == verdict:
                before, now = words.before_after(change)
                cells = (
                    SIGNS.get(verdict, "="), f"{cell(change.metric)}{ARROWS[change.direction]}", before, now,
                    words.difference(change), cell(words.chance(change.corrected)), words.tally(change),
                    f"{change.difference.n:,}",
                )     # fmt: skip
                yield f"| {' | '.join(cells)} |"
    if absent := words.not_measured(found):
        yield from ("", cell(absent))
    if found.possible_segments:
        yield from ("", "<details><summary>Perhaps worse, which may be chance among so many looks</summary>", "")
        yield from _segments(found.possible_segments, words.chance_heading(compared))
        yield from ("", "</details>")
    yield from _amounts(found)
    yield from _findings(found)
    yield from _failures(found)
    yield from _flips(found)
    yield from _settings(found, compared)


def _segments(parts: Sequence[SegmentChange], chance: str) -> Iterator[str]:
    yield from (f"| segment | metric | difference | {chance} | n | overall |", "|---|---|---|--:|--:|--:|")
    for part in parts[:MOST_SEGMENTS]:
        change = part.change
        cells = (
            cell(words.place(part)), f"{cell(change.metric)}{ARROWS[change.direction]}", words.difference(change),
            cell(words.chance(change.corrected)), f"{change.difference.n:,}", words.overall(part),
        )     # fmt: skip
        yield f"| {' | '.join(cells)} |"
    if len(parts) > MOST_SEGMENTS:
        yield f"| and {len(parts) - MOST_SEGMENTS} more | | | | | |"


def _amounts(found: RunComparison) -> Iterator[str]:
    if not found.amounts:
        return
    yield from ("", "| | median before | now | p95 before | now |", "|---|--:|--:|--:|--:|")
    for amount in found.amounts:
        sides = (words.quantile(side[q], amount.metric) for q in (0.5, 0.95) for side in (amount.base, amount.new))
        yield f"| {cell(amount.metric)} | {' | '.join(sides)} |"


def _findings(found: RunComparison) -> Iterator[str]:
    if found.findings:
        yield from ("", "### What the change means", "")
    for place, finding in enumerate(found.findings[:MOST_FINDINGS], 1):
        yield f"{place}. **{opened(cell(finding.headline))}** {cell('; '.join(map(reading, finding.readings)))}"
        yield f"   - Fix: {cell(finding.fix)}"


def _failures(found: RunComparison) -> Iterator[str]:
    failures = found.failures
    if not failures.base and not failures.new:
        return
    yield from ("", "| cause | failed before | now |", "|---|--:|--:|")
    for name in dict.fromkeys((*failures.new, *failures.base)):
        yield f"| {cell(name) or UNNAMED} | {failures.base.get(name, 0):,} | {failures.new.get(name, 0):,} |"
    yield f"| **all** | {failures.failed_base:,} | {failures.failed_new:,} |"


def _flips(found: RunComparison) -> Iterator[str]:
    if not (said := words.flips_line(found)):
        return
    yield from ("", "### Examples that changed sides", "", said, "")
    yield from ("| example | what | before | now |", "|---|---|---|---|")
    for flip in found.flips.shown[:MOST_FLIPS]:
        answers = (
            "no answer" if side.answer is None else line(side.answer, ANSWER) for side in (flip.base, flip.new)
        )
        what = f"{'▼' if flip.lost else '▲'} {words.turned(flip)}; cause {words.causes(flip)}"
        who = f"{line(flip.query_id, 40)}: {line(flip.query, ANSWER)}"
        yield f"| {cell(who)} | {cell(what)} | {' | '.join(map(cell, answers))} |"


def _settings(found: RunComparison, compared: Compared) -> Iterator[str]:
    rows, states = words.settings(found), words.states(found, compared)
    if rows or states:
        yield from ("", "### What differs between the runs", "")
    yield from (f"- {cell(what)}: {cell(before)} → {cell(now)}" for what, before, now in states)
    yield from (f"- {sign} {cell(path)}: {cell(said)}" for sign, path, said in rows)
    for where, count, ids in words.unmatched(found):
        shown = ", ".join(cell(line(one, 40)) for one in ids[:MOST_IDS])
        yield from ("", f"{count:,} {where}: {safe(shown)}{' …' if count > MOST_IDS else ''}")
