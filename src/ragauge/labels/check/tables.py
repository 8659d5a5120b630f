"""A judge against people, as sections."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.core.human_labels import TWO_LABELS
from ragauge.core.json_keys import encode, json_property
from ragauge.core.messages import format_count
from ragauge.rendering.judge_usage import format_money
from ragauge.rendering.sections import Col, ReportSection, ReportTable, build_table
from ragauge.rendering.words import make_safe, to_line
from ragauge.rendering.writers import markdown as writer
from ragauge.scores.judge_check import CheckedJudge, Differs, JudgeCheck
from ragauge.scores.judge_usage import list_disagreements

if TYPE_CHECKING:
    from ragauge.scores.agreement import Agreement, AgreementFigure
    from ragauge.stats.agreement import AlternativeAnnotator
    from ragauge.stats.judge_error import JudgeMeanError
    from ragauge.stats.label_gap import LabelGap

PEOPLE = "annotators, each against the others"  # the row of what a judge can be asked for at most
MAX_DIFFERING = 10  # parts that differ, in a terminal
LABEL_WORDS: Mapping[str, str] = {"not_in_context": "not in context", "not_supported": "not supported"}
FIGURES_NOTE = (
    "kappa: agreement beyond chance; 1 = always, 0 = at chance level. balanced: recall averaged over the human labels. "
    "majority: accuracy of always predicting the most common label. AUROC: chance that a supported part gets the "
    "higher probability; 0.5 = no better than chance. Brier: mean squared error of the probabilities. ECE: how far the "
    "probabilities are from the labeled shares; in a small file it is above 0 by chance."
)
MEAN_ERRORS_HEADING = "How far its means are from human labels (saved, and included in its score intervals from now on)"
ALTERNATIVE_HEADING = "Whether it can replace an annotator (alternative annotator test)"
ALPHA_HEADING = "Krippendorff's alpha among annotators, and with each judge added"
DETECTION_FIGURES = {"precision": "precision", "recall": "recall", "F1": "f1", "base rate": "base_rate"}
CHANCE_AUROC = 0.5  # AUROC of a judge that tells nothing
MAX_SLIGHT_KAPPA = 0.2  # a kappa up to which agreement is slight: Landis and Koch (1977)
MIN_PARTS = 50  # parts below which intervals are too wide to choose a judge by
HeadedTable = tuple[str, ReportTable | None]  # heading, table


def build_figure_column(head: str, of: str = "", sign: str = "", **layout: Any) -> Col:
    """A column of numbers with their intervals; `of` and `layout` as of a `Col`."""
    return Col(head, of, lambda figure: format_figure(figure, sign), kind="number", **layout)


RELIABILITY_COLUMNS = (  # of a `ReliabilityBin`
    Col("p", lambda reliability_bin: f"{reliability_bin.least:.2f} to {reliability_bin.most:.2f}"),
    Col("n", "n", "count"),
    Col("mean p", "p", "{:.2f}"),
)
_AGREEMENT_COLUMNS = (  # of rows (name, agreement, …)
    Col("judge", "0"),
    Col("n", "1.n", "count"),
    build_figure_column("accuracy", "1.accuracy"),
    build_figure_column("balanced", "1.balanced_accuracy"),
    build_figure_column("Cohen's kappa", "1.kappa"),
)
LABELED_COLUMNS = (Col("human mean", "1.labels.people", "{:.2f}"), Col("judge mean", "1.labels.judge", "{:.2f}"))


def format_judge_name(judge: CheckedJudge) -> str:
    """What a judge is called in the tables: its spec, and how it was asked.

    The mode stands for itself, since the same model in another one is another judge.
    """
    name, mode = judge.answers.name, judge.answers.mode
    return make_safe(f"{name} ({mode})" if mode and "mode=" not in name else name)


class NamedPair(NamedTuple):
    """Two judges against each other."""

    judge: str
    base: str
    agreement: Agreement
    accuracy_gain: AgreementFigure


@json_property(JudgeCheck, "named_pairs")
def list_named_pairs(check: JudgeCheck) -> list[NamedPair]:
    """Every two judges."""
    names = [format_judge_name(judge) for judge in check.judges]
    return [NamedPair(names[pair.new], names[pair.base], pair.agreement, pair.gain) for pair in check.pairs]


def build_sections(check: JudgeCheck, max_differing: int | None = MAX_DIFFERING) -> Iterator[ReportSection]:
    """The whole report, tables and worst parts, `max_differing` a judge; None for all."""
    yield ReportSection(lead=tuple(_build_lead(check)))
    for heading, table in _build_tables(check):
        if table is not None:
            yield ReportSection(heading, table=table)
    for judge in check.judges:
        if judge.differs:
            after = tuple(
                _format_difference(number, differs) for number, differs in enumerate(judge.differs[:max_differing], 1)
            )
            heading = f"Where {format_judge_name(judge)} and the labels differ ({len(judge.differs):,}), worst first"
            yield ReportSection(heading, after=after)
    yield ReportSection(notes=(FIGURES_NOTE,))


def format_markdown(check: JudgeCheck) -> str:
    """The whole report as Markdown."""
    return writer.render_markdown("Judge check", build_sections(check, None))


def format_json_lines(check: JudgeCheck) -> str:
    """Every part on which a judge and people differ, one a line."""
    rows = [
        {"judge": judge.answers.name, "mode": judge.answers.mode, **encode(differs)}
        for judge in check.judges
        for differs in judge.differs
    ]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _build_lead(check: JudgeCheck) -> Iterator[str]:
    human = ", ".join(f"{count:,} {LABEL_WORDS.get(label, label)}" for label, count in check.human.items())
    yield f"{check.n_rows:,} rows, {check.n_parts:,} labeled parts: {human}"
    if check.repeated:
        yield f"{format_count(check.repeated, 'row')} left out: a later row labels the same text and counts instead"
    if check.bare:
        yield (
            f"{format_count(check.bare, 'row')} without passages: nothing can be supported there; is a column missing?"
        )
    if equal_labels := _describe_equal_labels(check):
        yield equal_labels
    else:
        yield from (text for judge in check.judges if (text := _warn_of_chance(judge, check)))
    for judge in check.judges:
        if count := check.cross_fitted.get(judge.answers.judge_id, 0):
            yield (
                f"{format_judge_name(judge)} was calibrated on {count:,} of these texts: it judges each "
                "without that text's labels (cross-fitted), so that the agreement is not inflated"
            )
    if check.split:
        yield f"{check.split:,} parts are left out because annotators are evenly split on them"
    yield from _describe_scales(check)
    yield from dict.fromkeys(
        disagreement for errors in check.errors.values() for disagreement in list_disagreements(errors)
    )
    if check.weighted:
        yield "row weights count in every share, mean and agreement; counts are of parts"
    if check.annotators is not None and check.annotators.value is not None:
        words = f"agreement among annotators: Fleiss' kappa {check.annotators.value:.2f}"
        ceiling_kappa = None if check.ceiling is None else check.ceiling.kappa.value
        by = "; no judge can be expected to agree more than annotators do with each other: Cohen's kappa"
        yield words if ceiling_kappa is None else f"{words}{by} {ceiling_kappa:.2f}"
    if 0 < check.n_parts < MIN_PARTS:
        yield f"fewer than {MIN_PARTS} labeled parts: the intervals are too wide to choose a judge"
    if check.calls:
        calls = check.calls
        cost = calls["cost"]
        yield (
            f"calls made now: {calls['calls']:,}, stored replies reused: {calls['replies_reused']:,}, "
            f"{format_money(None if cost is None else float(cost))}"
        )
    if check.stopped:
        yield f"Stopped: {check.stopped}"


def _describe_scales(check: JudgeCheck) -> Iterator[str]:
    """Which judges are read by two labels where people used three, and that judges stand on other parts than others."""
    binary_judges = [judge for judge in check.judges if len(judge.whole.labels) < len(check.labels)]
    if binary_judges:
        read = ", ".join(
            f"{format_judge_name(judge)} ({format_count(judge.whole.n, 'part')})" for judge in binary_judges
        )
        yield f"judges with no finer verdict than supported or not: {read}; others use {len(check.labels)} labels"
    if len({frozenset(judge.right) for judge in check.judges}) > 1:
        counts = ", ".join(f"{format_judge_name(judge)} {len(judge.right):,}" for judge in check.judges)
        yield f"judges have verdicts on different parts ({counts}): compare them only in the tables that pair them"


def _describe_equal_labels(check: JudgeCheck) -> str:
    """That people said one thing of everything, by which no judge can be told from one that always says it; else ""."""
    supported, total = check.human.get("supported", 0), sum(check.human.values())
    if not total or 0 < supported < total:
        return ""
    only = LABEL_WORDS["not_supported"] if not supported else "supported"
    return f"all labels are the same ({only}): they cannot show whether a judge recognizes unsupported claims"


def _warn_of_chance(judge: CheckedJudge, check: JudgeCheck) -> str:
    """That a judge is no better than chance on these labels, in plain words; "" where it is, or where that is open.

    By AUROC where it has probabilities, else by kappa of supported or not. No better: the interval holds what chance
    gives or lies below it, and either ends below slight agreement, or the estimate is not above chance.
    """
    name, estimate, chance, slight = "kappa", judge.supported.kappa, 0.0, MAX_SLIGHT_KAPPA
    if judge.probabilities is not None and judge.probabilities.auroc.value is not None:
        name, estimate, chance, slight = "AUROC", judge.probabilities.auroc, CHANCE_AUROC, (1 + MAX_SLIGHT_KAPPA) / 2
    if (
        estimate.value is None
        or estimate.interval is None
        or judge.supported.n < MIN_PARTS
        or estimate.interval.low > chance
    ):
        return ""
    if estimate.interval.high >= slight and estimate.value > chance:
        return ""
    words = f"{format_judge_name(judge)}: this judge does not distinguish supported from unsupported on your labels"
    words += f" ({name} {format_figure(estimate)})."
    contradicted = [error for error in check.errors.get(judge.answers.judge_id, {}).values() if error.is_contradicted()]
    wide = " Your labels contradict the public ones, and its score intervals cover both." if contradicted else ""
    return f"{words}{wide} Do not rely on its scores here: look at the differences below, or use another judge."


def _build_tables(check: JudgeCheck) -> Iterator[HeadedTable]:
    people = () if check.ceiling is None else (check.ceiling,)
    three = any(entry.weighted is not None for entry in (*people, *(judge.whole for judge in check.judges)))
    lacking = Col("no verdict", lambda row: _describe_lacking(row[2], row[1]), kind="number")
    agreed: list[tuple[str, Agreement, CheckedJudge | None]] = [
        (format_judge_name(judge), judge.whole, judge) for judge in check.judges
    ]
    agreed += [(PEOPLE, entry, None) for entry in people]
    weighted = build_figure_column("weighted kappa", "1.weighted") if three else None
    yield "Agreement with human labels", build_table(agreed, *_AGREEMENT_COLUMNS, weighted, lacking)
    if len(check.labels) > len(TWO_LABELS):
        supported = [(format_judge_name(judge), judge.supported, judge) for judge in check.judges]
        yield "Supported or not", build_table(supported, *_AGREEMENT_COLUMNS, lacking)
    if scales := tuple(check.annotators_alpha):
        alphas = [("annotators", check.annotators_alpha)]
        alphas += [(f"annotators and {format_judge_name(judge)}", judge.alphas) for judge in check.judges]
        columns = (build_figure_column(scale, f"1.{scale}") for scale in scales)
        yield ALPHA_HEADING, build_table(alphas, Col("", "0"), *columns)
    tests = [(format_judge_name(judge), test) for judge in check.judges for test in judge.alternatives]
    yield ALTERNATIVE_HEADING, _build_alternative_table(tests)
    yield from _build_detection_tables(check)
    yield from _build_segment_tables(check)
    pairs = build_table(
        check.pairs,
        Col("", lambda pair: " vs ".join(format_judge_name(check.judges[n]) for n in (pair.new, pair.base))),
        Col("n", "agreement.n", "count"),
        build_figure_column("agreement", "agreement.accuracy"),
        build_figure_column("Cohen's kappa", "agreement.kappa"),
        build_figure_column("accuracy difference", "gain", "+"),
    )
    yield "Agreement between judges", pairs
    errors = [
        (f"{format_judge_name(judge)}: {metric}", error)
        for judge in check.judges
        for metric, error in list_labeled_errors(check.errors.get(judge.answers.judge_id, {}))
    ]
    source = Col("from", "1.labels", describe_source, kind="number")
    gap = Col("difference", "1.labels", format_gap, kind="number")
    yield MEAN_ERRORS_HEADING, build_table(errors, Col("judge", "0"), source, *LABELED_COLUMNS, gap)
    yield "Cost", _build_cost_table([judge for judge in check.judges if judge.answers.took.replies], check.n_parts)
    without = [
        (f"{format_judge_name(judge)}: {to_line(reason, 90)}", count)
        for judge in check.judges
        for reason, count in judge.without.items()
    ]
    yield "Reasons for missing verdicts", build_table(without, Col("", "0"), Col("parts", "1", "count"))


def _build_alternative_table(tests: Sequence[tuple[str, AlternativeAnnotator]]) -> ReportTable | None:
    return build_table(
        tests,
        Col("judge", "0"),
        Col("allowance", "1.epsilon", "{:g}"),
        Col("annotators outperformed", lambda row: f"{row[1].winning:.0%} of {row[1].annotators}", kind="number"),
        Col("advantage", "1.advantage", "{:.2f}"),
        Col("can replace one", lambda row: "yes" if row[1].passes else "no", kind="number"),
    )


def _build_cost_table(judges: Sequence[CheckedJudge], n_parts: int) -> ReportTable | None:
    def compute_cost_per_thousand(judge: CheckedJudge) -> float | None:
        cost = judge.answers.took.cost
        return None if cost is None else cost / n_parts * 1_000

    return build_table(
        judges,
        Col("judge", format_judge_name),
        Col("calls", "answers.took.replies", "count"),
        Col("tokens in", "answers.took.input_tokens", "count"),
        Col("tokens out", "answers.took.output_tokens", "count"),
        Col("cost", "answers.took.cost", format_money, kind="number"),
        Col("per 1,000 parts", lambda judge: format_money(compute_cost_per_thousand(judge)), kind="number"),
    )


def _build_segment_tables(check: JudgeCheck) -> Iterator[HeadedTable]:
    """Labels by verdicts of each judge, and agreement in segments."""
    for checked in check.judges:
        labels = [LABEL_WORDS.get(label, label) for label in checked.whole.labels]
        rows = [(f"human: {label}", *counts) for label, counts in zip(labels, checked.whole.table, strict=True)]
        columns = (Col(label, str(place), "count") for place, label in enumerate(labels, 1))
        yield (
            f"{format_judge_name(checked)}: human labels (rows) and verdicts (columns)",
            build_table(rows, Col("", "0"), *columns),
        )
    for column in dict.fromkeys(column for judge in check.judges for column in judge.segments):
        agreements = [
            (f"{to_line(value, 40)}: {format_judge_name(judge)}", agreement)
            for value in dict.fromkeys(v for judge in check.judges for v in judge.segments.get(column, {}))
            for judge in check.judges
            if (agreement := judge.segments.get(column, {}).get(value)) is not None
        ]
        _, n, accuracy, _, kappa = _AGREEMENT_COLUMNS
        yield f"By {make_safe(column)}", build_table(agreements, Col("", "0"), n, accuracy, kappa)


def _build_detection_tables(check: JudgeCheck) -> Iterator[HeadedTable]:
    """What the judges find of what is not supported, and what their probabilities are worth."""
    columns = (build_figure_column(head, f"detection.{of}") for head, of in DETECTION_FIGURES.items())
    majority = Col("majority", "detection.majority", "{:.2f}")
    yield (
        "Detecting what is not supported",
        build_table(check.judges, Col("judge", format_judge_name), *columns, majority),
    )
    sure = [judge for judge in check.judges if judge.probabilities is not None]
    if sure:
        yield (
            "Probabilities",
            build_table(
                sure,
                Col("judge", format_judge_name),
                build_figure_column("AUROC", "probabilities.auroc"),
                build_figure_column("Brier", "probabilities.brier"),
                Col("Brier of the base rate", "probabilities.brier_base", "{:.2f}"),
                Col("ECE", "probabilities.ece", "{:.2f}"),
            ),
        )
    for judge in sure:
        curve = judge.probabilities.curve if judge.probabilities else ()
        table = build_table(curve, *RELIABILITY_COLUMNS, build_figure_column("labeled supported", "supported"))
        yield f"{format_judge_name(judge)}: probabilities and human labels", table


def list_labeled_errors(errors: Mapping[str, JudgeMeanError]) -> list[tuple[str, JudgeMeanError]]:
    """How far a judge's means lie from people's by labels of the user's own, by metric.

    Args:
        errors: printed name of a metric -> how far the judge's mean of it errs.
    """
    return [(metric, error) for metric, error in errors.items() if error.labels is not None and metric != "unsupported"]


def describe_source(labels: LabelGap) -> str:
    """How many labels, examples and files an error rests on."""
    files = f", {labels.files} files" if labels.files > 1 else ""
    return f"{format_count(labels.labels, 'label')}, {format_count(labels.examples, 'example')}{files}"


def format_gap(labels: LabelGap) -> str:
    """People's mean less the judge's with its interval, by labels alone."""
    shift, (low, high) = labels.compute_shift()
    return f"{shift:+.2f} [{low:+.2f}, {high:+.2f}]"


def _describe_lacking(judge: CheckedJudge | None, over: Agreement) -> str:
    """How many parts a judge has no verdict on; "" for people."""
    if judge is None:
        return ""
    lacking = sum(judge.without.values())
    return f"{lacking:,} ({lacking / (over.n + lacking):.0%})" if lacking else "0"


def format_figure(estimate: AgreementFigure | None, sign: str = "", digits: int = 2) -> str:
    """A number with its interval; a dash where there is none, or it is not defined."""
    if estimate is None or estimate.value is None:
        return "–"
    form, interval = f"{sign}.{digits}f", estimate.interval
    text = f"{estimate.value:{form}}"
    return text if interval is None else f"{text} [{interval.low:{form}}, {interval.high:{form}}]"


def _format_difference(number: int, differs: Differs) -> str:
    verdict, text = differs.verdict, differs.text
    sure = "" if verdict.p is None else f" (p {verdict.p:.2f})"
    judge = LABEL_WORDS.get(verdict.label or "", verdict.label or "")
    where = f"line {differs.row.line}" if differs.row.line else to_line(differs.row.query_id, 40)
    # a row without an id of its own is called by its line, one of a run by its id alone
    if differs.row.line and str(differs.row.line) not in differs.row.query_id.split():
        where += f", {to_line(differs.row.query_id, 40)}"
    words = f"{number}. {where}: labeled {LABEL_WORDS.get(differs.human, differs.human)}, judged {judge}{sure}"
    words += f"\n   {to_line(text, 220)}" if text else ""
    if differs.window and verdict.window is not None:
        words += f"\n   passage {verdict.window.passage}: {to_line(differs.window, 220)}"
    return words
