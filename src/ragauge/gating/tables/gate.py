"""A gate's verdict as sections, with its arithmetic explained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragauge.core.messages import format_count
from ragauge.gating.decide import TOLERANCE
from ragauge.gating.result import Check, CheckExample, Gated, Verdict
from ragauge.gating.tables import gate_failures as failures
from ragauge.gating.tables import gate_figures as figures
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
                figures.format_change(check),
                figures.format_estimate(check),
                figures.format_limit(check),
                figures.format_example_count(check),
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


SYMBOLS = {True: ("≥", "<"), False: ("≤", ">")}  # allowed, beyond
COLUMN_CHARS = 46


def format_explanation(outcome: Gated) -> str:
    """How each verdict came about, and that of the gate."""
    lines = [f"{words.format_title(outcome)}: {words.describe_runs(outcome)}", ""]
    last = None
    for check in outcome.checks:
        if (check.rule, check.asks) != last:
            location = (
                f"{make_safe(outcome.source)} line {check.line}"
                if check.line is not None
                else make_safe(outcome.source)
            )
            rule = f"rule {check.rule}" if check.rule else "max_failed"
            lines += [f"{rule} ({location}): {make_safe(check.asks)}"]
            last = (check.rule, check.asks)
        lines += [f"  {line}" for line in _explain_gate_explain_check(check)]
        lines.append("")
    lines += words.describe_alpha_bounds(outcome)
    if outcome.families:
        lines.append("A check passes based on its 90 % interval (one-sided alpha = 0.05); every rule must pass.")
    lines += words.list_caveats(outcome)
    return "\n".join([*lines, _describe_verdict(outcome)]) + "\n"


def _describe_verdict(outcome: Gated) -> str:
    stops = words.list_stopping(outcome)
    if not stops:
        return "The gate passes: no check blocks it. Exit code 0."
    check_names = ", ".join(
        dict.fromkeys(f"{check.metric or check.kind} ({words.format_scope(check)})" for check in stops)
    )
    state = "fail" if outcome.verdict == "fail" else "do not have enough data"
    return (
        f"Gate verdict: {words.VERDICTS[outcome.verdict]}, because these checks {state}: {check_names}. Exit "
        f"code {outcome.exit_code}."
    )


def _explain_gate_explain_check(check: Check) -> Iterator[str]:
    if check.kind not in figures.LIMITS:
        yield from _explain_without_limit(check)
        return
    yield f"{words.format_scope(check)}: {words.VERDICTS[check.verdict]}"
    if check.estimate is None:
        yield f"  {words.explain_verdict(check)}"
        return
    yield from (f"  {line}" for line in _explain_estimate(check))
    if check.failed and check.reach is not None:
        lowest, highest = (figures.format_with_unit(end, check) for end in check.reach)
        yield "  " + _format_line(f"whatever the {check.failed} failed scores would be", f"{lowest} to {highest}")
    yield from (f"  {line}" for line in _explain_decision(check))


def _explain_estimate(check: Check) -> Iterator[str]:
    if check.kind == "max_drop" and check.rectified:
        what = f"label-corrected difference, {format_count(check.n, 'labeled pair')}"
        yield _format_line(what, f"d = {figures.format_with_unit(check.estimate, check)}")
        yield _format_line("limit", figures.format_with_unit(check.limit, check))
        return
    if check.kind == "max_drop":
        previous, current = figures.format_mean(check.base, check), figures.format_mean(check.new, check)
        baseline_count = (
            format_count(check.n, "pair") if check.n_base is None else format_count(check.n_base, "example")
        )
        other_count = "" if check.n_base is None else f", {format_count(check.n, 'other example')}"
        yield _format_line(f"mean of the baseline, {baseline_count}", f"b = {previous}")
        yield _format_line(f"mean of this run{other_count}", f"x = {current}")
        yield _format_line(
            "difference", f"d = x − b = {current} − {previous} = {figures.format_with_unit(check.estimate, check)}"
        )
        sign = "−" if check.higher else "+"
        value = figures.format_with_unit(check.limit, check)
        if check.relative:
            yield _format_line(
                "limit", f"{sign}{100 * check.amount:g} % of b = {sign}{check.amount:g} · {previous} = {value}"
            )
        else:
            yield _format_line("limit", value)
        return
    name = "mean" if check.statistic == "mean" else check.statistic
    yield _format_line(
        f"{name} of {format_count(check.n, 'example')}", f"x = {figures.format_with_unit(check.estimate, check)}"
    )
    yield _format_line("limit", figures.format_with_unit(check.limit, check))


def _explain_decision(check: Check) -> Iterator[str]:
    if check.because in ("few", "itself", "unanswered"):
        yield words.explain_verdict(check)
        return
    if check.decide == "point":
        yield _compare_with_limit(
            check, f"passes when the estimate is {SYMBOLS[check.higher][0]} the limit", check.estimate
        )
        if check.because != "point":
            yield words.explain_verdict(check)
        return
    if check.because == "unchanged":
        yield f"passes: {words.explain_verdict(check)}"
        return
    if check.interval is not None:
        far = check.interval.low if check.higher else check.interval.high
        yield _format_line(f"90 % interval ({check.interval.method})", figures.format_interval(check.interval, check))
        yield _compare_with_limit(check, "passes when all of it meets the limit", far)
    if check.fail_interval is not None and check.alpha is not None:
        near = check.fail_interval.high if check.higher else check.fail_interval.low
        name = f"{figures.format_level(check.fail_interval)} interval, alpha = {check.alpha:.2g} of the family"
        yield _format_line(name, figures.format_interval(check.fail_interval, check))
        yield _compare_with_limit(check, "fails when all of it is beyond the limit", near, beyond=True)
    if check.because not in ("interval",):
        yield words.explain_verdict(check)


def _compare_with_limit(check: Check, name: str, value: float | None, *, beyond: bool = False) -> str:
    """A comparison with the limit and its answer, as the decision makes it: rounding does not count."""
    limit = check.limit or 0.0
    share = value or 0.0
    is_beyond = share < limit - TOLERANCE if check.higher else share > limit + TOLERANCE
    allowed, outside = SYMBOLS[check.higher]
    symbol = outside if beyond else allowed
    comparison = f"{figures.format_with_unit(value, check)} {symbol} {figures.format_with_unit(check.limit, check)}"
    return _format_line(name, f"{comparison}? {'yes' if is_beyond is beyond else 'no'}")


def _explain_without_limit(check: Check) -> Iterator[str]:
    if check.kind == "max_failed" and check.n:
        share = 100 * (check.estimate or 0.0)
        answer = "yes" if check.verdict == "pass" else "no"  # with examples, nothing but the share decides
        yield _format_line("examples with failed calls", f"{check.failed} of {check.n} = {share:.1f} %")
        yield _format_line(
            "passes when within the allowed share", f"{share:.1f} % ≤ {100 * check.amount:g} %? {answer}"
        )
        return
    yield f"{words.VERDICTS[check.verdict]}: {words.explain_verdict(check)}"


def _format_line(name: str, value: str) -> str:
    return f"{name:<{COLUMN_CHARS}} {value}"
