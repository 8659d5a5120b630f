"""A judge against people, as sections."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ragauge.reporting.encoder import encode
from ragauge.reporting.json_values import judge_name, reach_of, window_text
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
    "of the share that the judge finds. majority: accuracy of always saying what people say most. AUROC: chance that "
    "what is supported has the higher probability, 0.5 = by chance. Brier: mean squared error of the probabilities. "
    "ECE: how far they lie from the shares of people, in a small file above 0 by chance."
)
KEPT = "How far its means lie from people's: kept, and from now on in the intervals of its scores"
ESTIMATED = "Accuracy by the judges' verdicts alone (Dawid and Skene): an estimate, as if they erred independently"
STANDS_IN = "Whether it may stand in for an annotator (alternative-annotator test)"
SLIGHT = 0.2     # a kappa up to which agreement is slight: Landis and Koch (1977)
FEW = 50     # parts below which intervals are too wide to choose a judge by
Rows = list[tuple[str, ...]]
HeadedRows = tuple[str, tuple[str, ...], Rows]     # heading, columns, rows


def sections(check: JudgeCheck, most: int | None = MOST) -> Iterator[ReportSection]:
    """The whole report, tables and worst parts, `most` a judge; None for all."""
    yield ReportSection(lead=tuple(_head(check)))
    for heading, heads, rows in _tables(check):
        yield ReportSection(heading, table=ReportTable(columns(heads[0], numbers=heads[1:]), tuple(rows)))
    for judge in check.judges:
        if judge.differs:
            after = tuple(_differs(number, differs) for number, differs in enumerate(judge.differs[:most], 1))
            yield ReportSection(_differ_heading(judge), after=after)
    yield ReportSection(notes=(SAYS,))


def markdown(check: JudgeCheck) -> str:
    """The whole report as Markdown."""
    return writer.markdown("Judge check", sections(check, None))



def lines(check: JudgeCheck) -> str:
    """Every part on which a judge and people differ, one a line."""
    rows = [{"judge": judge.said.name, "mode": judge.said.mode, **encode(differs)}
            for judge in check.judges for differs in judge.differs]  # fmt: skip
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)



def _head(check: JudgeCheck) -> Iterator[str]:
    human = ", ".join(f"{count:,} {WORDS.get(label, label)}" for label, count in check.human.items())
    yield f"{check.n_rows:,} rows, {check.n_parts:,} labelled parts: {human}"
    if check.repeated:
        yield f"{plural(check.repeated, 'row')} left out: a later one labels the same text, and counts"
    if check.bare:
        yield f"{plural(check.bare, 'row')} without passages: nothing can be supported there; is a column lacking?"
    yield from (text for judge in check.judges if (text := _doubted(judge, check)))
    if check.split:
        yield f"{check.split:,} parts are left out: annotators are split on them"
    if check.annotators is not None and check.annotators.value is not None:
        alpha = "" if check.annotators_alpha is None else f", Krippendorff's alpha {_figure(check.annotators_alpha)}"
        kappa = f"Fleiss' kappa {check.annotators.value:.2f}"
        yield f"annotators among themselves: {kappa}{alpha}; no judge can be asked for more"
    if 0 < check.n_parts < FEW:
        yield f"fewer than {FEW} labelled parts: the intervals are too wide to choose a judge by"
    if check.calls:
        calls = check.calls
        cost = calls["cost"]
        yield (
            f"called now: {calls['calls']:,} times, {calls['replies_reused']:,} stored replies, "
            f"{money(None if cost is None else float(cost))}"
        )
    if check.stopped:
        yield f"Stopped: {check.stopped}"


def _doubted(judge: CheckedJudge, check: JudgeCheck) -> str:
    """That a judge is no better than chance on these labels, in plain words; "" where it is, or where that is open.

    No better: the interval of kappa, by supported or not, ends below SLIGHT, or holds 0 or less while its estimate is
    not above 0.
    """
    kappa = judge.supported.kappa
    if kappa.value is None or kappa.interval is None or judge.supported.n < FEW:
        return ""
    if kappa.interval.high >= SLIGHT and kappa.value > 0:
        return ""
    words = f"{judge_name(judge)}: this judge does not tell supported from unsupported on your labels"
    words += f" (kappa {_figure(kappa)})."
    own = [error for error in check.errors.get(judge.said.judge_id, {}).values() if error.contradicted()]
    wide = " Your labels contradict public ones, and intervals of its scores hold both." if own else ""
    return f"{words}{wide} Do not rely on its scores here: look at what differs, below, or take another judge."


def _tables(check: JudgeCheck) -> Iterator[HeadedRows]:
    three = any(judge.whole.weighted is not None for judge in check.judges)
    kappas = ("Cohen's kappa", *(("weighted kappa",) if three else ()))
    figures = ("judge", "n", "accuracy", "balanced", *kappas, "no verdict")
    most = [] if check.ceiling is None else [("people, each by the others", *_agreed(check.ceiling), "")]
    yield "Agreement with people", figures, [*(_line(judge, judge.whole) for judge in check.judges), *most]
    if len(check.labels) > len(("supported", "not")):
        plain = ("judge", "n", "accuracy", "balanced", "Cohen's kappa", "no verdict")
        yield "Supported or not", plain, [_line(judge, judge.supported) for judge in check.judges]
    if any(judge.alternatives for judge in check.judges):
        yield STANDS_IN, ("judge", "allowance", "annotators won", "advantage", "may stand in"), [
            (judge_name(judge), f"{test.epsilon:g}", f"{test.winning:.0%} of {test.annotators}",
             f"{test.advantage:.2f}", "yes" if test.passes else "no")
            for judge in check.judges for test in judge.alternatives
        ]  # fmt: skip
    yield from _telling(check)
    for checked in check.judges:
        labels = [WORDS.get(label, label) for label in check.labels]
        rows: Rows = [(f"people: {label}", *(f"{n:,}" for n in row)) for label, row in
                      zip(labels, checked.whole.table, strict=True)]  # fmt: skip
        yield f"{judge_name(checked)}: people (rows) and judge (columns)", ("", *labels), rows
    for column in dict.fromkeys(column for judge in check.judges for column in judge.segments):
        rows = [
            (f"{line(value, 40)}: {judge_name(judge)}", f"{agreement.n:,}", _figure(agreement.accuracy),
             _figure(agreement.kappa))
            for value in dict.fromkeys(v for judge in check.judges for v in judge.segments.get(column, {}))
            for judge in check.judges if (agreement := judge.segments.get(column, {}).get(value)) is not None
        ]  # fmt: skip
        yield f"By {safe(column)}", ("", "n", "accuracy", "Cohen's kappa"), rows
    if check.pairs:
        pairs: Rows = [_pair(pair, check) for pair in check.pairs]
        yield "Judges among themselves", ("", "n", "the same", "Cohen's kappa", "accuracy gained"), pairs
    if check.estimated:
        yield ESTIMATED, ("judge", "estimated", "by people"), [
            (judge_name(judge), f"{value:.2f}", _figure(judge.whole.accuracy))
            for judge, value in zip(check.judges, check.estimated, strict=True)
        ]  # fmt: skip
    kept = _kept(check)
    if kept:
        yield KEPT, ("judge", "from", "by people", "by the judge", "difference"), kept
    asked = [judge for judge in check.judges if judge.said.took.replies]
    if asked:
        heads = ("judge", "calls", "tokens in", "tokens out", "cost", "per 1,000 parts")
        yield "What it takes", heads, [_cost(one, check.n_parts) for one in asked]
    without: Rows = [(f"{judge_name(judge)}: {line(why, 90)}", f"{count:,}") for judge in check.judges
                     for why, count in judge.without.items()]  # fmt: skip
    if without:
        yield "Why there is no verdict", ("", "parts"), without


def _telling(check: JudgeCheck) -> Iterator[HeadedRows]:
    """What the judges find of what is not supported, and what their probabilities are worth."""
    rows: Rows = [
        (judge_name(judge), *map(_figure, (of.precision, of.recall, of.f1, of.base_rate)),
         "–" if of.majority is None else f"{of.majority:.2f}")
        for judge in check.judges for of in [judge.detection]
    ]  # fmt: skip
    yield "Finding what is not supported", ("judge", "precision", "recall", "F1", "base rate", "majority"), rows
    sure = [(judge_name(judge), judge.probabilities) for judge in check.judges if judge.probabilities is not None]
    if sure:
        rows = [(name, _figure(p.auroc), _figure(p.brier), f"{p.brier_base:.2f}", f"{p.ece:.2f}") for name, p in sure]
        yield "Probabilities", ("judge", "AUROC", "Brier", "of the base rate", "ECE"), rows
    for name, p in sure:
        rows = [(f"{bin_.least:.2f} to {bin_.most:.2f}", f"{bin_.n:,}", f"{bin_.p:.2f}", _figure(bin_.supported))
                for bin_ in p.curve]  # fmt: skip
        yield f"{name}: its probabilities and people", ("p", "n", "mean p", "people: supported"), rows


def _kept(check: JudgeCheck) -> Rows:
    """How far each judge's means lie from people's, by all labels kept so far."""
    return [
        (
            f"{judge_name(judge)}: {metric}", _from(error), f"{error.labels.people:.2f}", f"{error.labels.judge:.2f}",
            _gap(error),
        )
        for judge in check.judges for metric, error in check.errors.get(judge.said.judge_id, {}).items()
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
    shift, (low, high) = reach_of(error.labels)
    return f"{shift:+.2f} [{low:+.2f}, {high:+.2f}]"



def _line(judge: CheckedJudge, over: Agreement) -> tuple[str, ...]:
    lacking = sum(judge.without.values())
    total = over.n + lacking
    share = f"{lacking:,} ({lacking / total:.0%})" if lacking else "0"
    return judge_name(judge), *_agreed(over), share


def _agreed(over: Agreement) -> tuple[str, ...]:
    kappas = (over.kappa,) if over.weighted is None else (over.kappa, over.weighted)
    return f"{over.n:,}", *map(_figure, (over.accuracy, over.balanced_accuracy, *kappas))


def _pair(pair: JudgePair, check: JudgeCheck) -> tuple[str, ...]:
    new, base = judge_name(check.judges[pair.new]), judge_name(check.judges[pair.base])
    over = pair.agreement
    return f"{new} against {base}", f"{over.n:,}", _figure(over.accuracy), _figure(over.kappa), _figure(pair.gain, "+")


def _cost(judge: CheckedJudge, parts: int) -> tuple[str, ...]:
    took = judge.said.took
    each = None if took.cost is None else took.cost / parts * 1_000
    tokens = f"{took.input_tokens:,}", f"{took.output_tokens:,}"
    return judge_name(judge), f"{took.replies:,}", *tokens, money(took.cost), money(each)


def _figure(figure: AgreementFigure, sign: str = "") -> str:
    if figure.value is None:
        return "–"
    shown = f"{figure.value:{sign}.2f}"
    interval = figure.interval
    return shown if interval is None else f"{shown} [{interval.low:{sign}.2f}, {interval.high:{sign}.2f}]"


def _differ_heading(judge: CheckedJudge) -> str:
    return f"Where {judge_name(judge)} and people differ ({len(judge.differs):,}), worst first"


def _differs(number: int, differs: Differs) -> str:
    verdict, text = differs.verdict, differs.row.answer[differs.part.start : differs.part.end]
    sure = "" if verdict.p is None else f" (p {verdict.p:.2f})"
    judge = WORDS.get(verdict.label or "", verdict.label or "")
    where = f"line {differs.row.line}" if differs.row.line else line(differs.row.query_id, 40)
    # a row without an id of its own is called by its line, one of a run by its id alone
    if differs.row.line and str(differs.row.line) not in differs.row.query_id.split():
        where += f", {line(differs.row.query_id, 40)}"
    words = f"{number}. {where}: people say {WORDS.get(differs.human, differs.human)}, the judge {judge}{sure}"
    words += f"\n   {line(text, 220)}"
    window = window_text(differs)
    if window and verdict.window is not None:
        words += f"\n   by passage {verdict.window.passage}: {line(window, 220)}"
    return words


