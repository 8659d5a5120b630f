"""The arithmetic of a gate, every check with its numbers put in."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.core.messages import plural
from ragauge.gating.decide import NEAR
from ragauge.gating.result import Check, Gated
from ragauge.gating.tables import gate_texts as words
from ragauge.rendering.words import safe

SYMBOLS = {True: ("≥", "<"), False: ("≤", ">")}  # allowed, beyond
COLUMN = 46


def explain(gated: Gated) -> str:
    """How each verdict came about, and that of the gate."""
    lines = [f"{words.title(gated)}: {words.about(gated)}", ""]
    last = None
    for check in gated.checks:
        if (check.rule, check.asks) != last:
            at = f"{safe(gated.source)} line {check.line}" if check.line is not None else safe(gated.source)
            rule = f"rule {check.rule}" if check.rule else "max_failed"
            lines += [f"{rule} ({at}): {safe(check.asks)}"]
            last = (check.rule, check.asks)
        lines += [f"  {line}" for line in _check(check)]
        lines.append("")
    lines += words.bounded(gated)
    if gated.families:
        lines.append("A check passes by its 90 % interval (one-sided alpha = 0.05); every rule must pass.")
    lines += words.minded(gated)
    return "\n".join([*lines, _whole(gated)]) + "\n"


def _whole(gated: Gated) -> str:
    stops = words.stopping(gated)
    if not stops:
        return "The gate passes: no check stops it. Exit code 0."
    named = ", ".join(dict.fromkeys(f"{check.metric or check.kind} ({words.where(check)})" for check in stops))
    state = "fail" if gated.verdict == "fail" else "have not enough data"
    return f"The gate: {words.VERDICTS[gated.verdict]}, since these {state}: {named}. Exit code {gated.exit_code}."


def _check(check: Check) -> Iterator[str]:
    if check.kind not in words.LIMITS:
        yield from _plain(check)
        return
    yield f"{words.where(check)}: {words.VERDICTS[check.verdict]}"
    if check.estimate is None:
        yield f"  {words.reason(check)}"
        return
    yield from (f"  {line}" for line in _estimate(check))
    if check.failed and check.reach is not None:
        least, most = (words.valued(end, check) for end in check.reach)
        yield "  " + _line(f"with {check.failed} failed scores wherever they may lie", f"{least} to {most}")
    yield from (f"  {line}" for line in _decision(check))


def _estimate(check: Check) -> Iterator[str]:
    if check.kind == "max_drop" and check.rectified:
        what = f"label-corrected difference, {plural(check.n, 'labeled pair')}"
        yield _line(what, f"d = {words.valued(check.estimate, check)}")
        yield _line("limit", words.valued(check.limit, check))
        return
    if check.kind == "max_drop":
        before, now = words.mean(check.base, check), words.mean(check.new, check)
        there = plural(check.n, "pair") if check.n_base is None else plural(check.n_base, "example")
        here = "" if check.n_base is None else f", {plural(check.n, 'other example')}"
        yield _line(f"mean of the baseline, {there}", f"b = {before}")
        yield _line(f"mean of this run{here}", f"x = {now}")
        yield _line("difference", f"d = x − b = {now} − {before} = {words.valued(check.estimate, check)}")
        sign = "−" if check.higher else "+"
        value = words.valued(check.limit, check)
        if check.relative:
            yield _line("limit", f"{sign}{100 * check.amount:g} % of b = {sign}{check.amount:g} · {before} = {value}")
        else:
            yield _line("limit", value)
        return
    name = "mean" if check.statistic == "mean" else check.statistic
    yield _line(f"{name} of {plural(check.n, 'example')}", f"x = {words.valued(check.estimate, check)}")
    yield _line("limit", words.valued(check.limit, check))


def _decision(check: Check) -> Iterator[str]:
    if check.because in ("few", "itself", "unanswered"):
        yield words.reason(check)
        return
    if check.decide == "point":
        yield _asked(check, f"passes when the estimate is {SYMBOLS[check.higher][0]} the limit", check.estimate)
        if check.because != "point":
            yield words.reason(check)
        return
    if check.because == "unchanged":
        yield f"passes: {words.reason(check)}"
        return
    if check.interval is not None:
        far = check.interval.low if check.higher else check.interval.high
        yield _line(f"90 % interval ({check.interval.method})", words.ends(check.interval, check))
        yield _asked(check, "passes when the whole of it meets the limit", far)
    if check.fail_interval is not None and check.alpha is not None:
        near = check.fail_interval.high if check.higher else check.fail_interval.low
        name = f"{words.level(check.fail_interval)} interval, alpha = {check.alpha:.2g} of the family"
        yield _line(name, words.ends(check.fail_interval, check))
        yield _asked(check, "fails when the whole of it is beyond the limit", near, beyond=True)
    if check.because not in ("interval",):
        yield words.reason(check)


def _asked(check: Check, name: str, value: float | None, *, beyond: bool = False) -> str:
    """A comparison with the limit and its answer, as the decision makes it: rounding does not count."""
    limit = check.limit or 0.0
    share = value or 0.0
    lies = share < limit - NEAR if check.higher else share > limit + NEAR
    allowed, outside = SYMBOLS[check.higher]
    symbol = outside if beyond else allowed
    shown = f"{words.valued(value, check)} {symbol} {words.valued(check.limit, check)}"
    return _line(name, f"{shown}? {'yes' if lies is beyond else 'no'}")


def _plain(check: Check) -> Iterator[str]:
    if check.kind == "max_failed" and check.n:
        share = 100 * (check.estimate or 0.0)
        met = "yes" if check.verdict == "pass" else "no"  # with examples, nothing but the share decides
        yield _line("examples with failed calls", f"{check.failed} of {check.n} = {share:.1f} %")
        yield _line("passes when at most the share allowed", f"{share:.1f} % ≤ {100 * check.amount:g} %? {met}")
        return
    yield f"{words.VERDICTS[check.verdict]}: {words.reason(check)}"


def _line(name: str, value: str) -> str:
    return f"{name:<{COLUMN}} {value}"
