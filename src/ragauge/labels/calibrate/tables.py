"""What calibrating a judge is worth, as sections."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.core.messages import command, plural
from ragauge.rendering.sections import Phrase, ReportSection, ReportTable, columns
from ragauge.rendering.words import line
from ragauge.scores.agreement import AgreementFigure
from ragauge.scores.calibration import CalibrationSide, JudgeCalibration, describe_weakness
from ragauge.scores.detection_quality import ReliabilityBin

SAYS = (
    "Brier: mean squared error of the probabilities, 0.25 = always one half. log loss: mean of minus the logarithm of "
    "the probability of what people said. AUROC: chance that what is supported has the higher probability, 0.5 = by "
    "chance."
)
AFTER = (
    "After: each label held against a probability that was fitted without its answer, and without those that share its "
    "question, or its passages and answer (cross-fitted). Texts that were learned from keep these probabilities "
    "whenever this judge is asked about them: checks and label-corrected means by the same labels are not flattered."
)
STAYS = "no candidate is better by one standard error: the judge stays as it is"


def sections(found: JudgeCalibration) -> Iterator[ReportSection]:
    """Before and after, what was tried, and reliability."""
    learned = found.learned
    what = "whole answers" if learned.by == "answer" else "sentences or claims"
    by = f" · guideline {learned.guideline}" if learned.guideline else ""
    about = (
        f"{line(found.base)} by {plural(learned.labels, 'label')} of {what} ({line(learned.source)}{by}): "
        f"{learned.supported:,} supported, {plural(learned.answers, 'answer')}"
    )
    lost = [f"{count:,} left out: {why}" for why, count in learned.without.items()]
    gain = found.gain
    rows = (
        _row("before" if found.changed else "as it is", gain.before),
        _row("after", gain.after),
        ("difference", _figure(gain.brier, "+"), _figure(gain.log_loss, "+"), ""),
    )
    table = ReportTable(columns("", numbers=("Brier", "log loss", "AUROC")), rows if found.changed else rows[:1])
    chosen, weak = Phrase(_why(found), "strong"), describe_weakness(gain.figures())
    warnings = (weak,) if weak else ()
    yield ReportSection("Calibration", "", (about, *lost), table, (chosen,), warnings=warnings)
    tried = [
        (
            f"{one.name} (chosen)" if one.name == found.chosen else one.name,
            f"{one.brier:.4f}",
            f"{one.gain:+.4f}",
            f"{one.error:.4f}",
        )
        for one in found.tried
    ]
    yield ReportSection(
        "Tried", table=ReportTable(columns("candidate", numbers=("Brier", "better by", "standard error")), tuple(tried))
    )
    sides = (("before", gain.before), ("after", gain.after)) if found.changed else (("as it is", gain.before),)
    for when, side in sides:
        heads = columns("p", numbers=("n", "mean p", "people: supported"))
        bins = tuple(_bin(one) for one in side.probabilities.curve)
        yield ReportSection(f"Reliability {when}", table=ReportTable(heads, bins))
    notes = (SAYS, AFTER) if found.changed else (SAYS,)
    yield ReportSection(notes=notes, after=tuple(_use(found)) if found.changed else ())


def _why(found: JudgeCalibration) -> str:
    """What was chosen, and why."""
    if not found.changed:
        return f"Chosen: {found.chosen}; {STAYS}."
    one = next(tried for tried in found.tried if tried.name == found.chosen)
    return (
        f"Chosen: {found.chosen}, better than the judge as it is by {one.gain:.4f} of Brier score "
        f"({one.gain / one.error:.1f} standard errors)."
    )


def _use(found: JudgeCalibration) -> Iterator[str]:
    if found.path:
        yield f"Use it: {command('evaluate', found.run or 'latest', '--judge', f'calibrated:{found.path}')}"


def _row(name: str, side: CalibrationSide) -> tuple[str, ...]:
    p = side.probabilities
    return name, _figure(p.brier), _figure(side.log_loss), _figure(p.auroc)


def _bin(one: ReliabilityBin) -> tuple[str, ...]:
    return f"{one.least:.2f} to {one.most:.2f}", f"{one.n:,}", f"{one.p:.2f}", _figure(one.supported)


def _figure(figure: AgreementFigure, sign: str = "") -> str:
    if figure.value is None:
        return "–"
    interval = figure.interval
    ends = "" if interval is None else f" [{interval.low:{sign}.3f}, {interval.high:{sign}.3f}]"
    return f"{figure.value:{sign}.3f}{ends}"
