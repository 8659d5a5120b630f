"""The scorecard as Markdown, short enough for a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.analysis.diagnosis.readings import words
from ragauge.analysis.results.scorecard import Finding, ScorecardData
from ragauge.reporting import history, judged, segment_sizes
from ragauge.reporting.confirmed import experiments_say
from ragauge.reporting.losses import sentence
from ragauge.reporting.segments import worst_segments
from ragauge.reporting.words import (
    ARROWS,
    LAYERS,
    UNNAMED,
    against,
    by_layer,
    cell,
    confidence,
    counts,
    difference,
    first_thing,
    headline,
    ignored,
    interval,
    left_out,
    opened,
    outcomes,
    pareto_line,
    safe,
    share,
    verdict,
    with_error,
)  # fmt: skip
from ragauge.text.amounts import number, valued
from ragauge.text.commands import command

MOST_FINDINGS = 3
MOST_CAUSES = 6
SIGNS = {"better": "▲ better", "worse": "▼ **worse**"}


def markdown(card: ScorecardData) -> str:
    """Verdict, changes, scorecard, causes, what to do, worst segments, history, alignment, how far to trust it."""
    lines = [f"## {cell(card.run.name)}", "", f"**{cell(verdict(card))}**", ""]
    if told := outcomes(card):
        lines += [cell(told), ""]
    if first := first_thing(card):
        lines += [f"First thing to do: {cell(first)}", ""]
    if card.baseline is not None:
        lines += [cell(against(card)), ""]
    lines += [f"> {cell(warning)}\n" for warning in card.warnings]
    lines += _scorecard(card)
    for reason, names in left_out(card.summaries):
        lines += ["", f"Not applicable ({cell(reason)}): {cell(', '.join(names))}."]
    lines += _findings(card)
    lines += _causes(card)
    lines += _segments(card)
    lines += history.section(card.history)
    if card.gaps is not None:
        lines += ["", f"**Where quality is lost.** {cell(sentence(card.gaps))}"]
    alignment = card.overview.alignment
    if alignment is not None and alignment.answers:
        lines += ["", f"**Ranking and answers.** {cell(ignored(alignment))}"]
    if card.judge.what:
        unsure = card.judge.uncertain
        middle = f" {unsure:.0%} of the claims lie in its uncertain middle." if unsure is not None else ""
        took = "".join(f" {cell(sentence)}" for sentence in judged.sentences(card.use))
        by = f"Judged by {cell(card.judge.judge_id)}. {cell(card.judge.what)} {cell(card.judge.observed)}"
        lines += ["", f"<sub>{by.strip()}{middle}{took}</sub>"]
    lines += _askings(card)
    name = " ".join(safe(card.run.name).replace("`", "'").split())
    return "\n".join([*lines, "", f"Full report: `{command('report', name, '-o', 'report.html')}`"]) + "\n"


def _askings(card: ScorecardData) -> Iterator[str]:
    """How far the means lie apart between several askings of the judge."""
    rows = judged.spread_rows(card.use)
    if not rows:
        return
    yield from ("", f"### {judged.SPREAD}", "")
    yield f"| {' | '.join(judged.spread_heads(rows))} |"
    yield f"|---|{'--:|' * (len(rows[0].means) + 3)}"
    for row in rows:
        yield f"| {cell(row.metric)} | {' | '.join((*row.means, row.width, row.deviation, row.changed))} |"
    yield from ("", judged.SPREAD_SAYS)


def _scorecard(card: ScorecardData) -> Iterator[str]:
    changes = {change.metric: change for change in card.baseline.changes} if card.baseline else {}
    wide = any(summary.judged for summary in card.summaries)
    yield (
        f"| metric | mean | interval |{' with the judge’s error |' if wide else ''}{' change |' if changes else ''} "
        "micro | counts |"
    )
    yield f"|---|--:|---|{'---|' if wide else ''}{'---|' if changes else ''}--:|---|"
    for layer, summaries in by_layer(card.summaries):
        yield f"| **{LAYERS[layer]}** | | | | |{' |' if wide else ''}{' |' if changes else ''}"
        for summary in summaries:
            change = changes.get(summary.metric)
            said = "" if change is None else (
                f"{difference(change, summary.kind)} {SIGNS.get(change.verdict, change.verdict)}"
            )     # fmt: skip
            yield (
                f"| {cell(summary.metric)}{ARROWS[summary.direction]} "
                f"| {valued(summary.mean, summary.metric, summary.kind)} | {interval(summary)} |"
                f"{f' {with_error(summary)} |' if wide else ''}"
                f"{f' {said} |' if changes else ''} "
                f"{number(summary.micro) if summary.micro is not None else ''} | {counts(summary)} |"
            )


def _findings(card: ScorecardData) -> Iterator[str]:
    if not card.findings:
        return
    yield from ("", "### What to do", "")
    for place, finding in enumerate(card.findings[:MOST_FINDINGS], 1):
        yield from _finding(place, finding, experiments_say(card.confirmed, finding.cause))
    if len(card.findings) > MOST_FINDINGS:
        yield f"\nand {len(card.findings) - MOST_FINDINGS} more in the full report."


def _finding(place: int, finding: Finding, tests: str) -> Iterator[str]:
    yield f"{place}. **{opened(cell(finding.headline))}** ({confidence(finding)}). {cell(finding.evidence)}".rstrip()
    parts = (
        ("Fix", finding.fix), ("Seen", "; ".join(map(words, finding.readings))), ("Tested", tests),
        ("Leave", finding.leave), ("Then measure", finding.measure_again),
    )     # fmt: skip
    yield from (f"   - {label}: {cell(said)}" for label, said in parts if said)


def _causes(card: ScorecardData) -> Iterator[str]:
    if not card.causes:
        return
    yield from ("", "### Failures by cause", "", cell(pareto_line(card)), "")
    beside = " experiments |" if card.confirmed is not None else ""
    yield from (f"| cause | failed examples |{beside}", f"|---|---|{'---|' if beside else ''}")
    for cause, count in list(card.causes.items())[:MOST_CAUSES]:
        said = f" {experiments_say(card.confirmed, cause) or '–'} |" if beside else ""
        yield f"| {cell(cause) or UNNAMED} | {share(count, card.failed_examples)} |{said}"
    rest = sum(list(card.causes.values())[MOST_CAUSES:])
    if rest:
        yield f"| {len(card.causes) - MOST_CAUSES} more | {share(rest, card.failed_examples)} |{' |' if beside else ''}"


def _segments(card: ScorecardData) -> Iterator[str]:
    yield from _worst_segments(card)
    if named := segment_sizes.sizes(card):
        yield from ("", "Examples by segment:", "", *(f"- {cell(one.words)}" for one in named))


def _worst_segments(card: ScorecardData) -> Iterator[str]:
    names = headline(card.summaries)
    worst = worst_segments(card, names)
    if not worst or not names:
        return
    known = any(segment.failed is not None for segment in worst)
    heads = ["segment", "n", *(["failed"] if known else []), *map(cell, names)]
    yield from ("", f"### Worst value of each segment{', where most failed' if known else ''}", "")
    yield from (f"| {' | '.join(heads)} |", "|---|" + "--:|" * (len(heads) - 1))
    for segment in worst:
        cells = [f"{mean} {ends}{' ▼' if worse else ''}".strip() for mean, ends, worse in segment.cells]
        lost = [f"{segment.failed:,}" if segment.failed is not None else "–"] if known else []
        name, n = f"{cell(segment.column)} = {cell(segment.value)}", segment_sizes.counted(segment.n)
        yield f"| {name} | {' | '.join([n, *lost, *cells])} |"
