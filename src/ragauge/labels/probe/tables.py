"""What probes of a judge found, as sections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ragauge.core.messages import format_count, format_value
from ragauge.rendering.judge_usage import format_money
from ragauge.rendering.sections import Col, Phrase, ReportItem, ReportSection, ReportTable, Tone, build_table
from ragauge.rendering.words import between, estimate, to_line

if TYPE_CHECKING:
    from ragauge.labels.probe.compute import JudgeProbes, PositionProbe, ProbeCase, ProbeFinding

MAX_NAMED = 10  # pairs and reasons that are named
MAX_TEXT_CHARS = 160  # characters of a text that is shown
CONTEXT_CHARS = 60  # of them before a planted change
KINDS = ("number", "name", "date", "unit", "negation")  # changes of a part itself
TONES: Mapping[str, Tone] = {"ok": "good", "alarm": "bad", "not enough data": "unsure"}
BY_PEOPLE = ("people", "families")
FIGURES_NOTE = (
    "value: the share of verdicts that break the rule, minus the share on which the judge's own second "
    "verdict differs in the same way; for leniency and self_preference, judge minus human labels, over "
    "verdicts that the judge gave twice. prompt_consistency: 1 minus that share. alarm: the interval is "
    "beyond the tolerance, Holm-corrected over all probes; ok: it is within; otherwise there is not enough "
    "data. seen: the share before the judge's own inconsistency is subtracted; on repeat: that inconsistency."
)
LABEL_WORDS: Mapping[str, str] = {"not_in_context": "not in context", "not_supported": "not supported"}


def build_sections(probes: JudgeProbes) -> Iterator[ReportSection]:
    """The table of all probes, alarms with their examples, kinds, what was not probed, how to read it."""
    table, warnings = _build_table(probes.findings), tuple(_list_warnings(probes))
    yield ReportSection("Judge probes", "", tuple(_build_lead(probes)), table, warnings=warnings)
    if items := tuple(_build_alarm_item(finding) for finding in probes.findings if finding.verdict == "alarm"):
        yield ReportSection("Alarms", items=items)
    if milder := tuple(
        _build_milder_item(finding) for finding in probes.findings if (finding.milder or 0.0) > finding.tolerance
    ):
        yield ReportSection("Rejected, but with the wrong verdict", items=milder)
    for finding in probes.findings:
        if finding.kinds:
            yield _build_kinds_section(finding)
    if probes.position is not None:
        yield ReportSection("Pairs of answers", lead=tuple(_describe_position(probes.position)))
    if probes.left_out:
        left_out = build_table(probes.left_out.items(), Col("probe", "0"), Col("because", "1"))
        yield ReportSection("Not probed", table=left_out)
    yield ReportSection(notes=(FIGURES_NOTE,))


def _build_lead(probes: JudgeProbes) -> Iterator[str]:
    alarms = [finding.rule.name for finding in probes.findings if finding.verdict == "alarm"]
    open_ones = [finding.rule.name for finding in probes.findings if finding.verdict == "not enough data"]
    alarm_text = f"alarm: {', '.join(alarms)}" if alarms else "no alarm"
    yield alarm_text + (f"; not enough data: {', '.join(open_ones)}" if open_ones else "")
    yield f"judge {to_line(probes.judge_id)}"
    looked = format_count(probes.examples, "example") + f", {format_count(probes.parts, 'part')} of their answers"
    yield looked + (f"; {format_count(probes.pairs, 'pair')} of answers" if probes.pairs else "")
    if probes.calls:
        cost = probes.calls["cost"]
        yield (
            f"calls made now: {probes.calls['calls']:,}, stored replies reused: "
            f"{probes.calls['replies_reused']:,}, {format_money(None if cost is None else float(cost))}"
        )


def _list_warnings(probes: JudgeProbes) -> Iterator[str]:
    if probes.stopped:
        yield f"Stopped: {probes.stopped} Run the same command to resume."
    if probes.failed:
        share = format_value(probes.failed / probes.parts)
        yield f"judge_failure_rate {share}: no verdict on {probes.failed:,} of {format_count(probes.parts, 'part')}"
    for reason, count in list(probes.reasons.items())[:MAX_NAMED]:
        yield f"{format_count(count, 'example')}: {to_line(reason, MAX_TEXT_CHARS)}"


def _build_table(findings: tuple[ProbeFinding, ...]) -> ReportTable | None:
    return build_table(
        findings,
        Col("probe", "rule.name", whole=True),
        Col("figure", "rule.figure", whole=True, room=4),
        Col("value", "value", "number"),
        Col("95% interval", "interval", "interval", whole=True),
        Col("tolerance", _format_limit, kind="number"),
        Col("verdict", lambda finding: Phrase(finding.verdict, TONES[finding.verdict]), whole=True),
        Col("n", "n", "count"),
        Col("seen", lambda finding: finding.changed if _compares_again(finding) else None, "number", room=2),
        Col(
            "on repeat",
            lambda finding: finding.wavering if _compares_again(finding) and finding.rule.compares != "again" else None,
            "number",
            room=2,
        ),
        Col("changed", "rule.changes", room=3),
        Col("must be", "rule.must", room=3),
    )


def _compares_again(finding: ProbeFinding) -> bool:
    return finding.rule.compares not in BY_PEOPLE


def _format_limit(finding: ProbeFinding) -> str:
    rule = finding.rule
    sign = "± " if rule.compares in BY_PEOPLE else "≥ " if rule.complement else "≤ "
    return sign + format_value(1 - finding.tolerance if rule.complement else finding.tolerance)


def _build_alarm_item(finding: ProbeFinding) -> ReportItem:
    favoured = f" · more lenient toward {to_line(finding.among)}" if finding.among else ""
    worst = "\n".join(map(_format_case, finding.worst))
    return ReportItem(
        Phrase(finding.rule.name, "strong"),
        (("must be", finding.rule.must), ("do", finding.rule.advice), ("for example", worst)),
        about=f"{finding.rule.figure} {format_value(finding.value or 0.0)} {between(finding.interval)}{favoured}",
    )


def _build_milder_item(finding: ProbeFinding) -> ReportItem:
    """What must hold does, by a milder verdict than the right one: no alarm, but other metrics see it."""
    share = finding.milder or 0.0
    count = f"{round(share * finding.n):,} of {finding.n:,} verdicts ({share:.0%})"
    return ReportItem(
        Phrase(finding.rule.name, "strong"),
        (("means", finding.rule.if_milder),),
        about=f"neither supported nor {_format_verdict(finding.rule.best)}: {count}; no alarm",
    )


def _format_case(case: ProbeCase) -> str:
    kind = f" ({case.kind})" if case.kind else ""
    text, changed = _cut_to_difference(case.text, case.shown) if case.kind in KINDS else (case.text, case.shown)
    changed_text = f" → “{to_line(changed, MAX_TEXT_CHARS)}”" if changed else ""
    verdict_text = (
        f"{_format_verdict(case.base)}, then {_format_verdict(case.changed)}"
        if case.changed != case.base
        else _format_verdict(case.base)
    )
    again = f", on repeat {_format_verdict(case.again)}" if case.again != case.base else ""
    people = f", human label: {_format_verdict(case.human)}" if case.human and case.changed == case.base else ""
    return (
        f"{to_line(case.example)}{kind}: “{to_line(text, MAX_TEXT_CHARS)}”{changed_text}: {verdict_text}{again}{people}"
    )


def _cut_to_difference(text: str, changed: str) -> tuple[str, str]:
    """Both texts from a little before the place where they begin to differ."""
    same = next((index for index, (a, b) in enumerate(zip(text, changed, strict=False)) if a != b), 0)
    start = text.rfind(" ", 0, max(0, same - CONTEXT_CHARS)) + 1
    return (f"…{text[start:]}", f"…{changed[start:]}") if start else (text, changed)


def _format_verdict(verdict: str) -> str:
    return LABEL_WORDS.get(verdict, verdict)


def _build_kinds_section(finding: ProbeFinding) -> ReportSection:
    families = finding.rule.compares == "families"
    names = ("family", "judge minus human") if families else ("kind", "rule broken")
    table = build_table(
        finding.kinds,
        Col(names[0], lambda kind: to_line(kind.kind) or "–"),
        Col("n", "n", "count"),
        Col(names[1], "share", "number"),
        Col("verdicts", lambda kind: ", ".join(f"{n:,} {_format_verdict(name)}" for name, n in kind.verdicts.items())),
    )
    return ReportSection(finding.rule.name, table=table)


def _describe_position(probe: PositionProbe) -> Iterator[str]:
    yield f"{format_count(probe.n, 'pair')}, each in both orders; {probe.decided:,} with both verdicts"
    if probe.flipped:
        yield f"the answer shown first won {estimate(probe.first_place)} of the pairs that changed"
    yield f"ties {estimate(probe.ties)}: equal, or inconsistent, which counts as a tie"
    if probe.agreement.mean is not None:
        yield f"agreement {estimate(probe.agreement)} with the human preference"
    if probe.flipped:
        more = f" and {len(probe.flipped) - MAX_NAMED:,} more" if len(probe.flipped) > MAX_NAMED else ""
        yield f"changed with the order: {', '.join(map(to_line, probe.flipped[:MAX_NAMED]))}{more}"
    for name, reason in list(probe.undecided.items())[:MAX_NAMED]:
        yield f"no verdict on {to_line(name)}: {to_line(reason, MAX_TEXT_CHARS)}"
