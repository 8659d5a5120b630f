"""A gate's verdict as sections, with its arithmetic explained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragauge.gating.compute.decision import TOLERANCE
from ragauge.gating.kinds.rule import KINDS
from ragauge.gating.result import Check, CheckExample, Gated, Verdict
from ragauge.gating.tables import phrases
from ragauge.gating.tables import texts as words
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
    yield from (ReportSection(lead=(Phrase(broken, "bad"),)) for broken in phrases.build_lead(outcome))


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
        tone, kind = TONES[check.verdict], KINDS[check.kind]
        rule_text = check.asks if check.segment is None else f"↳ in {words.format_scope(check)}"
        verdict = words.VERDICTS[check.verdict] if signs is words.MARKS else check.verdict.replace("_", " ")
        verdict_words = Phrase(verdict, tone), " (warns)" if check.on_fail == "warn" else ""
        rows.append(
            (
                Phrase(signs[check.verdict], "" if signs is SIGNS else tone),
                verdict_words,
                make_safe(rule_text),
                phrases.format_change(check),
                kind.format_estimate(check),
                kind.format_limit(check),
                kind.format_n(check),
            )
        )
    left_out_text = words.describe_left_out(outcome)
    return ReportSection(
        table=ReportTable(headers, tuple(rows), tight=True), notes=(left_out_text,) if left_out_text else ()
    )


def _explain_check(check: Check, shown_examples: set[tuple[CheckExample, ...]]) -> Iterator[Wording]:
    head = make_safe(check.asks) + (f", in {words.format_scope(check)}" if check.segment is not None else "")
    warns = " (warning only, does not fail the gate)" if check.on_fail == "warn" else ""
    yield Phrase(f"{words.MARKS[check.verdict]} {head}{warns}", TONES[check.verdict])
    yield f"  {words.explain_verdict(check)}"
    if check.examples not in shown_examples and (worst := words.format_worst(check)):
        shown_examples.add(check.examples)
        yield Phrase(f"  worst: {worst}", "faint")


SYMBOLS = {True: ("≥", "<"), False: ("≤", ">")}  # allowed, beyond
COLUMN_CHARS = 46


def format_explanation(outcome: Gated) -> str:
    """How each verdict came about, and that of the gate."""
    lines = [f"{words.format_title(outcome)}: {words.describe_runs(outcome)}", ""]
    last = None
    for check in outcome.checks:
        if (check.rule, check.asks) != last:
            place = make_safe(outcome.source) + (f" line {check.line}" if check.line is not None else "")
            rule = f"rule {check.rule}" if check.rule else check.kind
            lines += [f"{rule} ({place}): {make_safe(check.asks)}"]
            last = (check.rule, check.asks)
        lines += [*(f"  {line}" for line in _explain_arithmetic(check)), ""]
    lines += words.describe_alpha_bounds(outcome)
    if outcome.families:
        lines.append("A check passes based on its 90 % interval (one-sided alpha = 0.05); every rule must pass.")
    lines += words.list_caveats(outcome)
    return "\n".join([*lines, _describe_verdict(outcome)]) + "\n"


def _describe_verdict(outcome: Gated) -> str:
    stops = words.list_stopping(outcome)
    if not stops:
        return "The gate passes: no check blocks it. Exit code 0."
    names = dict.fromkeys(f"{check.metric or check.kind} ({words.format_scope(check)})" for check in stops)
    state = "fail" if outcome.verdict == "fail" else "do not have enough data"
    return (
        f"Gate verdict: {words.VERDICTS[outcome.verdict]}, because these checks {state}: {', '.join(names)}. Exit "
        f"code {outcome.exit_code}."
    )


def _explain_arithmetic(check: Check) -> Iterator[str]:
    kind = KINDS[check.kind]
    steps = [_format_line(name, value) for name, value in kind.list_steps(check)]
    if not kind.in_segments:
        yield from steps or [f"{words.VERDICTS[check.verdict]}: {kind.explain(check)}"]
        return
    yield f"{words.format_scope(check)}: {words.VERDICTS[check.verdict]}"
    if check.estimate is None:
        yield f"  {kind.explain(check)}"
        return
    if check.failed and check.reach is not None:
        lowest, highest = (phrases.format_with_unit(end, check) for end in check.reach)
        steps.append(_format_line(f"whatever the {check.failed} failed scores would be", f"{lowest} to {highest}"))
    yield from (f"  {line}" for line in (*steps, *_explain_decision(check)))


def _explain_decision(check: Check) -> Iterator[str]:
    if check.because in ("few", "itself", "unanswered"):
        yield words.explain_verdict(check)
        return
    if check.decide == "point":
        name = f"passes when the estimate is {SYMBOLS[check.higher][0]} the limit"
        yield _compare_with_limit(check, name, check.estimate)
        if check.because != "point":
            yield words.explain_verdict(check)
        return
    if check.because == "unchanged":
        yield f"passes: {words.explain_verdict(check)}"
        return
    if check.interval is not None:
        far = check.interval.low if check.higher else check.interval.high
        yield _format_line(f"90 % interval ({check.interval.method})", phrases.format_interval(check.interval, check))
        yield _compare_with_limit(check, "passes when all of it meets the limit", far)
    if check.fail_interval is not None and check.alpha is not None:
        near = check.fail_interval.high if check.higher else check.fail_interval.low
        name = f"{phrases.format_level(check.fail_interval)} interval, alpha = {check.alpha:.2g} of the family"
        yield _format_line(name, phrases.format_interval(check.fail_interval, check))
        yield _compare_with_limit(check, "fails when all of it is beyond the limit", near, beyond=True)
    if check.because != "interval":
        yield words.explain_verdict(check)


def _compare_with_limit(check: Check, name: str, value: float | None, *, beyond: bool = False) -> str:
    """A comparison with the limit and its answer, as the decision makes it: rounding does not count."""
    limit, number = check.limit or 0.0, value or 0.0
    is_beyond = number < limit - TOLERANCE if check.higher else number > limit + TOLERANCE
    symbol = SYMBOLS[check.higher][beyond]
    comparison = f"{phrases.format_with_unit(value, check)} {symbol} {phrases.format_with_unit(check.limit, check)}"
    return _format_line(name, f"{comparison}? {'yes' if is_beyond is beyond else 'no'}")


def _format_line(name: str, value: str) -> str:
    return f"{name:<{COLUMN_CHARS}} {value}"
