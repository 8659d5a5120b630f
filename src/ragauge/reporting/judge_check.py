"""A judge against people, as sections and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ragauge.reporting.judged import money
from ragauge.reporting.sections import ReportSection, ReportTable, columns
from ragauge.reporting.words import line, safe
from ragauge.reporting.writers import markdown as writer
from ragauge.text.messages import plural

if TYPE_CHECKING:
    from ragauge.analysis.judges.agreement import Agreement, AgreementFigure
    from ragauge.analysis.judges.check import CheckedJudge, Differs, JudgeCheck, JudgePair
    from ragauge.stats.instrument import JudgeMeanError

MOST = 10     # parts that differ, in a terminal
WORDS: Mapping[str, str] = {"not_in_context": "not in context", "not_supported": "not supported"}
SAYS = (
    "kappa: agreement beyond chance, 1 = always, 0 = as chance would have it. balanced: mean over the labels of people "
    "of the share that the judge finds."
)
KEPT = "How far its means lie from people's: kept, and from now on in the intervals of its scores"
LEVEL = 0.95
SLIGHT = 0.2     # a kappa up to which agreement is slight: Landis and Koch (1977)
FEW = 50     # parts below which intervals are too wide to choose a judge by
Rows = list[tuple[str, ...]]
HeadedRows = tuple[str, tuple[str, ...], Rows]     # heading, columns, rows


def sections(found: JudgeCheck, most: int | None = MOST) -> Iterator[ReportSection]:
    """The whole report, tables and worst parts, `most` a judge; None for all."""
    yield ReportSection(lead=tuple(_head(found)))
    for heading, heads, rows in _tables(found):
        yield ReportSection(heading, table=ReportTable(columns(heads[0], numbers=heads[1:]), tuple(rows)))
    for one in found.judges:
        if one.differs:
            after = tuple(_differs(place, differs) for place, differs in enumerate(one.differs[:most], 1))
            yield ReportSection(_differ_heading(one), after=after)
    yield ReportSection(notes=(SAYS,))


def markdown(found: JudgeCheck) -> str:
    """The whole report as Markdown."""
    return writer.markdown("Judge check", sections(found, None))


def as_json(found: JudgeCheck) -> str:
    """The whole report as JSON."""
    return json.dumps(to_dict(found), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def lines(found: JudgeCheck) -> str:
    """Every part on which a judge and people differ, one a line."""
    rows = [{"judge": one.said.name, "mode": one.said.mode, **_part_json(differs)}
            for one in found.judges for differs in one.differs]  # fmt: skip
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def to_dict(found: JudgeCheck) -> dict[str, Any]:
    """The report as JSON types."""
    names = [name(one) for one in found.judges]
    return {
        "rows": found.n_rows, "parts": found.n_parts, "labels": list(found.labels), "human": dict(found.human),
        "repeated_rows": found.repeated, "rows_without_passages": found.bare,
        "split": found.split, "annotators_kappa": None if found.annotators is None else found.annotators.value,
        "judges": [_judge_json(one, found.errors.get(one.said.judge_id, {})) for one in found.judges],
        "pairs": [
            {
                "judge": names[pair.new], "base": names[pair.base], "agreement": _agreement_json(pair.agreement),
                "accuracy_gain": _figure_json(pair.gain),
            }
            for pair in found.pairs
        ],
        "stopped": found.stopped, **found.calls,
    }  # fmt: skip


def name(one: CheckedJudge) -> str:
    """What a judge is called in the tables: its spec, and how it was asked.

    The mode stands for itself, since the same model in another one is another judge.
    """
    said = one.said
    return safe(f"{said.name} ({said.mode})" if said.mode and "mode=" not in said.name else said.name)


def _head(found: JudgeCheck) -> Iterator[str]:
    human = ", ".join(f"{count:,} {WORDS.get(label, label)}" for label, count in found.human.items())
    yield f"{found.n_rows:,} rows, {found.n_parts:,} labelled parts: {human}"
    if found.repeated:
        yield f"{plural(found.repeated, 'row')} left out: a later one labels the same text, and counts"
    if found.bare:
        yield f"{plural(found.bare, 'row')} without passages: nothing can be supported there; is a column lacking?"
    yield from (text for one in found.judges if (text := _doubted(one, found)))
    if found.split:
        yield f"{found.split:,} parts are left out: annotators are split on them"
    if found.annotators is not None and found.annotators.value is not None:
        yield f"annotators among themselves: Fleiss' kappa {found.annotators.value:.2f}; no judge can be asked for more"
    if 0 < found.n_parts < FEW:
        yield f"fewer than {FEW} labelled parts: the intervals are too wide to choose a judge by"
    if found.calls:
        calls = found.calls
        cost = calls["cost"]
        yield (
            f"called now: {calls['calls']:,} times, {calls['replies_reused']:,} stored replies, "
            f"{money(None if cost is None else float(cost))}"
        )
    if found.stopped:
        yield f"Stopped: {found.stopped}"


def _doubted(one: CheckedJudge, found: JudgeCheck) -> str:
    """That a judge is no better than chance on these labels, in plain words; "" where it is, or where that is open.

    No better: the interval of kappa, by supported or not, ends below SLIGHT, or holds 0 or less while its estimate is
    not above 0.
    """
    kappa = one.supported.kappa
    if kappa.value is None or kappa.interval is None or one.supported.n < FEW:
        return ""
    if kappa.interval.high >= SLIGHT and kappa.value > 0:
        return ""
    said = f"{name(one)}: this judge does not tell supported from unsupported on your labels (kappa {_figure(kappa)})."
    own = [error for error in found.errors.get(one.said.judge_id, {}).values() if error.contradicted()]
    wide = " Your labels contradict public ones, and intervals of its scores hold both." if own else ""
    return f"{said}{wide} Do not rely on its scores here: look at what differs, below, or take another judge."


def _tables(found: JudgeCheck) -> Iterator[HeadedRows]:
    figures = ("judge", "n", "accuracy", "balanced", "Cohen's kappa", "no verdict")
    yield "Agreement with people", figures, [_line(one, one.whole) for one in found.judges]
    if len(found.labels) > len(("supported", "not")):
        yield "Supported or not", figures, [_line(one, one.supported) for one in found.judges]
    for one in found.judges:
        labels = [WORDS.get(label, label) for label in found.labels]
        rows: Rows = [(f"people: {label}", *(f"{n:,}" for n in row)) for label, row in
                      zip(labels, one.whole.table, strict=True)]  # fmt: skip
        yield f"{name(one)}: people (rows) and judge (columns)", ("", *labels), rows
    for column in dict.fromkeys(column for one in found.judges for column in one.segments):
        rows = [
            (f"{line(value, 40)}: {name(one)}", f"{found_.n:,}", _figure(found_.accuracy), _figure(found_.kappa))
            for value in dict.fromkeys(v for one in found.judges for v in one.segments.get(column, {}))
            for one in found.judges if (found_ := one.segments.get(column, {}).get(value)) is not None
        ]  # fmt: skip
        yield f"By {safe(column)}", ("", "n", "accuracy", "Cohen's kappa"), rows
    if found.pairs:
        pairs: Rows = [_pair(pair, found) for pair in found.pairs]
        yield "Judges among themselves", ("", "n", "the same", "Cohen's kappa", "accuracy gained"), pairs
    kept = _kept(found)
    if kept:
        yield KEPT, ("judge", "from", "by people", "by the judge", "difference"), kept
    asked = [one for one in found.judges if one.said.took.replies]
    if asked:
        heads = ("judge", "calls", "tokens in", "tokens out", "cost", "per 1,000 parts")
        yield "What it takes", heads, [_cost(one, found.n_parts) for one in asked]
    without: Rows = [(f"{name(one)}: {line(why, 90)}", f"{count:,}") for one in found.judges
                     for why, count in one.without.items()]  # fmt: skip
    if without:
        yield "Why there is no verdict", ("", "parts"), without


def _kept(found: JudgeCheck) -> Rows:
    """How far each judge's means lie from people's, by all labels kept so far."""
    return [
        (f"{name(one)}: {metric}", _from(error), f"{error.labels.people:.2f}", f"{error.labels.judge:.2f}", _gap(error))
        for one in found.judges for metric, error in found.errors.get(one.said.judge_id, {}).items()
        if error.labels is not None and metric != "unsupported"
    ]  # fmt: skip


def _from(error: JudgeMeanError) -> str:
    """How many labels, examples and files an error rests on."""
    labels = error.labels
    if labels is None:
        return ""
    files = f", {labels.files} files" if labels.files > 1 else ""
    return f"{plural(labels.labels, 'label')}, {plural(labels.examples, 'example')}{files}"


def _gap(error: JudgeMeanError) -> str:
    """People's mean less the judge's with its interval, by labels alone."""
    if error.labels is None:
        return "–"
    found = error.labels.at(error.labels.judge)
    reach = found.reach(LEVEL)
    return f"{found.shift:+.2f} [{max(-1.0, found.shift - reach):+.2f}, {min(1.0, found.shift + reach):+.2f}]"


def error_json(error: JudgeMeanError) -> dict[str, Any]:
    """Where a judge's error comes from, as JSON types; difference = people's mean less the judge's, by labels."""
    found: dict[str, Any] = {"from": error.origin, "public_sources": error.sources, "labels": 0}
    if error.labels is None:
        return found
    labels, at = error.labels, error.labels.at(error.labels.judge)
    return found | {
        "labels": labels.labels, "examples": labels.examples, "files": labels.files, "checked": error.checked,
        "people_mean": labels.people, "judge_mean": labels.judge, "difference": at.shift,
        "difference_ci": [max(-1.0, at.shift - at.reach(LEVEL)), min(1.0, at.shift + at.reach(LEVEL))],
    }  # fmt: skip


