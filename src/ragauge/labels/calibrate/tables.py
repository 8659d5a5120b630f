"""What calibrating a judge is worth, as sections."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.core.messages import format_command, format_count
from ragauge.rendering.sections import Phrase, ReportSection, ReportTable, build_columns
from ragauge.rendering.words import to_line
from ragauge.scores.agreement import AgreementFigure
from ragauge.scores.calibration import CalibrationSide, JudgeCalibration, describe_weakness
from ragauge.scores.detection_quality import ReliabilityBin

FIGURES_NOTE = (
    "Brier: mean squared error of the probabilities; 0.25 = always predicting one half. log loss: mean "
    "negative log of the probability given to the human label. AUROC: chance that a supported text gets the "
    "higher probability; 0.5 = no better than chance."
)
AFTER_NOTE = (
    "After: each label is compared with a probability fitted without its answer and without those that share its "
    "question, or its passages and answer (cross-fitted). Texts used for fitting keep these probabilities whenever "
    "this judge is asked about them, so checks and label-corrected means on the same labels are not inflated."
)
UNCHANGED_NOTE = "no candidate is better by one standard error, so the judge is unchanged"


def build_sections(calibration: JudgeCalibration) -> Iterator[ReportSection]:
    """Before and after, what was tried, and reliability."""
    learned = calibration.learned
    what = "whole answers" if learned.by == "answer" else "sentences or claims"
    by = f" · guideline {learned.guideline}" if learned.guideline else ""
    about = (
        f"{to_line(calibration.base)} on {format_count(learned.labels, 'label')} of {what} "
        f"({to_line(learned.source)}{by}): {learned.supported:,} supported, {format_count(learned.answers, 'answer')}"
    )
    left_out_notes = [f"{count:,} left out: {reason}" for reason, count in learned.without.items()]
    gain = calibration.gain
    rows = (
        _build_row("before" if calibration.changed else "raw", gain.before),
        _build_row("after", gain.after),
        ("difference", _format_figure(gain.brier, "+"), _format_figure(gain.log_loss, "+"), ""),
    )
    table = ReportTable(
        build_columns("", numbers=("Brier", "log loss", "AUROC")), rows if calibration.changed else rows[:1]
    )
    choice_text, weak = Phrase(_explain_choice(calibration), "strong"), describe_weakness(gain.to_dict())
    warnings = (weak,) if weak else ()
    yield ReportSection("Calibration", "", (about, *left_out_notes), table, (choice_text,), warnings=warnings)
    tried = [
        (
            f"{entry.name} (chosen)" if entry.name == calibration.chosen else entry.name,
            f"{entry.brier:.4f}",
            f"{entry.gain:+.4f}",
            f"{entry.error:.4f}",
        )
        for entry in calibration.tried
    ]
    yield ReportSection(
        "Tried",
        table=ReportTable(build_columns("candidate", numbers=("Brier", "better by", "standard error")), tuple(tried)),
    )
    phases = (("before", gain.before), ("after", gain.after)) if calibration.changed else (("raw", gain.before),)
    for when, phase in phases:
        headers = build_columns("p", numbers=("n", "mean p", "labeled supported"))
        bins = tuple(_build_bin_row(entry) for entry in phase.probabilities.curve)
        yield ReportSection(f"Reliability ({when})", table=ReportTable(headers, bins))
    notes = (FIGURES_NOTE, AFTER_NOTE) if calibration.changed else (FIGURES_NOTE,)
    yield ReportSection(notes=notes, after=tuple(_advise_use(calibration)) if calibration.changed else ())


def _explain_choice(calibration: JudgeCalibration) -> str:
    """What was chosen, and why."""
    if not calibration.changed:
        return f"Chosen: {calibration.chosen}; {UNCHANGED_NOTE}."
    winner = next(tried for tried in calibration.tried if tried.name == calibration.chosen)
    return (
        f"Chosen: {calibration.chosen}, which lowers the Brier score by {winner.gain:.4f} "
        f"({winner.gain / winner.error:.1f} standard errors)."
    )


def _advise_use(calibration: JudgeCalibration) -> Iterator[str]:
    if calibration.path:
        yield (
            "Use it: "
            f"{format_command('evaluate', calibration.run or 'latest', '--judge', f'calibrated:{calibration.path}')}"
        )


def _build_row(name: str, phase: CalibrationSide) -> tuple[str, ...]:
    p = phase.probabilities
    return name, _format_figure(p.brier), _format_figure(phase.log_loss), _format_figure(p.auroc)


def _build_bin_row(reliability_bin: ReliabilityBin) -> tuple[str, ...]:
    return (
        f"{reliability_bin.least:.2f} to {reliability_bin.most:.2f}",
        f"{reliability_bin.n:,}",
        f"{reliability_bin.p:.2f}",
        _format_figure(reliability_bin.supported),
    )


def _format_figure(figure: AgreementFigure, sign: str = "") -> str:
    if figure.value is None:
        return "–"
    interval = figure.interval
    interval_text = "" if interval is None else f" [{interval.low:{sign}.3f}, {interval.high:{sign}.3f}]"
    return f"{figure.value:{sign}.3f}{interval_text}"
