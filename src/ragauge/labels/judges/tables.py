"""Judges that the store knows as sections: their list, and how far one can be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragauge.core.messages import format_command, format_count
from ragauge.labels.check.tables import (
    LABELED_COLUMNS,
    build_figure_column,
    describe_source,
    format_figure,
    format_gap,
    list_labeled_errors,
)
from ragauge.rendering.sections import Col, Phrase, ReportSection, build_table
from ragauge.rendering.words import to_line
from ragauge.scores.judge_usage import list_disagreements

if TYPE_CHECKING:
    from ragauge.labels.judges.compute import CheckStep, JudgeTrust, KnownJudge

NO_CHECK_NOTE = "No judge has been checked yet. ragauge judge check FILE --judge JUDGE checks one and saves the result."
FIGURES_NOTE = (
    "accuracy and kappa are on supported or not. change: accuracy minus that of the previous check, on the "
    "parts that both share with the same labels, using this check's weights (0 where only weights changed, "
    "even if the accuracies differ); otherwise on all parts of both checks as two samples, which different "
    "texts can also change. A judge's accuracy fell if the whole interval of the change is below 0."
)


def build_history_sections(steps: Sequence[CheckStep]) -> Iterator[ReportSection]:
    """What fell, then a table a judge, oldest check first."""
    if not steps:
        yield ReportSection(lead=(NO_CHECK_NOTE,))
        return
    fell = [step for step in steps if step.fell]
    yield ReportSection(lead=tuple((Phrase(_describe_fall(step), "bad"),) for step in fell) or ("No judge got worse.",))
    for name in dict.fromkeys(step.name for step in steps):
        table = build_table(
            [step for step in steps if step.name == name],
            Col("checked", lambda step: step.at[:16].replace("T", " "), whole=True),
            Col("labels", "file", cut=30, room=1),
            Col("n", "n", "count", whole=True),
            build_figure_column("accuracy", whole=True),
            build_figure_column("Cohen's kappa", "kappa", whole=True, room=2),
            Col("change", _describe_change, kind="number", whole=True),
            Col("on", _describe_compared),
        )
        yield ReportSection(to_line(name), table=table)
    yield ReportSection(notes=(FIGURES_NOTE,))


def _describe_change(step: CheckStep) -> Phrase:
    return Phrase(format_figure(step.change, "+") if step.pairs else "first check", "bad" if step.fell else "")


def _describe_compared(step: CheckStep) -> str:
    on = f"{step.compared:,} shared parts" if step.pairs == "same" else "different parts" if step.pairs else ""
    on += ", only weights changed" if step.reweighted else ""
    on += ", new judge id" if step.judge_changed else ""
    return ", ".join(filter(None, [on, "forgotten" if step.forgotten else ""]))


def _describe_fall(step: CheckStep) -> str:
    on = f"{step.compared:,} shared parts" if step.pairs == "same" else "different parts"
    id_ = "; its id changed" if step.judge_changed else ""
    return f"{to_line(step.name)}: accuracy fell on {step.at[:10]}, by {format_figure(step.change, '+')} on {on}{id_}."


NO_JUDGE = "No judge has judged a run here, and none has been checked. To use the local judge, which needs no key:"
NEVER = "never"
LABELS_HEADING = "How far its means are from human labels"
UNCHECKED = (
    "It has not been checked against human labels here, so its accuracy on your data is unknown. Label some "
    "answers, or use labels that you have, and check it:"
)
LAST_CHECK_NOTE = "Accuracy and kappa are from the last check, on supported or not. A judge's page shows every check."


def format_name(judge: KnownJudge) -> str:
    """What a judge is called: its spec, else its id.

    >>> from ragauge.labels.judges.compute import KnownJudge
    >>> format_name(KnownJudge("local:9f2", "local", 3)), format_name(KnownJudge("mine", "", 0))
    ('local', 'mine')
    """
    return to_line(judge.spec or judge.judge_id)


def build_list_sections(judges: Sequence[KnownJudge]) -> Iterator[ReportSection]:
    """Every judge with its last check."""
    if not judges:
        yield ReportSection(lead=(NO_JUDGE,), commands=(format_command("evaluate", "answers.jsonl"),))
        return
    table = build_table(
        judges,
        Col("judge", _format_name_with_id, fold=True),
        Col("runs", "runs", "count"),
        Col("last check", _format_last_check, whole=True),
        Col("n", lambda judge: judge.last.n if judge.last else "", "count", room=2),
        build_figure_column("accuracy", "last.accuracy", whole=True),
        build_figure_column("Cohen's kappa", "last.kappa", whole=True, room=1),
        Col("labels", lambda judge: judge.last.file if judge.last else "", cut=30, room=3),
    )
    unchecked = all(judge.last is None for judge in judges)
    yield ReportSection(
        table=table,
        notes=(UNCHECKED,) if unchecked else (LAST_CHECK_NOTE,),
        commands=(format_command("judge", "check", "labels.jsonl"),) if unchecked else (),
    )


def _format_name_with_id(judge: KnownJudge) -> tuple[Phrase, ...]:
    name = Phrase(format_name(judge), to=("judge", judge.judge_id))
    return (name, Phrase(f" {to_line(judge.judge_id)}", "faint")) if judge.spec not in ("", judge.judge_id) else (name,)


def _format_last_check(judge: KnownJudge) -> str | Phrase:
    step = judge.last
    if step is None:
        return NEVER
    return Phrase(step.at[:10] + (", accuracy fell" if step.fell else ""), "bad" if step.fell else "")


def build_trust_sections(trust: JudgeTrust) -> Iterator[ReportSection]:
    """How far a judge's means lie from people's, its checks so far, and what it judged."""
    judge = trust.judge
    judged_text = f"It judged {format_count(judge.runs, 'run')} here. Id: {to_line(judge.judge_id)}"
    if judge.last is not None:
        yield ReportSection(lead=(_describe_last_check(judge.last), judged_text))
    elif trust.labels and trust.judged:
        run_id = trust.drawn[1] if trust.drawn is not None else trust.judged[0][0]
        check = format_command("judge", "check", run_id, "--judge", judge.spec or judge.judge_id)
        unchecked = (
            "No check against human labels is stored for it, so its accuracy on your data is unknown. The store has "
            f"{format_count(trust.labels, 'label')}; if they are for a run that it judged, check the judge with them:"
        )
        yield ReportSection(
            lead=(judged_text, *_describe_draw_agreement(trust)), warnings=(unchecked,), commands=(check,)
        )
    else:
        check = format_command("judge", "check", "labels.jsonl", "--judge", judge.spec or judge.judge_id)
        yield ReportSection(lead=(judged_text,), warnings=(UNCHECKED,), commands=(check,))
    if errors := list_labeled_errors(trust.errors):
        source = Col("from", "1.labels", describe_source, joins="below")
        gap = Col("difference", "1.labels", format_gap, kind="number", whole=True)
        table = build_table(errors, Col("metric", "0"), source, *LABELED_COLUMNS, gap)
        yield ReportSection(LABELS_HEADING, table=table, notes=list_disagreements(trust.errors))
    if origins := [(metric, error.origin) for metric, error in trust.errors.items() if error.origin]:
        metric = Col("metric", "0", link=lambda row: ("def", row[0]))
        table = build_table(origins, metric, Col("judge error estimated from", "1"))
        yield ReportSection("Sources of judge error", table=table)
    if trust.steps:
        first, *remaining = build_history_sections(trust.steps)
        yield ReportSection("Checks against human labels", lead=first.lead, top=True)
        yield from remaining
    if trust.judged:
        more = judge.runs - len(trust.judged)
        table = build_table(trust.judged, Col("run", "1", link=lambda row: ("run", row[0])))
        notes = (f"and {more:,} older.",) if more > 0 else ()
        yield ReportSection("Runs it judged", table=table, notes=notes)


def _describe_draw_agreement(trust: JudgeTrust) -> tuple[tuple[str | Phrase, ...], ...]:
    """Where its verdicts stand beside the labels of a draw; () where nothing was drawn."""
    if trust.drawn is None:
        return ()
    number = str(trust.drawn[0])
    return (
        ("Agreement of its verdicts with the labels so far: ", Phrase(f"draw {number}", to=("agreement", number)), "."),
    )


def _describe_last_check(step: CheckStep) -> tuple[str | Phrase, ...]:
    """The last check, in a sentence."""
    lead_text = f"Last checked against human labels on {step.at[:10]} ({to_line(step.file, 60)}): accuracy "
    fell = (Phrase(" Its accuracy fell since the previous check.", "bad"),) if step.fell else ()
    return (
        f"{lead_text}{format_figure(step.accuracy)} on {format_count(step.n, 'part')}, Cohen's kappa "
        f"{format_figure(step.kappa)}.",
        *fell,
    )