def _line(one: CheckedJudge, over: Agreement) -> tuple[str, ...]:
    lacking = sum(one.without.values())
    total = over.n + lacking
    share = f"{lacking:,} ({lacking / total:.0%})" if lacking else "0"
    return name(one), f"{over.n:,}", *map(_figure, (over.accuracy, over.balanced_accuracy, over.kappa)), share


def _pair(pair: JudgePair, found: JudgeCheck) -> tuple[str, ...]:
    new, base = name(found.judges[pair.new]), name(found.judges[pair.base])
    over = pair.agreement
    return f"{new} against {base}", f"{over.n:,}", _figure(over.accuracy), _figure(over.kappa), _figure(pair.gain, "+")


def _cost(one: CheckedJudge, parts: int) -> tuple[str, ...]:
    took = one.said.took
    each = None if took.cost is None else took.cost / parts * 1_000
    tokens = f"{took.input_tokens:,}", f"{took.output_tokens:,}"
    return name(one), f"{took.replies:,}", *tokens, money(took.cost), money(each)


def _figure(figure: AgreementFigure, sign: str = "") -> str:
    if figure.value is None:
        return "–"
    shown = f"{figure.value:{sign}.2f}"
    found = figure.interval
    return shown if found is None else f"{shown} [{found.low:{sign}.2f}, {found.high:{sign}.2f}]"


