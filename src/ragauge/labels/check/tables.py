"""A judge against people, as sections."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ragauge.core.human_labels import TWO
from ragauge.core.messages import plural
from ragauge.rendering.encoder import encode
from ragauge.rendering.json_values import judge_name, reach_of, window_text
from ragauge.rendering.judge_usage import money
from ragauge.rendering.sections import ReportSection, ReportTable, columns
from ragauge.rendering.words import line, safe
from ragauge.rendering.writers import markdown as writer
from ragauge.scores.judge_usage import disagreements

if TYPE_CHECKING:
    from ragauge.scores.agreement import Agreement, AgreementFigure
    from ragauge.scores.judge_check import CheckedJudge, Differs, JudgeCheck, JudgePair
    from ragauge.stats.judge_error import JudgeMeanError

PEOPLE = "people, each by the others"  # the row of what a judge can be asked for at most
MOST = 10  # parts that differ, in a terminal
WORDS: Mapping[str, str] = {"not_in_context": "not in context", "not_supported": "not supported"}
SAYS = (
    "kappa: agreement beyond chance, 1 = always, 0 = as chance would have it. balanced: mean over the labels of people "
    "of the share that the judge finds. majority: accuracy of always saying what people say most. AUROC: chance that "
    "what is supported has the higher probability, 0.5 = by chance. Brier: mean squared error of the probabilities. "
    "ECE: how far they lie from the shares of people, in a small file above 0 by chance."
)
KEPT = "How far its means lie from people's: kept, and from now on in the intervals of its scores"
STANDS_IN = "Whether it may stand in for an annotator (alternative-annotator test)"
ALPHA = "Krippendorff's alpha among annotators, and with each judge as one more"
LABELLED = ("from", "by people", "by the judge", "difference")  # heads of `labelled_rows` behind the first
EVEN = 0.5  # AUROC of a judge that tells nothing
SLIGHT = 0.2  # a kappa up to which agreement is slight: Landis and Koch (1977)
FEW = 50  # parts below which intervals are too wide to choose a judge by
Rows = list[tuple[str, ...]]
HeadedRows = tuple[str, tuple[str, ...], Rows]  # heading, columns, rows


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
    rows = [
        {"judge": judge.said.name, "mode": judge.said.mode, **encode(differs)}
        for judge in check.judges
        for differs in judge.differs
    ]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _head(check: JudgeCheck) -> Iterator[str]:
    human = ", ".join(f"{count:,} {WORDS.get(label, label)}" for label, count in check.human.items())
    yield f"{check.n_rows:,} rows, {check.n_parts:,} labelled parts: {human}"
    if check.repeated:
        yield f"{plural(check.repeated, 'row')} left out: a later one labels the same text, and counts"
    if check.bare:
        yield f"{plural(check.bare, 'row')} without passages: nothing can be supported there; is a column lacking?"
    if alike := _alike(check):
        yield alike
    else:
        yield from (text for judge in check.judges if (text := _doubted(judge, check)))
    for judge in check.judges:
        if count := check.cross_fitted.get(judge.said.judge_id, 0):
            yield (
                f"{judge_name(judge)} was calibrated by {count:,} of these texts: on each it answers as it is without "
                "that text's labels (cross-fitted), so that they do not flatter it"
            )
    if check.split:
        yield f"{check.split:,} parts are left out: annotators are split on them"
    yield from _scales(check)
    yield from dict.fromkeys(one for errors in check.errors.values() for one in disagreements(errors))
    if check.weighted:
        yield "weights of the rows count in every share, mean and agreement; counts are of parts"
    if check.annotators is not None and check.annotators.value is not None:
        words = f"annotators among themselves: Fleiss' kappa {check.annotators.value:.2f}"
        most = None if check.ceiling is None else check.ceiling.kappa.value
        by = f"; no judge can be asked for more than {PEOPLE} reach: Cohen's kappa"
        yield words if most is None else f"{words}{by} {most:.2f}"
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


def _scales(check: JudgeCheck) -> Iterator[str]:
    """Which judges are read by two labels where people used three, and that judges stand on other parts than others."""
    plain = [judge for judge in check.judges if len(judge.whole.labels) < len(check.labels)]
    if plain:
        read = ", ".join(f"{judge_name(judge)} ({plural(judge.whole.n, 'part')})" for judge in plain)
        yield f"read as supported or not alone, as the judge says no more: {read}; others by {len(check.labels)} labels"
    if len({frozenset(judge.right) for judge in check.judges}) > 1:
        counts = ", ".join(f"{judge_name(judge)} {len(judge.right):,}" for judge in check.judges)
        yield f"judges have verdicts on different parts ({counts}): compare them only where they stand side by side"


def _alike(check: JudgeCheck) -> str:
    """That people said one thing of everything, by which no judge can be told from one that always says it; else ""."""
    supported, total = check.human.get("supported", 0), sum(check.human.values())
    if not total or 0 < supported < total:
        return ""
    only = WORDS["not_supported"] if not supported else "supported"
    return f"all labels are alike ({only}): they cannot show whether a judge tells supported from unsupported"


def _doubted(judge: CheckedJudge, check: JudgeCheck) -> str:
    """That a judge is no better than chance on these labels, in plain words; "" where it is, or where that is open.

    By AUROC where it has probabilities, else by kappa of supported or not. No better: the interval holds what chance
    gives or lies below it, and either ends below slight agreement, or the estimate is not above chance.
    """
    name, found, chance, slight = "kappa", judge.supported.kappa, 0.0, SLIGHT
    if judge.probabilities is not None and judge.probabilities.auroc.value is not None:
        name, found, chance, slight = "AUROC", judge.probabilities.auroc, EVEN, (1 + SLIGHT) / 2
    if found.value is None or found.interval is None or judge.supported.n < FEW or found.interval.low > chance:
        return ""
    if found.interval.high >= slight and found.value > chance:
        return ""
    words = f"{judge_name(judge)}: this judge does not tell supported from unsupported on your labels"
    words += f" ({name} {figure(found)})."
    own = [error for error in check.errors.get(judge.said.judge_id, {}).values() if error.contradicted()]
    wide = " Your labels contradict public ones, and intervals of its scores hold both." if own else ""
    return f"{words}{wide} Do not rely on its scores here: look at what differs, below, or take another judge."


def _tables(check: JudgeCheck) -> Iterator[HeadedRows]:
    people = () if check.ceiling is None else (check.ceiling,)
    three = any(one.weighted is not None for one in (*people, *(judge.whole for judge in check.judges)))
    kappas = ("Cohen's kappa", *(("weighted kappa",) if three else ()))
    figures = ("judge", "n", "accuracy", "balanced", *kappas, "no verdict")
    most = [(PEOPLE, *_agreed(one, three=three), "") for one in people]
    yield "Agreement with people", figures, [*(_line(one, one.whole, three=three) for one in check.judges), *most]
    if len(check.labels) > len(TWO):
        plain = ("judge", "n", "accuracy", "balanced", "Cohen's kappa", "no verdict")
        yield "Supported or not", plain, [_line(judge, judge.supported) for judge in check.judges]
    if check.annotators_alpha:
        yield from _alphas(check)
    if any(judge.alternatives for judge in check.judges):
        yield (
            STANDS_IN,
            ("judge", "allowance", "annotators won", "advantage", "may stand in"),
            [
                (
                    judge_name(judge),
                    f"{test.epsilon:g}",
                    f"{test.winning:.0%} of {test.annotators}",
                    f"{test.advantage:.2f}",
                    "yes" if test.passes else "no",
                )
                for judge in check.judges
                for test in judge.alternatives
            ],
        )
    yield from _telling(check)
    for checked in check.judges:
        labels = [WORDS.get(label, label) for label in checked.whole.labels]
        rows: Rows = [
            (f"people: {label}", *(f"{n:,}" for n in row))
            for label, row in zip(labels, checked.whole.table, strict=True)
        ]
        yield f"{judge_name(checked)}: people (rows) and judge (columns)", ("", *labels), rows
    for column in dict.fromkeys(column for judge in check.judges for column in judge.segments):
        rows = [
            (
                f"{line(value, 40)}: {judge_name(judge)}",
                f"{agreement.n:,}",
                figure(agreement.accuracy),
                figure(agreement.kappa),
            )
            for value in dict.fromkeys(v for judge in check.judges for v in judge.segments.get(column, {}))
            for judge in check.judges
            if (agreement := judge.segments.get(column, {}).get(value)) is not None
        ]
        yield f"By {safe(column)}", ("", "n", "accuracy", "Cohen's kappa"), rows
    if check.pairs:
        pairs: Rows = [_pair(pair, check) for pair in check.pairs]
        yield "Judges among themselves", ("", "n", "the same", "Cohen's kappa", "accuracy gained"), pairs
    kept = _kept(check)
    if kept:
        yield KEPT, ("judge", *LABELLED), kept
    asked = [judge for judge in check.judges if judge.said.took.replies]
    if asked:
        heads = ("judge", "calls", "tokens in", "tokens out", "cost", "per 1,000 parts")
        yield "What it takes", heads, [_cost(one, check.n_parts) for one in asked]
    without: Rows = [
        (f"{judge_name(judge)}: {line(why, 90)}", f"{count:,}")
        for judge in check.judges
        for why, count in judge.without.items()
    ]
    if without:
        yield "Why there is no verdict", ("", "parts"), without


def _alphas(check: JudgeCheck) -> Iterator[HeadedRows]:
    """How far annotators agree, and with each judge as one more of them."""
    scales = tuple(check.annotators_alpha)
    rows: Rows = [("people", *(figure(check.annotators_alpha[scale]) for scale in scales))]
    rows += [
        (f"people and {judge_name(judge)}", *(figure(judge.alphas.get(scale)) for scale in scales))
        for judge in check.judges
    ]
    yield ALPHA, ("", *scales), rows


def _telling(check: JudgeCheck) -> Iterator[HeadedRows]:
    """What the judges find of what is not supported, and what their probabilities are worth."""
    rows: Rows = [
        (
            judge_name(judge),
            *map(figure, (of.precision, of.recall, of.f1, of.base_rate)),
            "–" if of.majority is None else f"{of.majority:.2f}",
        )
        for judge in check.judges
        for of in [judge.detection]
    ]
    yield "Finding what is not supported", ("judge", "precision", "recall", "F1", "base rate", "majority"), rows
    sure = [(judge_name(judge), judge.probabilities) for judge in check.judges if judge.probabilities is not None]
    if sure:
        rows = [(name, figure(p.auroc), figure(p.brier), f"{p.brier_base:.2f}", f"{p.ece:.2f}") for name, p in sure]
        yield "Probabilities", ("judge", "AUROC", "Brier", "of the base rate", "ECE"), rows
    for name, p in sure:
        rows = [
            (f"{bin_.least:.2f} to {bin_.most:.2f}", f"{bin_.n:,}", f"{bin_.p:.2f}", figure(bin_.supported))
            for bin_ in p.curve
        ]
        yield f"{name}: its probabilities and people", ("p", "n", "mean p", "people: supported"), rows


def _kept(check: JudgeCheck) -> Rows:
    """How far each judge's means lie from people's, by all labels kept so far."""
    return [
        row
        for judge in check.judges
        for row in labelled_rows(check.errors.get(judge.said.judge_id, {}), f"{judge_name(judge)}: ")
    ]


def labelled_rows(errors: Mapping[str, JudgeMeanError], before: str = "") -> Rows:
    """How far a judge's means lie from people's by labels of the user's own: a row a metric.

    Args:
        errors: printed name of a metric -> how far the judge's mean of it errs.
        before: what stands before the name.
    """
    return [
        (f"{before}{metric}", _from(error), f"{error.labels.people:.2f}", f"{error.labels.judge:.2f}", _gap(error))
        for metric, error in errors.items()
        if error.labels is not None and metric != "unsupported"
    ]


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


def _line(judge: CheckedJudge, over: Agreement, *, three: bool = False) -> tuple[str, ...]:
    lacking = sum(judge.without.values())
    total = over.n + lacking
    share = f"{lacking:,} ({lacking / total:.0%})" if lacking else "0"
    return judge_name(judge), *_agreed(over, three=three), share


def _agreed(over: Agreement, *, three: bool) -> tuple[str, ...]:
    """The figures of a row; with weighted kappa where another row of the table has one."""
    kappas = (over.kappa, over.weighted) if three else (over.kappa,)
    return f"{over.n:,}", *map(figure, (over.accuracy, over.balanced_accuracy, *kappas))


def _pair(pair: JudgePair, check: JudgeCheck) -> tuple[str, ...]:
    new, base = judge_name(check.judges[pair.new]), judge_name(check.judges[pair.base])
    over = pair.agreement
    return f"{new} against {base}", f"{over.n:,}", figure(over.accuracy), figure(over.kappa), figure(pair.gain, "+")


def _cost(judge: CheckedJudge, parts: int) -> tuple[str, ...]:
    took = judge.said.took
    each = None if took.cost is None else took.cost / parts * 1_000
    tokens = f"{took.input_tokens:,}", f"{took.output_tokens:,}"
    return judge_name(judge), f"{took.replies:,}", *tokens, money(took.cost), money(each)


def figure(found: AgreementFigure | None, sign: str = "") -> str:
    """A number with its interval; a dash where there is none, or it is not defined."""
    if found is None or found.value is None:
        return "–"
    shown = f"{found.value:{sign}.2f}"
    interval = found.interval
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
    words += f"\n   {line(text, 220)}" if text else ""
    window = window_text(differs)
    if window and verdict.window is not None:
        words += f"\n   by passage {verdict.window.passage}: {line(window, 220)}"
    return words
