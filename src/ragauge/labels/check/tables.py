"""A judge against people, as sections."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ragauge.core.human_labels import TWO_LABELS
from ragauge.core.messages import format_count
from ragauge.rendering.json_forms import encode
from ragauge.rendering.json_values import compute_shift, format_judge_name, window_text
from ragauge.rendering.judge_usage import format_money
from ragauge.rendering.sections import ReportSection, ReportTable, build_columns
from ragauge.rendering.words import make_safe, to_line
from ragauge.rendering.writers import markdown as writer
from ragauge.scores.judge_usage import list_disagreements

if TYPE_CHECKING:
    from ragauge.scores.agreement import Agreement, AgreementFigure
    from ragauge.scores.judge_check import CheckedJudge, Differs, JudgeCheck, JudgePair
    from ragauge.stats.judge_error import JudgeMeanError

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
ALTERNATIVE_HEADERS = ("judge", "allowance", "annotators outperformed", "advantage", "can replace one")
ALPHA_HEADING = "Krippendorff's alpha among annotators, and with each judge added"
LABELED_HEADERS = ("from", "human mean", "judge mean", "difference")  # heads of `build_labeled_rows` behind the first
CHANCE_AUROC = 0.5  # AUROC of a judge that tells nothing
MAX_SLIGHT_KAPPA = 0.2  # a kappa up to which agreement is slight: Landis and Koch (1977)
MIN_PARTS = 50  # parts below which intervals are too wide to choose a judge by
Rows = list[tuple[str, ...]]
HeadedRows = tuple[str, tuple[str, ...], Rows]  # heading, columns, rows


def build_sections(check: JudgeCheck, max_differing: int | None = MAX_DIFFERING) -> Iterator[ReportSection]:
    """The whole report, tables and worst parts, `max_differing` a judge; None for all."""
    yield ReportSection(lead=tuple(_build_lead(check)))
    for heading, headers, rows in _build_tables(check):
        yield ReportSection(heading, table=ReportTable(build_columns(headers[0], numbers=headers[1:]), tuple(rows)))
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


def _build_tables(check: JudgeCheck) -> Iterator[HeadedRows]:
    people = () if check.ceiling is None else (check.ceiling,)
    three = any(entry.weighted is not None for entry in (*people, *(judge.whole for judge in check.judges)))
    kappas = ("Cohen's kappa", *(("weighted kappa",) if three else ()))
    figures = ("judge", "n", "accuracy", "balanced", *kappas, "no verdict")
    ceiling_rows = [(PEOPLE, *_format_agreement(entry, three=three), "") for entry in people]
    yield (
        "Agreement with human labels",
        figures,
        [*(_build_judge_row(entry, entry.whole, three=three) for entry in check.judges), *ceiling_rows],
    )
    if len(check.labels) > len(TWO_LABELS):
        headers = ("judge", "n", "accuracy", "balanced", "Cohen's kappa", "no verdict")
        yield "Supported or not", headers, [_build_judge_row(judge, judge.supported) for judge in check.judges]
    if check.annotators_alpha:
        yield from _build_alpha_table(check)
    if any(judge.alternatives for judge in check.judges):
        yield ALTERNATIVE_HEADING, ALTERNATIVE_HEADERS, list(_build_alternative_rows(check))
    yield from _build_detection_tables(check)
    yield from _build_segment_tables(check)
    if check.pairs:
        pairs: Rows = [_build_pair_row(pair, check) for pair in check.pairs]
        yield "Agreement between judges", ("", "n", "agreement", "Cohen's kappa", "accuracy difference"), pairs
    mean_error_rows = _build_mean_error_rows(check)
    if mean_error_rows:
        yield MEAN_ERRORS_HEADING, ("judge", *LABELED_HEADERS), mean_error_rows
    paid_judges = [judge for judge in check.judges if judge.answers.took.replies]
    if paid_judges:
        cost_headers = ("judge", "calls", "tokens in", "tokens out", "cost", "per 1,000 parts")
        yield "Cost", cost_headers, [_build_cost_row(entry, check.n_parts) for entry in paid_judges]
    without: Rows = [
        (f"{format_judge_name(judge)}: {to_line(reason, 90)}", f"{count:,}")
        for judge in check.judges
        for reason, count in judge.without.items()
    ]
    if without:
        yield "Reasons for missing verdicts", ("", "parts"), without


def _build_alternative_rows(check: JudgeCheck) -> Iterator[tuple[str, ...]]:
    for judge in check.judges:
        for test in judge.alternatives:
            won, passes = f"{test.winning:.0%} of {test.annotators}", "yes" if test.passes else "no"
            yield format_judge_name(judge), f"{test.epsilon:g}", won, f"{test.advantage:.2f}", passes


def _build_segment_tables(check: JudgeCheck) -> Iterator[HeadedRows]:
    """Labels by verdicts of each judge, and agreement in segments."""
    for checked in check.judges:
        labels = [LABEL_WORDS.get(label, label) for label in checked.whole.labels]
        rows: Rows = [
            (f"human: {label}", *(f"{n:,}" for n in row))
            for label, row in zip(labels, checked.whole.table, strict=True)
        ]
        yield f"{format_judge_name(checked)}: human labels (rows) and verdicts (columns)", ("", *labels), rows
    for column in dict.fromkeys(column for judge in check.judges for column in judge.segments):
        rows = [
            (
                f"{to_line(value, 40)}: {format_judge_name(judge)}",
                f"{agreement.n:,}",
                format_figure(agreement.accuracy),
                format_figure(agreement.kappa),
            )
            for value in dict.fromkeys(v for judge in check.judges for v in judge.segments.get(column, {}))
            for judge in check.judges
            if (agreement := judge.segments.get(column, {}).get(value)) is not None
        ]
        yield f"By {make_safe(column)}", ("", "n", "accuracy", "Cohen's kappa"), rows


def _build_alpha_table(check: JudgeCheck) -> Iterator[HeadedRows]:
    """How far annotators agree, and with each judge as one more of them."""
    scales = tuple(check.annotators_alpha)
    rows: Rows = [("annotators", *(format_figure(check.annotators_alpha[scale]) for scale in scales))]
    rows += [
        (f"annotators and {format_judge_name(judge)}", *(format_figure(judge.alphas.get(scale)) for scale in scales))
        for judge in check.judges
    ]
    yield ALPHA_HEADING, ("", *scales), rows


def _build_detection_tables(check: JudgeCheck) -> Iterator[HeadedRows]:
    """What the judges find of what is not supported, and what their probabilities are worth."""
    rows: Rows = [
        (
            format_judge_name(judge),
            *map(format_figure, (of.precision, of.recall, of.f1, of.base_rate)),
            "–" if of.majority is None else f"{of.majority:.2f}",
        )
        for judge in check.judges
        for of in [judge.detection]
    ]
    yield "Detecting what is not supported", ("judge", "precision", "recall", "F1", "base rate", "majority"), rows
    sure = [
        (format_judge_name(judge), judge.probabilities) for judge in check.judges if judge.probabilities is not None
    ]
    if sure:
        rows = [
            (name, format_figure(p.auroc), format_figure(p.brier), f"{p.brier_base:.2f}", f"{p.ece:.2f}")
            for name, p in sure
        ]
        yield "Probabilities", ("judge", "AUROC", "Brier", "Brier of the base rate", "ECE"), rows
    for name, p in sure:
        rows = [
            (f"{bin_.least:.2f} to {bin_.most:.2f}", f"{bin_.n:,}", f"{bin_.p:.2f}", format_figure(bin_.supported))
            for bin_ in p.curve
        ]
        yield f"{name}: probabilities and human labels", ("p", "n", "mean p", "labeled supported"), rows


def _build_mean_error_rows(check: JudgeCheck) -> Rows:
    """How far each judge's means lie from people's, by all labels kept so far."""
    return [
        row
        for judge in check.judges
        for row in build_labeled_rows(check.errors.get(judge.answers.judge_id, {}), f"{format_judge_name(judge)}: ")
    ]


def build_labeled_rows(errors: Mapping[str, JudgeMeanError], prefix: str = "") -> Rows:
    """How far a judge's means lie from people's by labels of the user's own: a row a metric.

    Args:
        errors: printed name of a metric -> how far the judge's mean of it errs.
        prefix: what stands before the name.
    """
    return [
        (
            f"{prefix}{metric}",
            _describe_source(error),
            f"{error.labels.people:.2f}",
            f"{error.labels.judge:.2f}",
            _format_gap(error),
        )
        for metric, error in errors.items()
        if error.labels is not None and metric != "unsupported"
    ]


def _describe_source(error: JudgeMeanError) -> str:
    """How many labels, examples and files an error rests on."""
    labels = error.labels
    if labels is None:
        return ""
    files = f", {labels.files} files" if labels.files > 1 else ""
    return f"{format_count(labels.labels, 'label')}, {format_count(labels.examples, 'example')}{files}"


def _format_gap(error: JudgeMeanError) -> str:
    """People's mean less the judge's with its interval, by labels alone."""
    if error.labels is None:
        return "–"
    shift, (low, high) = compute_shift(error.labels)
    return f"{shift:+.2f} [{low:+.2f}, {high:+.2f}]"


def _build_judge_row(judge: CheckedJudge, over: Agreement, *, three: bool = False) -> tuple[str, ...]:
    lacking = sum(judge.without.values())
    total = over.n + lacking
    share = f"{lacking:,} ({lacking / total:.0%})" if lacking else "0"
    return format_judge_name(judge), *_format_agreement(over, three=three), share


def _format_agreement(over: Agreement, *, three: bool) -> tuple[str, ...]:
    """The figures of a row; with weighted kappa where another row of the table has one."""
    kappas = (over.kappa, over.weighted) if three else (over.kappa,)
    return f"{over.n:,}", *map(format_figure, (over.accuracy, over.balanced_accuracy, *kappas))


def _build_pair_row(pair: JudgePair, check: JudgeCheck) -> tuple[str, ...]:
    new, base = format_judge_name(check.judges[pair.new]), format_judge_name(check.judges[pair.base])
    over = pair.agreement
    return (
        f"{new} vs {base}",
        f"{over.n:,}",
        format_figure(over.accuracy),
        format_figure(over.kappa),
        format_figure(pair.gain, "+"),
    )


def _build_cost_row(judge: CheckedJudge, n_parts: int) -> tuple[str, ...]:
    took = judge.answers.took
    each = None if took.cost is None else took.cost / n_parts * 1_000
    tokens = f"{took.input_tokens:,}", f"{took.output_tokens:,}"
    return format_judge_name(judge), f"{took.replies:,}", *tokens, format_money(took.cost), format_money(each)


def format_figure(estimate: AgreementFigure | None, sign: str = "") -> str:
    """A number with its interval; a dash where there is none, or it is not defined."""
    if estimate is None or estimate.value is None:
        return "–"
    text = f"{estimate.value:{sign}.2f}"
    interval = estimate.interval
    return text if interval is None else f"{text} [{interval.low:{sign}.2f}, {interval.high:{sign}.2f}]"


def _format_difference(number: int, differs: Differs) -> str:
    verdict, text = differs.verdict, differs.row.answer[differs.part.start : differs.part.end]
    sure = "" if verdict.p is None else f" (p {verdict.p:.2f})"
    judge = LABEL_WORDS.get(verdict.label or "", verdict.label or "")
    where = f"line {differs.row.line}" if differs.row.line else to_line(differs.row.query_id, 40)
    # a row without an id of its own is called by its line, one of a run by its id alone
    if differs.row.line and str(differs.row.line) not in differs.row.query_id.split():
        where += f", {to_line(differs.row.query_id, 40)}"
    words = f"{number}. {where}: labeled {LABEL_WORDS.get(differs.human, differs.human)}, judged {judge}{sure}"
    words += f"\n   {to_line(text, 220)}" if text else ""
    window = window_text(differs)
    if window and verdict.window is not None:
        words += f"\n   passage {verdict.window.passage}: {to_line(window, 220)}"
    return words
