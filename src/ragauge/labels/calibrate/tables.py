"""What calibrating a judge is worth, as sections."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.core.messages import format_command, format_count
from ragauge.labels.check.tables import RELIABILITY_COLUMNS, format_figure
from ragauge.rendering.sections import Col, Phrase, ReportSection, build_table
from ragauge.rendering.words import to_line
from ragauge.scores.agreement import AgreementFigure
from ragauge.scores.calibration import JudgeCalibration, describe_weakness

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
    phases = (("before", gain.before), ("after", gain.after)) if calibration.changed else (("raw", gain.before),)
    rows = [
        (when, *map(_format_figure, (side.probabilities.brier, side.log_loss, side.probabilities.auroc)))
        for when, side in phases
    ]
    if calibration.changed:
        rows.append(("difference", _format_figure(gain.brier, "+"), _format_figure(gain.log_loss, "+"), ""))
    numbers = (Col(head, str(place), kind="number") for place, head in enumerate(("Brier", "log loss", "AUROC"), 1))
    table = build_table(rows, Col("", "0"), *numbers)
    choice_text, weak = Phrase(_explain_choice(calibration), "strong"), describe_weakness(gain.to_dict())
    warnings = (weak,) if weak else ()
    yield ReportSection("Calibration", "", (about, *left_out_notes), table, (choice_text,), warnings=warnings)
    tried_table = build_table(
        calibration.tried,
        Col("candidate", lambda tried: f"{tried.name} (chosen)" if tried.name == calibration.chosen else tried.name),
        Col("Brier", "brier", "{:.4f}"),
        Col("better by", "gain", "{:+.4f}"),
        Col("standard error", "error", "{:.4f}"),
    )
    yield ReportSection("Tried", table=tried_table)
    for when, phase in phases:
        supported = Col("labeled supported", "supported", _format_figure, kind="number")
        curve_table = build_table(phase.probabilities.curve, *RELIABILITY_COLUMNS, supported)
        yield ReportSection(f"Reliability ({when})", table=curve_table)
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


def _format_figure(figure: AgreementFigure, sign: str = "") -> str:
    return format_figure(figure, sign, digits=3)