def _differ_heading(one: CheckedJudge) -> str:
    return f"Where {name(one)} and people differ ({len(one.differs):,}), worst first"


def _differs(place: int, one: Differs) -> str:
    verdict, text = one.verdict, one.row.answer[one.part.start : one.part.end]
    sure = "" if verdict.p is None else f" (p {verdict.p:.2f})"
    judge = WORDS.get(verdict.label or "", verdict.label or "")
    where = f"line {one.row.line}"
    if str(one.row.line) not in one.row.query_id.split():     # a row without an id of its own is called by its line
        where += f", {line(one.row.query_id, 40)}"
    said = f"{place}. {where}: people say {WORDS.get(one.human, one.human)}, the judge {judge}{sure}"
    said += f"\n   {line(text, 220)}"
    window = _window(one)
    if window and verdict.window is not None:
        said += f"\n   by passage {verdict.window.passage}: {line(window, 220)}"
    return said


def _window(one: Differs) -> str:
    window = one.verdict.window
    return "" if window is None else one.row.passages[window.passage - 1][window.start : window.end]


def _judge_json(one: CheckedJudge, errors: Mapping[str, JudgeMeanError]) -> dict[str, Any]:
    said = one.said
    lacking = sum(one.without.values())
    return {
        "judge": said.name, "mode": said.mode, "judge_id": said.judge_id, **_agreement_json(one.whole),
        "supported_or_not": _agreement_json(one.supported),
        "segments": {column: {value: _agreement_json(over) for value, over in values.items()}
                     for column, values in one.segments.items()},
        "error": {metric: error_json(error) for metric, error in errors.items() if error.labels is not None},
        "no_verdict": lacking, "no_verdict_reasons": dict(one.without),
        "took": {
            "replies": said.took.replies, "input_tokens": said.took.input_tokens,
            "output_tokens": said.took.output_tokens, "cost": said.took.cost,
        },
        "differs": [_part_json(differs) for differs in one.differs],
    }  # fmt: skip


def _part_json(one: Differs) -> dict[str, Any]:
    verdict = one.verdict
    window = verdict.window
    return {
        "query_id": one.row.query_id, "line": one.row.line, "query": one.row.query,
        "text": one.row.answer[one.part.start : one.part.end], "human": one.human, "annotators": list(one.part.labels),
        "verdict": verdict.label, "p": verdict.p, "claim": verdict.claim,
        "passage": None if window is None else window.passage, "window": _window(one),
    }  # fmt: skip


def _agreement_json(over: Agreement) -> dict[str, Any]:
    return {
        "n": over.n, "labels": list(over.labels), "confusion": [list(row) for row in over.table],
        "accuracy": _figure_json(over.accuracy), "balanced_accuracy": _figure_json(over.balanced_accuracy),
        "kappa": _figure_json(over.kappa), "found": {label: _figure_json(one) for label, one in over.found.items()},
    }  # fmt: skip


def _figure_json(figure: AgreementFigure) -> dict[str, Any]:
    found = figure.interval
    ends: dict[str, Any] = {"low": None, "high": None, "method": None}
    if found is not None:
        ends = {"low": found.low, "high": found.high, "method": found.method}
    return {"value": figure.value, **ends, "reason": figure.reason}
