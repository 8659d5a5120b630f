"""Judges that the store knows as sections: their list, and how far one can be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragauge.core.messages import command, plural
from ragauge.labels.check.tables import LABELLED, figure, labelled_rows
from ragauge.labels.history import tables as judge_history
from ragauge.rendering.sections import Phrase, ReportColumn, ReportSection, ReportTable, columns
from ragauge.rendering.words import line
from ragauge.scores.judge_usage import disagreements

if TYPE_CHECKING:
    from ragauge.labels.history.compute import CheckStep
    from ragauge.labels.judges.judge_inventory import JudgeTrust, KnownJudge

NO_JUDGE = "No judge has judged a run here, and none was checked. The local one, which needs no key, judges with:"
NEVER = "never"
BY_LABELS = "How far its means lie from people's, by your labels"
UNCHECKED = (
    "Nobody has checked it against people's labels here: how far it is off on your data is not known. Label some "
    "answers, or take labels that you have, and check it:"
)
LAST = "Accuracy and kappa: of the last check, by supported or not. A judge's page has every check, and what changed."
HEADS = (
    ReportColumn("judge", fold=True),
    ReportColumn("runs", "number"),
    ReportColumn("last check", whole=True),
    ReportColumn("n", "number", room=2),
    ReportColumn("accuracy", "number", whole=True),
    ReportColumn("Cohen's kappa", "number", whole=True, room=1),
    ReportColumn("labels", room=3),
)
BY_METRIC = (
    ReportColumn("metric"),
    ReportColumn(LABELLED[0], joins="below"),
    *columns(numbers=LABELLED[1:-1]),
    ReportColumn(LABELLED[-1], "number", whole=True),
)


def name_of(judge: KnownJudge) -> str:
    """What a judge is called: its spec, else its id.

    >>> from ragauge.labels.judges.judge_inventory import KnownJudge
    >>> name_of(KnownJudge("local:9f2", "local", 3)), name_of(KnownJudge("mine", "", 0))
    ('local', 'mine')
    """
    return line(judge.spec or judge.judge_id)


def list_sections(found: Sequence[KnownJudge]) -> Iterator[ReportSection]:
    """Every judge with its last check."""
    if not found:
        yield ReportSection(lead=(NO_JUDGE,), commands=(command("evaluate", "answers.jsonl"),))
        return
    rows = tuple((_named(one), f"{one.runs:,}", *_last(one)) for one in found)
    unchecked = all(one.last is None for one in found)
    yield ReportSection(
        table=ReportTable(HEADS, rows),
        notes=(UNCHECKED,) if unchecked else (LAST,),
        commands=(command("judge", "check", "labels.jsonl"),) if unchecked else (),
    )


def _named(judge: KnownJudge) -> tuple[Phrase, ...]:
    name = Phrase(name_of(judge), to=("judge", judge.judge_id))
    return (name, Phrase(f" {line(judge.judge_id)}", "faint")) if judge.spec not in ("", judge.judge_id) else (name,)


def _last(judge: KnownJudge) -> tuple[str | Phrase, ...]:
    step = judge.last
    if step is None:
        return NEVER, "", "–", "–", ""
    when = Phrase(step.at[:10] + (", fell" if step.fell else ""), "bad" if step.fell else "")
    return when, f"{step.n:,}", figure(step.accuracy), figure(step.kappa), line(step.file, 30)


def trust_sections(found: JudgeTrust) -> Iterator[ReportSection]:
    """How far a judge's means lie from people's, its checks so far, and what it judged."""
    judge = found.judge
    known = f"It judged {plural(judge.runs, 'run')} here. Id: {line(judge.judge_id)}"
    if judge.last is not None:
        yield ReportSection(lead=(_checked(judge.last), known))
    elif found.labels and found.judged:
        run_id = found.drawn[1] if found.drawn is not None else found.judged[0][0]
        check = command("judge", "check", run_id, "--judge", judge.spec or judge.judge_id)
        yield ReportSection(lead=(known, *_compared(found)), warnings=(_unchecked(found.labels),), commands=(check,))
    else:
        check = command("judge", "check", "labels.jsonl", "--judge", judge.spec or judge.judge_id)
        yield ReportSection(lead=(known,), warnings=(UNCHECKED,), commands=(check,))
    if rows := labelled_rows(found.errors):
        table = ReportTable(BY_METRIC, tuple(rows))
        yield ReportSection(BY_LABELS, table=table, notes=disagreements(found.errors))
    if by_origin := _elsewhere(found):
        heads = columns("metric", "how far its means err is known from")
        yield ReportSection("What its intervals rest on", table=ReportTable(heads, by_origin))
    if found.steps:
        first, *rest = judge_history.sections(found.steps)
        yield ReportSection("Checks against people", lead=first.lead, top=True)
        yield from rest
    if found.judged:
        more = judge.runs - len(found.judged)
        runs = tuple((Phrase(line(name), to=("run", run_id)),) for run_id, name in found.judged)
        notes = (f"and {more:,} older.",) if more > 0 else ()
        yield ReportSection("Runs that it judged", table=ReportTable(columns("run"), runs), notes=notes)


def _unchecked(labels: int) -> str:
    return (
        f"No check against people's labels is kept of it: how far it is off on your data is not known. The store has "
        f"{plural(labels, 'label')}; where they are of a run that it judged, check it by them:"
    )


def _compared(found: JudgeTrust) -> tuple[tuple[str | Phrase, ...], ...]:
    """Where its verdicts stand beside the labels of a draw; () where nothing was drawn."""
    if found.drawn is None:
        return ()
    number = str(found.drawn[0])
    return (
        (
            "How far its verdicts agree with what was labelled so far: ",
            Phrase(f"draw {number}", to=("agreement", number)),
            ".",
        ),
    )


def _checked(step: CheckStep) -> tuple[str | Phrase, ...]:
    """The last check, in a sentence."""
    told = f"Last held against people on {step.at[:10]} ({line(step.file, 60)}): the same of supported or not on "
    fell = (Phrase(" It fell since the check before.", "bad"),) if step.fell else ()
    return f"{told}{figure(step.accuracy)} of {plural(step.n, 'part')}, Cohen's kappa {figure(step.kappa)}.", *fell


def _elsewhere(found: JudgeTrust) -> tuple[tuple[Phrase, str], ...]:
    return tuple(
        (Phrase(metric, to=("def", metric)), error.origin) for metric, error in found.errors.items() if error.origin
    )
