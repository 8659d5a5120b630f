"""A gate's verdict as sections: what decided it last in a terminal, and first in a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragauge.gating.result import Check, CheckExample, Gated, Verdict
from ragauge.gating.tables import gate_failures as failures
from ragauge.gating.tables import gate_texts as words
from ragauge.rendering.sections import Phrase, ReportColumn, ReportSection, ReportTable, Tone, Wording
from ragauge.rendering.words import safe
from ragauge.rendering.writers import markdown as writer

TONES: Mapping[Verdict, Tone] = {"pass": "good", "fail": "bad", "not_enough_data": "unsure"}
SIGNS: Mapping[Verdict, str] = {"pass": "✅", "fail": "❌", "not_enough_data": "❔"}  # in Markdown


def sections(gated: Gated) -> Iterator[ReportSection]:
    """For a terminal: the verdict, every rule, what decided, and what to do."""
    heading = Phrase(words.title(gated), TONES[gated.verdict]), Phrase(f": {words.about(gated)}", "strong")
    yield ReportSection(heading, notes=(" · ".join(words.facts(gated)),))
    yield from _broken(gated)
    yield _rules(gated, words.MARKS)
    told: set[tuple[CheckExample, ...]] = {()}
    if why := [part for check in (*words.stopping(gated), *words.warned(gated)) for part in _why(check, told)]:
        yield ReportSection("Why", after=tuple(why))
    for warning in words.minded(gated):
        yield ReportSection(lead=(Phrase(warning, "unsure"),))
    if advice := words.what_next(gated):
        yield ReportSection(lead=((Phrase("What to do: ", "title"), advice),))


def markdown(gated: Gated) -> str:
    """For a pull request: the verdict, what decided it, what to do, every rule, and what the verdict rests on."""
    return writer.markdown("", _requested(gated), 2)


def _requested(gated: Gated) -> Iterator[ReportSection]:
    yield ReportSection(f"{SIGNS[gated.verdict]} {words.title(gated)}: {words.about(gated)}", top=True)
    yield from _broken(gated)
    why = *map(words.said, words.stopping(gated)), *(f"warns: {words.said(check)}" for check in words.warned(gated))
    yield ReportSection(lead=why, notes=tuple(filter(None, (words.what_next(gated),))))
    yield _rules(gated, SIGNS)
    rests = f"{' · '.join(words.facts(gated))}. {' '.join(words.bounded(gated))}"
    yield ReportSection(warnings=tuple(words.minded(gated)), notes=(rests.strip(),))


def _broken(gated: Gated) -> Iterator[ReportSection]:
    yield from (ReportSection(lead=(Phrase(broken, "bad"),)) for broken in failures.lead(gated))


def _rules(gated: Gated, signs: Mapping[Verdict, str]) -> ReportSection:
    heads = (
        ReportColumn("", whole=True),
        ReportColumn("verdict", whole=True, joins="after"),
        ReportColumn("rule", fold=True),
        ReportColumn("before → now", whole=True, room=1),
        ReportColumn("estimate, 90 % interval"),
        ReportColumn("must be", whole=True, room=1),
        ReportColumn("n", "number"),
    )
    rows = []
    for check in words.shown(gated):
        tone = TONES[check.verdict]
        asked = check.asks if check.segment is None else f"↳ in {words.where(check)}"
        verdict = words.VERDICTS[check.verdict] if signs is words.MARKS else check.verdict.replace("_", " ")
        verdict_words = Phrase(verdict, tone), " (warns)" if check.on_fail == "warn" else ""
        rows.append(
            (
                Phrase(signs[check.verdict], "" if signs is SIGNS else tone),
                verdict_words,
                safe(asked),
                words.change(check),
                words.estimate(check),
                words.limit(check),
                words.counted(check),
            )
        )
    rest = words.left_out(gated)
    return ReportSection(table=ReportTable(heads, tuple(rows), tight=True), notes=(rest,) if rest else ())


def _why(check: Check, told: set[tuple[CheckExample, ...]]) -> Iterator[Wording]:
    head = safe(check.asks) if check.segment is None else f"{safe(check.asks)}, in {words.where(check)}"
    warns = " (warns, does not stop the gate)" if check.on_fail == "warn" else ""
    yield Phrase(f"{words.MARKS[check.verdict]} {head}{warns}", TONES[check.verdict])
    yield f"  {words.reason(check)}"
    if check.examples not in told and check.kind != "must_pass":
        told.add(check.examples)
        yield Phrase(f"  lost most: {words.listed(check.examples)}", "faint")
