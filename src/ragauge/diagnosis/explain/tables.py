"""Explanations as sections: the formula with the numbers put in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from ragauge.core.messages import UNITS, format_count
from ragauge.diagnosis.causes.attribution import describe_missing
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
from ragauge.rendering.words import ARROWS, SHORT_LAYERS, make_safe, opened, to_line
from ragauge.scores.results.explanation import CountedItem, ExampleExplained, MeanWorked, RunExplained, Symbol, Worked

MAX_FOCUSED = 3  # up to so many metrics are explained with the meaning of each symbol and the reason of each item
MAX_NAMED = 12  # items that count, of a metric that is not
FACT_HEADINGS = {
    "record": "Record",
    "answer": "Answer",
    "passages": "Passages",
    "reference": "Reference",
    "labels": "Labels",
}
MARKS: Mapping[float | None, tuple[str, Tone]] = {True: ("+", "good"), False: ("-", "bad"), None: ("?", "unsure")}
LETTER = re.compile(r"(?:^|[ (])([A-Za-z])(?: = |(?= 0\.\d\d))")  # S = {1}, (p 0.97)
LETTERS = {
    "S": "passages that support the claim",
    "X": "passages that contradict the claim",
    "Z": "passages that the claim cites",
    "R": "what the reference says about the claim",
    "q": "1 = relevant to the question",
    "T": "passages that contain the claim",
    "p": "the judge's probability for this",
}
VERDICTS: Mapping[str, tuple[str, Tone]] = {
    "yes": ("the cause", "bad"),
    "second": ("second opinion", "unsure"),
    "also": ("fixed along with it", "faint"),
    "no": ("no", "faint"),
    "unknown": ("unknown", "unsure"),
}
Rows = list[tuple[str, Wording]]  # labels with their words


def build_example_sections(explained: ExampleExplained) -> Iterator[ReportSection]:
    """Facts, every metric with its formula and numbers, and the cause table."""
    repeat = f" (repeat {explained.repeat})" if explained.repeat else ""
    heading = Phrase(f"{make_safe(explained.query_id)}{repeat}  ", "faint"), Phrase(to_line(explained.query), "strong")
    yield ReportSection(
        heading, lead=(to_line(explained.answer) if explained.answer is not None else "the answer was not recorded",)
    )
    for about, group in groupby(explained.facts, key=lambda fact: fact.about):
        facts = list(group)
        yield replace(
            _build_table(
                FACT_HEADINGS[about],
                [
                    (
                        to_line(fact.name, 24),
                        (to_line(fact.says), Phrase(f"\n{to_line(fact.text, 140)}" if fact.text else "", "faint")),
                    )
                    for fact in facts
                ],
            ),
            notes=_explain_letters(fact.says for fact in facts),
        )
    focused = len(explained.metrics) <= MAX_FOCUSED
    for layer, name in SHORT_LAYERS.items():
        if items := tuple(
            _build_metric_item(worked, focused) for worked in explained.metrics if worked.measures == layer
        ):
            yield ReportSection(Phrase(name, "title"), items=items)
    yield from _build_cause_sections(explained)


def _explain_letters(sentences: Iterable[str]) -> tuple[str, ...]:
    """What the letters in a table of facts stand for; nothing where there are none."""
    present_letters = {letter for words in sentences for letter in LETTER.findall(words)}
    meanings = [f"{letter}: {meaning}" for letter, meaning in LETTERS.items() if letter in present_letters]
    return ("; ".join(meanings) + ".",) if meanings else ()


def _build_table(heading: str, rows: Sequence[tuple[TableCell, ...]], lead: tuple[Wording, ...] = ()) -> ReportSection:
    """Rows without heads, the last column as wide as there is room."""
    first = (ReportColumn("", whole=True),) * (len(rows[0]) - 1)
    table = ReportTable((*first, ReportColumn("", fold=True)), tuple(rows), bare=True)
    return ReportSection(Phrase(heading, "title"), lead=lead, table=table)


def _build_metric_item(worked: Worked, focused: bool) -> ReportItem:
    score = worked.score
    reason = f": {to_line(score.reason)}" if score.reason else ""
    lacking = f"  {score.status.replace('_', ' ')}{reason}" if score.value is None else ""
    unit = UNITS.get(worked.metric.partition(":")[0], ("", ""))[1]
    arithmetic = Phrase(f"  {worked.arithmetic}{unit}" if worked.arithmetic else "", "plain")
    heading = f"{worked.metric}{ARROWS[worked.direction]}", Phrase(lacking, "unsure"), arithmetic
    rows: Rows = [("", Phrase(worked.sentence if focused else "", "faint"))]
    rows.append(("", to_line(score.reason) if score.value is not None else ""))
    rows += [("", Phrase(re.sub(" {2,}=", " =", formula), "link")) for formula in worked.formula.splitlines()]
    visible_symbols = [symbol for symbol in worked.symbols if symbol.value and (focused or symbol.meaning != PARAMETER)]
    if focused:
        rows += [
            (symbol.name, (to_line(symbol.value), Phrase(f"  {symbol.meaning}", "faint"))) for symbol in visible_symbols
        ]
        rows += map(_format_item, worked.items)
        rows.append(("", Phrase(worked.cases if score.status != "scored" else "", "faint")))
    else:
        rows.append(
            ("", " · ".join(map(_format_equation, visible_symbols)) if score.status in ("scored", "failed") else "")
        )
        rows.append(("", _format_counted(worked.items)))
    return ReportItem(heading, (*rows, ("", Phrase(worked.note, "unsure"))))


def _format_equation(symbol: Symbol) -> str:
    """A symbol with its value: c = 3; an indexed one is written out already: S[1] = {2}."""
    value = to_line(symbol.value)
    return value if re.match(r"\S+[\[@_]\d+\]? = ", value) else f"{symbol.name} = {value}"


def _format_item(item: CountedItem) -> tuple[str, Wording]:
    """What counts, what does not, and why; of what only probably counts the share that does."""
    sign, tone = MARKS.get(item.counts, (f"{item.counts or 0:.2f}", "unsure"))
    return f"{sign} {to_line(item.name, 40)}", (
        Phrase(to_line(item.why), tone),
        Phrase(f"  {to_line(item.text)}", "faint"),
    )


def _format_counted(items: Sequence[CountedItem]) -> str:
    """The same in one paragraph: what counts, then what does not."""
    groups = []
    for counts, words in ((True, "counted: "), (False, "not counted: "), (None, "no verdict: ")):
        groups.append((words, [to_line(item.name, 40) for item in items if item.counts is counts]))
    shares = [f"{to_line(item.name, 40)} {item.counts:.2f}" for item in items if type(item.counts) is float]
    groups.append(("partly counted: ", shares))
    more = {words: f" and {len(names) - MAX_NAMED} more" for words, names in groups if len(names) > MAX_NAMED}
    return " · ".join(f"{words}{', '.join(names[:MAX_NAMED])}{more.get(words, '')}" for words, names in groups if names)


def _build_cause_sections(explained: ExampleExplained) -> Iterator[ReportSection]:
    if explained.cause is None:
        passed = explained.verdict == "passed"
        sentence = (
            "The example passed."
            if passed
            else f"The example is {EXAMPLE_VERDICTS[explained.verdict]}: {to_line(explained.reason)}."
        )
        settling = opened(settled_by(explained.settled_by))
        lead = (Phrase(sentence, "good" if passed else "unsure"), *((f"{settling}.",) if settling else ()))
        yield ReportSection(lead=lead)
        return
    rows: list[tuple[TableCell, ...]] = []
    for row in explained.rows:
        words, tone = VERDICTS[row.verdict]
        rule = f"{row.rule} " if row.verdict in ("yes", "second") else ""
        rows.append(
            (Phrase(words, tone), Phrase(row.cause, tone), (Phrase(rule, "faint"), to_line(row.why or row.rule)))
        )
    yield _build_table("Why it failed", rows, (f"{to_line(explained.sign)}; the cause is the first row that applies:",))
    lacking = to_line(describe_missing(explained.cause.lacking))
    after = (
        Phrase("" if explained.cause.name else "unclear whether retrieval or generation is at fault", "unsure"),
        Phrase(f"fix: {explained.cause.fix}" if explained.cause.fix else ""),
        Phrase(lacking, "faint"),
        Phrase(to_line(explained.note), "unsure"),
    )
    yield ReportSection(after=tuple(phrase for phrase in after if phrase.text))


def build_run_sections(explained: RunExplained) -> Iterator[ReportSection]:
    """Every mean with its sum and interval, and the findings with their arithmetic."""
    about = f"run {explained.run_id} · {format_count(explained.n, 'example')}"
    about += f" · judged by {make_safe(explained.judge_id)}" if explained.judge_id else ""
    against = f"compared with {to_line(explained.against) if explained.against else 'default thresholds'}"
    yield ReportSection(Phrase(to_line(explained.name), "strong"), about, (f"{explained.failures} · {against}",))
    for layer, name in SHORT_LAYERS.items():
        if items := tuple(
            _build_mean_item(worked, explained.level)
            for worked in explained.metrics
            if worked.summary.measures == layer
        ):
            yield ReportSection(Phrase(name, "title"), items=items)
    findings = (
        ReportItem(
            opened(make_safe(worked.finding.headline)),
            tuple((label, to_line(words)) for label, _, words in (text.partition(": ") for text in worked.lines)),
            f"{index}.",
        )
        for index, worked in enumerate(explained.findings, 1)
    )
    if explained.findings:
        yield ReportSection(Phrase("How each finding was computed", "title"), items=tuple(findings))


def _build_mean_item(worked: MeanWorked, level: float) -> ReportItem:
    summary = worked.summary
    mean = Phrase(f"  {worked.mean}", "plain") if worked.mean else Phrase("  no mean", "unsure")
    without = "; ".join(f"{count} {to_line(reason)}" for reason, count in list(summary.reasons.items())[:3])
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
    return ReportItem(heading, tuple((label, to_line(words)) for label, words in rows))
