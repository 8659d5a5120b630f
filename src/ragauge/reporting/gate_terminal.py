"""A gate's verdict as sections, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragauge.gating.result import Check, CheckExample, Gated, Verdict
from ragauge.reporting import gate_failures as failures
from ragauge.reporting import gate_words as words
from ragauge.reporting.sections import Phrase, ReportColumn, ReportSection, ReportTable, Tone, Wording
from ragauge.reporting.words import safe

TONES: Mapping[Verdict, Tone] = {"pass": "good", "fail": "bad", "not_enough_data": "unsure"}


def sections(gated: Gated) -> Iterator[ReportSection]:
    """The verdict, what decided it, every rule, and what to do."""
    heading = Phrase(words.title(gated), TONES[gated.verdict]), Phrase(f": {words.about(gated)}", "strong")
    yield ReportSection(heading, notes=(" · ".join(words.facts(gated)),))
    for broken in failures.lead(gated):
        yield ReportSection(lead=(Phrase(broken, "bad"),))
    rest = words.left_out(gated)
    yield ReportSection(table=_table(gated), notes=(rest,) if rest else ())
    told: set[tuple[CheckExample, ...]] = {()}
    if why := [part for check in (*words.stopping(gated), *words.warned(gated)) for part in _why(check, told)]:
        yield ReportSection("Why", after=tuple(why))
    for warning in words.minded(gated):
        yield ReportSection(lead=(Phrase(warning, "unsure"),))
    if advice := words.what_next(gated):
        yield ReportSection(lead=((Phrase("What to do: ", "title"), advice),))


def _table(gated: Gated) -> ReportTable:
    heads = (
        ReportColumn("", whole=True), ReportColumn("rule", fold=True),
        ReportColumn("before → now", whole=True, room=1), ReportColumn("estimate, 90 % interval"),
        ReportColumn("must be", whole=True, room=1), ReportColumn("n", "number"),
        ReportColumn("verdict", whole=True),
    )     # fmt: skip
    rows = []
    for check in words.shown(gated):
        tone = TONES[check.verdict]
        asked = check.asks if check.segment is None else f"  in {words.where(check)}"
        said = words.VERDICTS[check.verdict] + (" (warns)" if check.on_fail == "warn" else "")
        rows.append((
            Phrase(words.MARKS[check.verdict], tone), safe(asked), words.change(check), words.estimate(check),
            words.limit(check), words.counted(check), Phrase(said, tone),
        ))  # fmt: skip
    return ReportTable(heads, tuple(rows), tight=True)


def _why(check: Check, told: set[tuple[CheckExample, ...]]) -> Iterator[Wording]:
    head = safe(check.asks) if check.segment is None else f"{safe(check.asks)}, in {words.where(check)}"
    warns = " (warns, does not stop the gate)" if check.on_fail == "warn" else ""
    yield Phrase(f"{words.MARKS[check.verdict]} {head}{warns}", TONES[check.verdict])
    yield f"  {words.reason(check)}"
    if check.examples not in told and check.kind != "must_pass":
        told.add(check.examples)
        yield Phrase(f"  lost most: {words.listed(check.examples)}", "faint")
