"""A gate's verdict as sections: what decided it last in a terminal, and first in a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragauge.gating.result import Check, CheckExample, Gated, Verdict
from ragauge.gating.tables import gate_failures as failures
from ragauge.gating.tables import gate_texts as words
from ragauge.rendering.sections import Phrase, ReportColumn, ReportSection, ReportTable, Tone, Wording
from ragauge.rendering.words import make_safe
from ragauge.rendering.writers import markdown as writer

TONES: Mapping[Verdict, Tone] = {"pass": "good", "fail": "bad", "not_enough_data": "unsure"}
SIGNS: Mapping[Verdict, str] = {"pass": "✅", "fail": "❌", "not_enough_data": "❔"}  # in Markdown


def build_sections(outcome: Gated) -> Iterator[ReportSection]:
    """For a terminal: the verdict, every rule, what decided, and what to do."""
    heading = (
        Phrase(words.format_title(outcome), TONES[outcome.verdict]),
        Phrase(f": {words.describe_runs(outcome)}", "strong"),
    )
    yield ReportSection(heading, notes=(" · ".join(words.list_facts(outcome)),))
    yield from _build_broken_sections(outcome)
    yield _build_rules_section(outcome, words.MARKS)
    shown_examples: set[tuple[CheckExample, ...]] = {()}
    if reasons := [
        sentence
        for check in (*words.list_stopping(outcome), *words.list_warnings(outcome))
        for sentence in _explain_check(check, shown_examples)
    ]:
        yield ReportSection("Why", after=tuple(reasons))
    for warning in words.list_caveats(outcome):
        yield ReportSection(lead=(Phrase(warning, "unsure"),))
    if advice := words.advise_next(outcome):
        yield ReportSection(lead=((Phrase("What to do: ", "title"), advice),))


def format_markdown(outcome: Gated) -> str:
    """For a pull request: the verdict, what decided it, what to do, every rule, and what the verdict rests on."""
    return writer.render_markdown("", _build_summary_sections(outcome), 2)


def _build_summary_sections(outcome: Gated) -> Iterator[ReportSection]:
    yield ReportSection(
        f"{SIGNS[outcome.verdict]} {words.format_title(outcome)}: {words.describe_runs(outcome)}", top=True
    )
    yield from _build_broken_sections(outcome)
    reasons = (
        *map(words.describe_check, words.list_stopping(outcome)),
        *(f"warns: {words.describe_check(check)}" for check in words.list_warnings(outcome)),
    )
    yield ReportSection(lead=reasons, notes=tuple(filter(None, (words.advise_next(outcome),))))
    yield _build_rules_section(outcome, SIGNS)
    rests = f"{' · '.join(words.list_facts(outcome))}. {' '.join(words.describe_alpha_bounds(outcome))}"
    yield ReportSection(warnings=tuple(words.list_caveats(outcome)), notes=(rests.strip(),))


def _build_broken_sections(outcome: Gated) -> Iterator[ReportSection]:
    yield from (ReportSection(lead=(Phrase(broken, "bad"),)) for broken in failures.build_lead(outcome))


def _build_rules_section(outcome: Gated, signs: Mapping[Verdict, str]) -> ReportSection:
    headers = (
        ReportColumn("", whole=True),
        ReportColumn("verdict", whole=True, joins="after"),
        ReportColumn("rule", fold=True),
        ReportColumn("baseline → run", whole=True, room=1),
        ReportColumn("estimate, 90 % interval"),
        ReportColumn("must be", whole=True, room=1),
        ReportColumn("n", "number"),
    )
    rows = []
    for check in words.select_visible(outcome):
        tone = TONES[check.verdict]
        rule_text = check.asks if check.segment is None else f"↳ in {words.format_scope(check)}"
        verdict = words.VERDICTS[check.verdict] if signs is words.MARKS else check.verdict.replace("_", " ")
        verdict_words = Phrase(verdict, tone), " (warns)" if check.on_fail == "warn" else ""
        rows.append(
            (
                Phrase(signs[check.verdict], "" if signs is SIGNS else tone),
                verdict_words,
                make_safe(rule_text),
                words.format_change(check),
                words.format_estimate(check),
                words.format_limit(check),
                words.format_example_count(check),
            )
        )
    left_out_text = words.describe_left_out(outcome)
    return ReportSection(
        table=ReportTable(headers, tuple(rows), tight=True), notes=(left_out_text,) if left_out_text else ()
    )


def _explain_check(check: Check, shown_examples: set[tuple[CheckExample, ...]]) -> Iterator[Wording]:
    head = (
        make_safe(check.asks) if check.segment is None else f"{make_safe(check.asks)}, in {words.format_scope(check)}"
    )
    warns = " (warning only, does not fail the gate)" if check.on_fail == "warn" else ""
    yield Phrase(f"{words.MARKS[check.verdict]} {head}{warns}", TONES[check.verdict])
    yield f"  {words.explain_verdict(check)}"
    if check.examples not in shown_examples and check.kind != "must_pass":
        shown_examples.add(check.examples)
        yield Phrase(f"  worst: {words.format_examples(check.examples)}", "faint")
