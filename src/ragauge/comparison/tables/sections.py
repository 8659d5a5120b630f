"""What a comparison shows: the verdict in a sentence, the table, the segments that moved, examples, settings.

A comparison as one flat table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.comparison.tables import words
from ragauge.comparison.tables.notes import notes
from ragauge.core.messages import command, plural
from ragauge.rendering.sections import (
    Lengths,
    Phrase,
    ReportColumn,
    ReportItem,
    ReportSection,
    ReportTable,
    TableCell,
    Tone,
    Wording,
    columns,
)
from ragauge.rendering.words import ARROWS, UNNAMED, difference, line, opened
from ragauge.scores.indicators import words as reading
from ragauge.scores.results.change import MetricChange
from ragauge.scores.results.comparison import Compared, Failures, Flip, RunComparison, SegmentChange

if TYPE_CHECKING:
    import polars as pl


def table(compared: Compared) -> pl.DataFrame:
    """A row a run, metric and segment; segment and value are null over all examples.

    Columns: run, base, segment, value, metric, n, before, after, difference, low, high, p, p_holm, p_bh, wins, ties,
    losses, failed, verdict, interval (its method), test, low_with_judge, high_with_judge: the ends with the judge's
    error in them, which pages show; null where that is not known.
    """
    import polars as pl

    text, real, whole = pl.String, pl.Float64, pl.Int64
    schema = {
        "run": text,
        "base": text,
        "segment": text,
        "value": text,
        "metric": text,
        "n": whole,
        "before": real,
        "after": real,
        "difference": real,
        "low": real,
        "high": real,
        "p": real,
        "p_holm": real,
        "p_bh": real,
        "wins": whole,
        "ties": whole,
        "losses": whole,
        "failed": whole,
        "verdict": text,
        "interval": text,
        "test": text,
        "low_with_judge": real,
        "high_with_judge": real,
    }
    rows = [row for run in compared.runs for row in _rows(run, compared.base.name)]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _rows(comparison: RunComparison, base: str) -> Iterator[tuple[Any, ...]]:
    for change in comparison.metrics:
        yield (comparison.run.name, base, None, None, *_cells(change))
    for part in comparison.segments:
        yield (comparison.run.name, base, part.column, part.value, *_cells(part.change))


def _cells(change: MetricChange) -> tuple[Any, ...]:
    ends, judged = change.difference.interval, change.difference.judged
    return (
        change.metric,
        change.difference.n,
        change.base,
        change.new,
        change.difference.mean,
        None if ends is None else ends.low,
        None if ends is None else ends.high,
        change.p_value,
        change.holm,
        change.discovery,
        change.wins,
        change.ties,
        change.losses,
        change.failed,
        change.verdict,
        None if ends is None else ends.method,
        change.test or None,
        None if judged is None else judged.low,
        None if judged is None else judged.high,
    )


TONES: Mapping[str, Tone] = {"better": "good", "worse": "bad", "changed": "unsure", "no change seen": "faint"}
MOST_SEGMENTS, MOST_METRICS, MOST_FLIPS, MOST_FINDINGS, MOST_IDS = 6, 2, 5, 3, 10
ANSWER = 150  # characters of an answer


def sections(compared: Compared) -> Iterator[ReportSection]:
    """What a person decides from in ten seconds, and what to look at after that."""
    base, several = compared.base, len(compared.runs) > 1
    if several:
        summaries = tuple(
            (Phrase(f"{run.run.name}: ", "strong"), Phrase(words.sentence(run), TONES.get(run.verdict, "")))
            for run in compared.runs
        )
        note = words.DIFFERENCES.format(base=base.name)
        heading = f"{len(compared.runs)} runs against {base.name}"
        yield ReportSection(heading, lead=summaries, table=overview_table(compared), notes=(note,), top=True)
    for index, run in enumerate(compared.runs, 1):
        yield from _run(index, run, compared)
    methods = " ".join((words.method(compared), *dict.fromkeys(words.methods(run) for run in compared.runs)))
    names = (base.name, *(run.run.name for run in compared.runs))
    yield ReportSection(notes=(methods.strip(),))
    yield ReportSection(
        lead=(Phrase("With charts and both answers of every example that flipped:", "faint"),),
        commands=(command("compare", *map(line, names), "-o", "change.html"),),
    )


def _run(index: int, comparison: RunComparison, compared: Compared) -> Iterator[ReportSection]:
    base, run = comparison.base, comparison.run
    judge = f" · judged by {compared.judge_id}" if compared.judge_id else ""
    tone = TONES.get(comparison.verdict, "strong") if comparison.verdict != "no change seen" else "strong"
    yield ReportSection(
        f"{base.name} → {run.name}",
        f"{base.run_id} → {run.run_id}{judge}",
        (Phrase(words.sentence(comparison), tone),),
        warnings=comparison.warnings,
        top=True,
    )
    better = tuple(part for part in comparison.segments if part.change.verdict == "better")
    if comparison.worse_segments:
        table = segment_table(comparison.worse_segments, compared, index, MOST_METRICS, MOST_SEGMENTS)
        yield ReportSection("Segments that got worse", table=table)
    yield ReportSection(table=metrics_table(comparison, compared, index), notes=notes(comparison))
    if better:
        table = segment_table(better, compared, index, MOST_METRICS, MOST_SEGMENTS)
        yield ReportSection("Segments that got better", table=table)
    if comparison.possible_segments:
        table = segment_table(comparison.possible_segments, compared, index, MOST_METRICS, MOST_SEGMENTS)
        yield ReportSection("Perhaps worse", "may be chance among so many comparisons", table=table)
    if comparison.amounts:
        yield ReportSection("Cost and latency, median and 95th percentile", table=amounts_table(comparison))
    if comparison.findings:
        items = tuple(
            ReportItem(
                opened(finding.headline),
                (("seen", "\n".join(map(reading, finding.readings[:2]))), ("fix", Phrase(finding.fix, "strong"))),
                f"{n}.",
            )
            for n, finding in enumerate(comparison.findings[:MOST_FINDINGS], 1)
        )
        yield ReportSection("What the change means", items=items)
    if (failed := failures_table(comparison.failures)) is not None:
        yield ReportSection("Failures by cause, before and now", table=failed)
    if said := words.flips_line(comparison):
        rest = comparison.flips.lost + comparison.flips.gained - MOST_FLIPS
        more = (f"and {rest:,} more",) if rest > 0 else ()
        items = tuple(map(_flip, comparison.flips.shown[:MOST_FLIPS]))
        yield ReportSection("Examples that flipped", lead=(said,), items=items, notes=more)
    yield _settings(comparison, compared)


def metrics_table(comparison: RunComparison, compared: Compared, index: int) -> ReportTable:
    """Every metric by verdict; `index` is that of the run, by which a page finds the examples behind a difference."""
    rows: list[tuple[TableCell, ...]] = []
    for verdict, (sign, title) in words.VERDICTS.items():
        mine = [change for change in words.measured(comparison) if change.verdict == verdict]
        if mine:
            rows.append(((Phrase(f"{sign} {title}", TONES.get(verdict, "")), f" ({len(mine)})"),))
        for change in mine:
            before, now = words.before_after(change)
            rows.append(
                (
                    _metric(change),
                    (before.partition(" ")[0], " → ", Phrase(now, "strong")),
                    Phrase(difference(change, change.kind), TONES.get(verdict, ""), ("moved", index, change.metric)),
                    words.chance(change.corrected),
                    words.tally(change),
                    _n(change),
                )
            )
    heads = (
        ReportColumn("metric", fold=True),
        ReportColumn("before → now", whole=True, carried=True),
        ReportColumn(f"change, {compared.level:.0%} interval", whole=True),
        ReportColumn(words.chance_heading(compared), "number", whole=True, room=1),
        ReportColumn("won / tied / lost", "number", whole=True, room=3),
        ReportColumn("n", "number", whole=True, room=2),
    )
    return ReportTable(heads, tuple(rows), tight=True)


def segment_table(
    parts: Sequence[SegmentChange], compared: Compared, index: int, metrics: int = 0, segments: int = 0
) -> ReportTable:
    """Changes by segment; of each segment the first few metrics, every one that hides it in its mean before others.

    Args:
        parts: to show.
        compared: what they are of.
        index: of the run.
        metrics: so many of each segment; 0 = all.
        segments: so many of them; 0 = all.
    """
    groups, run = words.by_segment(parts), compared.runs[index - 1].run
    rows: list[tuple[TableCell, ...]] = []
    for where, mine in groups[: segments or None]:
        first = sorted(mine, key=lambda part: not part.hidden)[: metrics or None]
        rows.append((Phrase(where, to=("seg of", run.run_id, mine[0].column, mine[0].value)),))
        for part in first:
            change = part.change
            before, now = words.before_after(change)
            hidden = Phrase(f"{words.overall(part)} hidden", "unsure") if part.hidden else words.overall(part)
            sign, tone = words.VERDICTS[change.verdict][0], TONES.get(change.verdict, "")
            to = ("moved", index, change.metric, part.column, part.value)
            rows.append(
                (
                    _metric(change),
                    (before.partition(" ")[0], " → ", Phrase(now, "strong")),
                    Phrase(f"{sign} {difference(change, change.kind)}", tone, to),
                    words.chance(change.corrected),
                    hidden,
                    words.tally(change),
                    _n(change),
                )
            )
        if len(first) < len(mine):
            rest = f"  and {plural(len(mine) - len(first), 'more metric')}"
            rows.append((Phrase(rest, "faint"), *[""] * 6))
    if segments and len(groups) > segments:
        rows.append((f"and {plural(len(groups) - segments, 'more segment')}",))
    heads = (
        ReportColumn("metric", fold=True),
        ReportColumn("before → now", whole=True, carried=True, room=5),
        ReportColumn("difference", whole=True),
        ReportColumn(words.chance_heading(compared), "number", whole=True, room=3),
        ReportColumn("overall", "number", whole=True, room=1),
        ReportColumn("won / tied / lost", "number", room=4),
        ReportColumn("n", "number", whole=True, room=2),
    )
    return ReportTable(heads, tuple(rows), tight=True)


def _metric(change: MetricChange) -> Wording:
    return Phrase(f"  {change.metric}", to=("def", change.metric)), ARROWS[change.direction]


def _n(change: MetricChange) -> Wording:
    n = f"{change.difference.n:,}"
    return (n, Phrase(f" ({change.failed:,} failed)", "faint")) if change.failed else n


def amounts_table(comparison: RunComparison) -> ReportTable:
    """Quantiles of latency, tokens and cost, with their intervals."""
    heads = [ReportColumn("metric")]
    for head in ("median before", "now", "p95 before", "now"):
        heads += [ReportColumn(head, "number", whole=True), ReportColumn("", whole=True, room=1, joins="after")]
    rows: list[tuple[TableCell, ...]] = []
    for amount in comparison.amounts:
        sides = [side[q] for q in (0.5, 0.95) for side in (amount.base, amount.new)]
        cells = [cell for side in sides for cell in (words.middle(side, amount.metric), words.ends(side))]
        rows.append((amount.metric, *cells, f"{amount.n:,}"))
    return ReportTable((*heads, ReportColumn("n", "number", room=2)), tuple(rows), tight=True)


def failures_table(failures: Failures) -> ReportTable | None:
    """Causes before and now, the most frequent now first; None without failures."""
    names = dict.fromkeys((*failures.new, *failures.base))
    most = max((*failures.new.values(), *failures.base.values()), default=0)
    if not most:
        return None
    rows: list[tuple[TableCell, ...]] = []
    for name in names:
        before, now = failures.base.get(name, 0), failures.new.get(name, 0)
        to = ("behind", name)
        more = f"{now - before:+,}".replace("-", "−") if now != before else ""
        moved = Phrase(more, "bad" if now > before else "good")
        cause = Phrase(line(name) or UNNAMED, to=to)
        rows.append((cause, f"{before:,}", f"{now:,}", Lengths((before / most, now / most), to), moved))
    rows.append(("all failures", f"{failures.failed_base:,}", f"{failures.failed_new:,}", "", ""))
    heads = (
        ReportColumn("cause"),
        *columns(numbers=("before", "now")),
        ReportColumn("before and now", "bar", room=2),
        ReportColumn("change", "number", room=1),
    )
    return ReportTable(heads, tuple(rows), tight=True)


def overview_table(compared: Compared) -> ReportTable:
    """Several runs side by side: a row a metric, a column a run."""
    by_run = [{change.metric: change for change in run.metrics} for run in compared.runs]
    rows: list[tuple[TableCell, ...]] = []
    for name in dict.fromkeys(change.metric for run in compared.runs for change in run.metrics):
        fullest = max((mine[name] for mine in by_run if name in mine), key=lambda change: change.difference.n)
        cells = (
            Phrase("–", "faint") if change is None else Phrase(words.labelled(change), TONES.get(change.verdict, ""))
            for change in (mine.get(name) for mine in by_run)
        )
        metric = (Phrase(name, to=("def", name)), ARROWS[fullest.direction])
        rows.append((metric, words.before_after(fullest)[0], *cells))
    heads = columns(numbers=(line(compared.base.name, 30), *(line(run.run.name, 30) for run in compared.runs)))
    return ReportTable((ReportColumn("metric", fold=True), *heads), tuple(rows), tight=True)


def _flip(flip: Flip) -> ReportItem:
    answers = ["no answer" if side.answer is None else line(side.answer, ANSWER) for side in (flip.base, flip.new)]
    rows = (("before", answers[0]), ("now", answers[1])) if answers[0] != answers[1] else (("answer", "the same"),)
    heading = (Phrase(line(flip.query_id, 40), "bad" if flip.lost else "good"), f"  {line(flip.query, 90)}")
    what = Phrase(f"{words.turned(flip)} · cause {words.causes(flip)}".removeprefix(" · "), "faint")
    return ReportItem(heading, (("what", what), *rows), "▼" if flip.lost else "▲")


def settings_table(comparison: RunComparison, compared: Compared) -> ReportTable | None:
    """What differs between the runs: system, code, set, and every setting; None for nothing."""
    rows: list[tuple[TableCell, ...]] = [
        (f"~ {what}", f"{before} → {now}") for what, before, now in words.states(comparison, compared)
    ]
    tones: Mapping[str, Tone] = {"+": "good", "−": "bad"}
    rows += [
        (f"{sign} {path}", Phrase(words_of, tones.get(sign, ""))) for sign, path, words_of in words.settings(comparison)
    ]
    return (
        ReportTable(
            (ReportColumn("setting", fold=True), ReportColumn("before → now", fold=True)), tuple(rows), bare=True
        )
        if rows
        else None
    )


def _settings(comparison: RunComparison, compared: Compared) -> ReportSection:
    table = settings_table(comparison, compared)
    notes = []
    for where, count, ids in words.unmatched(comparison):
        shown = ", ".join(line(query_id, 40) for query_id in ids[:MOST_IDS])
        rest = f" and {count - MOST_IDS:,} more" if count > MOST_IDS and len(ids) >= MOST_IDS else ""
        notes.append(f"{count:,} {where}: {shown}{rest}")
    lead = () if table is not None else (Phrase("The same settings, as far as they were recorded.", "faint"),)
    return ReportSection("What differs between the runs", lead=lead, table=table, notes=tuple(notes))
