"""Explanations as sections: the formula with the numbers put in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from ragauge.core.messages import UNITS, plural
from ragauge.diagnosis.causes.missing_facts import describe_missing
from ragauge.diagnosis.explain.symbols import PARAMETER
from ragauge.rendering.sections import (
    Phrase,
    ReportColumn,
    ReportItem,
    ReportSection,
    ReportTable,
    TableCell,
    Tone,
    Wording,
)
from ragauge.rendering.verdict_texts import VERDICTS as EXAMPLE_VERDICTS
from ragauge.rendering.verdict_texts import settled_by
from ragauge.rendering.words import ARROWS, SHORT_LAYERS, line, opened, safe
from ragauge.scores.results.explanation import CountedItem, ExampleExplained, MeanWorked, RunExplained, Symbol, Worked

FOCUSED = 3  # up to so many metrics are explained with the meaning of each symbol and the reason of each item
MOST_NAMED = 12  # items that count, of a metric that is not
ABOUT = {"record": "Record", "answer": "Answer", "passages": "Passages", "reference": "Reference", "labels": "Labels"}
MARKS: Mapping[float | None, tuple[str, Tone]] = {True: ("+", "good"), False: ("-", "bad"), None: ("?", "unsure")}
LETTER = re.compile(r"(?:^|[ (])([A-Za-z])(?: = |(?= 0\.\d\d))")  # S = {1}, (p 0.97)
LETTERS = {
    "S": "passages that support the claim",
    "X": "passages that contradict it",
    "Z": "passages that it cites",
    "R": "what the reference says of it",
    "q": "1 = relevant to the question",
    "T": "passages that hold the claim",
    "p": "probability that they do, by the judge",
}
VERDICTS: Mapping[str, tuple[str, Tone]] = {
    "yes": ("the cause", "bad"),
    "second": ("second opinion", "unsure"),
    "also": ("mended with it", "faint"),
    "no": ("no", "faint"),
    "unknown": ("not known", "unsure"),
}
Rows = list[tuple[str, Wording]]  # labels with their words


def example_sections(explained: ExampleExplained) -> Iterator[ReportSection]:
    """Facts, every metric with its formula and numbers, and the cause table."""
    repeat = f" (repeat {explained.repeat})" if explained.repeat else ""
    heading = Phrase(f"{safe(explained.query_id)}{repeat}  ", "faint"), Phrase(line(explained.query), "strong")
    yield ReportSection(
        heading, lead=(line(explained.answer) if explained.answer is not None else "answer not recorded",)
    )
    for about, group in groupby(explained.facts, key=lambda fact: fact.about):
        facts = list(group)
        yield replace(
            _table(
                ABOUT[about],
                [
                    (
                        line(fact.name, 24),
                        (line(fact.says), Phrase(f"\n{line(fact.text, 140)}" if fact.text else "", "faint")),
                    )
                    for fact in facts
                ],
            ),
            notes=_letters(fact.says for fact in facts),
        )
    focused = len(explained.metrics) <= FOCUSED
    for layer, name in SHORT_LAYERS.items():
        if mine := tuple(_metric(worked, focused) for worked in explained.metrics if worked.measures == layer):
            yield ReportSection(Phrase(name, "title"), items=mine)
    yield from _cause(explained)


def _letters(said: Iterable[str]) -> tuple[str, ...]:
    """What the letters in a table of facts stand for; nothing where there are none."""
    there = {letter for words in said for letter in LETTER.findall(words)}
    named = [f"{letter}: {meaning}" for letter, meaning in LETTERS.items() if letter in there]
    return ("; ".join(named) + ".",) if named else ()


def _table(heading: str, rows: Sequence[tuple[TableCell, ...]], lead: tuple[Wording, ...] = ()) -> ReportSection:
    """Rows without heads, the last column as wide as there is room."""
    first = (ReportColumn("", whole=True),) * (len(rows[0]) - 1)
    table = ReportTable((*first, ReportColumn("", fold=True)), tuple(rows), bare=True)
    return ReportSection(Phrase(heading, "title"), lead=lead, table=table)


def _metric(worked: Worked, focused: bool) -> ReportItem:
    score = worked.score
    reason = f": {line(score.reason)}" if score.reason else ""
    lacking = f"  {score.status.replace('_', ' ')}{reason}" if score.value is None else ""
    unit = UNITS.get(worked.metric.partition(":")[0], ("", ""))[1]
    arithmetic = Phrase(f"  {worked.arithmetic}{unit}" if worked.arithmetic else "", "plain")
    heading = f"{worked.metric}{ARROWS[worked.direction]}", Phrase(lacking, "unsure"), arithmetic
    rows: Rows = [("", Phrase(worked.sentence if focused else "", "faint"))]
    rows.append(("", line(score.reason) if score.value is not None else ""))
    rows += [("", Phrase(re.sub(" {2,}=", " =", formula), "link")) for formula in worked.formula.splitlines()]
    shown = [symbol for symbol in worked.symbols if symbol.value and (focused or symbol.meaning != PARAMETER)]
    if focused:
        rows += [(symbol.name, (line(symbol.value), Phrase(f"  {symbol.meaning}", "faint"))) for symbol in shown]
        rows += map(_item, worked.items)
        rows.append(("", Phrase(worked.cases if score.status != "scored" else "", "faint")))
    else:
        rows.append(("", " · ".join(map(_equation, shown)) if score.status in ("scored", "failed") else ""))
        rows.append(("", _counted(worked.items)))
    return ReportItem(heading, (*rows, ("", Phrase(worked.note, "unsure"))))


def _equation(symbol: Symbol) -> str:
    """A symbol with its value: c = 3; an indexed one is written out already: S[1] = {2}."""
    value = line(symbol.value)
    return value if re.match(r"\S+[\[@_]\d+\]? = ", value) else f"{symbol.name} = {value}"


def _item(item: CountedItem) -> tuple[str, Wording]:
    """What counts, what does not, and why; of what only probably counts the share that does."""
    sign, tone = MARKS.get(item.counts, (f"{item.counts or 0:.2f}", "unsure"))
    return f"{sign} {line(item.name, 40)}", (Phrase(line(item.why), tone), Phrase(f"  {line(item.text)}", "faint"))


def _counted(items: Sequence[CountedItem]) -> str:
    """The same in one paragraph: what counts, then what does not."""
    parts = []
    for counts, words in ((True, "counted: "), (False, "not counted: "), (None, "no verdict: ")):
        parts.append((words, [line(item.name, 40) for item in items if item.counts is counts]))
    shares = [f"{line(item.name, 40)} {item.counts:.2f}" for item in items if type(item.counts) is float]
    parts.append(("counted in part: ", shares))
    more = {words: f" and {len(names) - MOST_NAMED} more" for words, names in parts if len(names) > MOST_NAMED}
    return " · ".join(f"{words}{', '.join(names[:MOST_NAMED])}{more.get(words, '')}" for words, names in parts if names)


def _cause(explained: ExampleExplained) -> Iterator[ReportSection]:
    if explained.cause is None:
        passed = explained.verdict == "passed"
        sentence = "It passed." if passed else f"It is {EXAMPLE_VERDICTS[explained.verdict]}: {line(explained.reason)}."
        settling = opened(settled_by(explained.settled_by))
        lead = (Phrase(sentence, "good" if passed else "unsure"), *((f"{settling}.",) if settling else ()))
        yield ReportSection(lead=lead)
        return
    rows: list[tuple[TableCell, ...]] = []
    for row in explained.rows:
        words, tone = VERDICTS[row.verdict]
        rule = f"{row.rule} " if row.verdict in ("yes", "second") else ""
        rows.append((Phrase(words, tone), Phrase(row.cause, tone), (Phrase(rule, "faint"), line(row.why or row.rule))))
    yield _table("Why it failed", rows, (f"{line(explained.sign)}; the cause is the first row that applies:",))
    lacking = line(describe_missing(explained.cause.lacking))
    after = (
        Phrase("" if explained.cause.name else "unclear whether retrieval or generation is at fault", "unsure"),
        Phrase(f"fix: {explained.cause.fix}" if explained.cause.fix else ""),
        Phrase(lacking, "faint"),
        Phrase(line(explained.note), "unsure"),
    )
    yield ReportSection(after=tuple(phrase for phrase in after if phrase.text))


def run_sections(explained: RunExplained) -> Iterator[ReportSection]:
    """Every mean with its sum and interval, and the findings with their arithmetic."""
    about = f"run {explained.run_id} · {plural(explained.n, 'example')}"
    about += f" · judged by {safe(explained.judge_id)}" if explained.judge_id else ""
    against = f"held against {line(explained.against)}" if explained.against else "held against starting points"
    yield ReportSection(Phrase(line(explained.name), "strong"), about, (f"{explained.failures} · {against}",))
    for layer, name in SHORT_LAYERS.items():
        if mine := tuple(
            _mean(worked, explained.level) for worked in explained.metrics if worked.summary.measures == layer
        ):
            yield ReportSection(Phrase(name, "title"), items=mine)
    findings = (
        ReportItem(
            opened(safe(worked.finding.headline)),
            tuple((label, line(words)) for label, _, words in (text.partition(": ") for text in worked.lines)),
            f"{index}.",
        )
        for index, worked in enumerate(explained.findings, 1)
    )
    if explained.findings:
        yield ReportSection(Phrase("What each finding rests on", "title"), items=tuple(findings))


def _mean(worked: MeanWorked, level: float) -> ReportItem:
    summary = worked.summary
    mean = Phrase(f"  {worked.mean}", "plain") if worked.mean else Phrase("  no mean", "unsure")
    without = "; ".join(f"{count} {line(reason)}" for reason, count in list(summary.reasons.items())[:3])
    rows = (
        (f"{level:.0%}", worked.interval or f"no interval: {worked.why_none}"),
        ("judge", worked.judged),
        ("n", worked.counts),
        ("micro", worked.micro),
        ("failed", worked.bounds),
        ("also", ", ".join(f"p{100 * level:g} = {value:,.4g}" for level, value in summary.quantiles.items())),
        ("without", without),
    )
    heading = f"{summary.metric}{ARROWS[summary.direction]}", mean
    return ReportItem(heading, tuple((label, line(words)) for label, words in rows))
