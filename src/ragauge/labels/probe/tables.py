"""What probes of a judge found, as sections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ragauge.core.messages import number, plural
from ragauge.rendering.judge_usage import money
from ragauge.rendering.sections import Phrase, ReportColumn, ReportItem, ReportSection, ReportTable, Tone, columns
from ragauge.rendering.words import between, estimate, line

if TYPE_CHECKING:
    from ragauge.labels.probe.compute import JudgeProbes, ProbeCase, ProbeFinding
    from ragauge.labels.probe.position_bias import PositionProbe

MOST = 10  # pairs and reasons that are named
LONG = 160  # characters of a text that is shown
BEFORE = 60  # of them before a planted change
KINDS = ("number", "name", "date", "unit", "negation")  # changes of a part itself
TONES: Mapping[str, Tone] = {"ok": "good", "alarm": "bad", "not enough data": "unsure"}
BY_PEOPLE = ("people", "families")
HOW = (
    "value: share of verdicts on which what must hold does not, less the share on which the judge's own second verdict "
    "differs likewise; judge less people for leniency and self_preference, over verdicts that the judge gave twice. "
    "prompt_consistency: 1 less that share. alarm: the interval lies beyond the tolerance, by Holm over all probes; "
    "ok: it lies within; otherwise there is not enough data. seen: the share before the judge's wavering is taken off; "
    "by itself: that of its second verdict."
)
WORDS: Mapping[str, str] = {"not_in_context": "not in context", "not_supported": "not supported"}


def sections(probed: JudgeProbes) -> Iterator[ReportSection]:
    """The table of all probes, alarms with their examples, kinds, what was not probed, how to read it."""
    table, warnings = _table(probed.findings), tuple(_warned(probed))
    yield ReportSection("Probes of a judge", "", tuple(_head(probed)), table, warnings=warnings)
    if items := tuple(_item(one) for one in probed.findings if one.verdict == "alarm"):
        yield ReportSection("What alarms", items=items)
    if milder := tuple(_milder(one) for one in probed.findings if (one.milder or 0.0) > one.tolerance):
        yield ReportSection("Refused, but not as it should be", items=milder)
    for finding in probed.findings:
        if finding.kinds:
            yield _kinds(finding)
    if probed.position is not None:
        yield ReportSection("Pairs of answers", lead=tuple(_position(probed.position)))
    if probed.left_out:
        rows = tuple((name, reason) for name, reason in probed.left_out.items())
        yield ReportSection("Not probed", table=ReportTable(columns("probe", "because"), rows))
    yield ReportSection(notes=(HOW,))


def _head(probed: JudgeProbes) -> Iterator[str]:
    alarms = [one.rule.name for one in probed.findings if one.verdict == "alarm"]
    open_ones = [one.rule.name for one in probed.findings if one.verdict == "not enough data"]
    said = f"alarm: {', '.join(alarms)}" if alarms else "no alarm"
    yield said + (f"; not enough data: {', '.join(open_ones)}" if open_ones else "")
    yield f"judge {line(probed.judge_id)}"
    looked = plural(probed.examples, "example") + f", {plural(probed.parts, 'part')} of their answers"
    yield looked + (f"; {plural(probed.pairs, 'pair')} of answers" if probed.pairs else "")
    if probed.calls:
        cost = probed.calls["cost"]
        yield (
            f"called now: {probed.calls['calls']:,} times, {probed.calls['replies_reused']:,} stored replies, "
            f"{money(None if cost is None else float(cost))}"
        )


def _warned(probed: JudgeProbes) -> Iterator[str]:
    if probed.stopped:
        yield f"Stopped: {probed.stopped} The same command goes on."
    if probed.failed:
        share = number(probed.failed / probed.parts)
        yield f"judge_failure_rate {share}: no verdict on {probed.failed:,} of {plural(probed.parts, 'part')}"
    for reason, count in list(probed.reasons.items())[:MOST]:
        yield f"{plural(count, 'example')}: {line(reason, LONG)}"


def _table(findings: tuple[ProbeFinding, ...]) -> ReportTable:
    heads = (
        ReportColumn("probe", whole=True),
        ReportColumn("figure", whole=True, room=4),
        ReportColumn("value", "number"),
        ReportColumn("95% interval", whole=True),
        ReportColumn("tolerance", "number"),
        ReportColumn("verdict", whole=True),
        ReportColumn("n", "number"),
        ReportColumn("seen", "number", room=2),
        ReportColumn("by itself", "number", room=2),
        ReportColumn("changed", room=3),
        ReportColumn("must be", room=3),
    )
    return ReportTable(heads, tuple(map(_row, findings)))


def _row(one: ProbeFinding) -> tuple[str | Phrase, ...]:
    rule = one.rule
    value = "–" if one.value is None else number(one.value)
    sign = "± " if rule.compares in BY_PEOPLE else "≥ " if rule.complement else "≤ "
    limit = sign + number(1 - one.tolerance if rule.complement else one.tolerance)
    plain = rule.compares not in BY_PEOPLE
    return (
        rule.name,
        rule.figure,
        value,
        between(one.interval),
        limit,
        Phrase(one.verdict, TONES[one.verdict]),
        f"{one.n:,}",
        number(one.changed) if plain and one.changed is not None else "–",
        number(one.wavering) if plain and one.wavering is not None and rule.compares != "again" else "–",
        rule.changes,
        rule.must,
    )


def _item(one: ProbeFinding) -> ReportItem:
    favoured = f" · milder towards {line(one.among)}" if one.among else ""
    worst = "\n".join(map(_case, one.worst))
    return ReportItem(
        Phrase(one.rule.name, "strong"),
        (("must be", one.rule.must), ("do", one.rule.advice), ("such as", worst)),
        about=f"{one.rule.figure} {number(one.value or 0.0)} {between(one.interval)}{favoured}",
    )


def _milder(one: ProbeFinding) -> ReportItem:
    """What must hold does, by a milder verdict than the right one: no alarm, but other metrics see it."""
    share = one.milder or 0.0
    count = f"{round(share * one.n):,} of {one.n:,} verdicts ({share:.0%})"
    return ReportItem(
        Phrase(one.rule.name, "strong"),
        (("means", one.rule.if_milder),),
        about=f"neither supported nor {_said(one.rule.best)}: {count}; no alarm",
    )


def _case(case: ProbeCase) -> str:
    kind = f" ({case.kind})" if case.kind else ""
    text, changed = _around(case.text, case.shown) if case.kind in KINDS else (case.text, case.shown)
    shown = f" → “{line(changed, LONG)}”" if changed else ""
    before = f"{_said(case.base)}, then {_said(case.changed)}" if case.changed != case.base else _said(case.base)
    again = f", asked again {_said(case.again)}" if case.again != case.base else ""
    people = f", people: {_said(case.human)}" if case.human and case.changed == case.base else ""
    return f"{line(case.example)}{kind}: “{line(text, LONG)}”{shown}: {before}{again}{people}"


def _around(text: str, changed: str) -> tuple[str, str]:
    """Both texts from a little before the place where they begin to differ."""
    same = next((place for place, (a, b) in enumerate(zip(text, changed, strict=False)) if a != b), 0)
    start = text.rfind(" ", 0, max(0, same - BEFORE)) + 1
    return (f"…{text[start:]}", f"…{changed[start:]}") if start else (text, changed)


def _said(verdict: str) -> str:
    return WORDS.get(verdict, verdict)


def _kinds(one: ProbeFinding) -> ReportSection:
    families = one.rule.compares == "families"
    names = ("family", "judge less people") if families else ("kind", "not as it must be")
    heads = columns(names[0], numbers=("n", names[1]))
    rows = []
    for kind in one.kinds:
        verdicts = ", ".join(f"{count:,} {_said(verdict)}" for verdict, count in kind.verdicts.items())
        rows.append((line(kind.kind) or "–", f"{kind.n:,}", number(kind.share), verdicts))
    return ReportSection(one.rule.name, table=ReportTable((*heads, ReportColumn("verdicts")), tuple(rows)))


def _position(probe: PositionProbe) -> Iterator[str]:
    yield f"{plural(probe.n, 'pair')}, each in both orders; {probe.decided:,} with both verdicts"
    if probe.flipped:
        yield f"first place {estimate(probe.first_place)} of the changed: won by being shown first"
    yield f"ties {estimate(probe.ties)}: alike, or inconsistent, which counts as a tie"
    if probe.agreement.mean is not None:
        yield f"agreement {estimate(probe.agreement)} with the human preference"
    if probe.flipped:
        more = f" and {len(probe.flipped) - MOST:,} more" if len(probe.flipped) > MOST else ""
        yield f"changed by the order: {', '.join(map(line, probe.flipped[:MOST]))}{more}"
    for name, reason in list(probe.undecided.items())[:MOST]:
        yield f"no verdict on {line(name)}: {line(reason, LONG)}"
