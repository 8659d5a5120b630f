"""How a gate's checks are said, the same in every report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import isinf

from ragauge.core.messages import UNITS, command, plural, three_digits
from ragauge.diagnosis.findings.label_advice import advise_draw
from ragauge.gating.examples import none_yet
from ragauge.gating.result import Check, CheckExample, Gated, Verdict
from ragauge.gating.tables import gate_failures as failures
from ragauge.gating.tables import unpaired_samples as unpaired
from ragauge.rendering.words import safe
from ragauge.stats.weighted import Interval

TITLES: Mapping[Verdict, str] = {
    "pass": "Gate passed",
    "fail": "Gate failed",
    "not_enough_data": "Gate: not enough data",
}
VERDICTS: Mapping[Verdict, str] = {"pass": "pass", "fail": "FAIL", "not_enough_data": "not enough data"}
MARKS: Mapping[Verdict, str] = {"pass": "✓", "fail": "✗", "not_enough_data": "?"}
WHOLE = "whole run"
MOST_NAMED = 50  # segments that are too small for a check


def figure(value: float | None, scale: str = "mean") -> str:
    """A number of a gate: three decimals for scores, since limits are small; three digits or more for amounts.

    >>> figure(0.0244), figure(2150.4, "amount"), figure(0.00042, "amount"), figure(None)
    ('0.024', '2,150', '0.00042', '–')
    """
    if value is None:
        return "–"
    if isinf(value):
        return "∞" if value > 0 else "−∞"
    shown = (
        f"{abs(value):.3f}"
        if scale != "amount"
        else f"{abs(value):,.0f}"
        if abs(value) >= 100
        else (three_digits(abs(value)))
    )
    return f"−{shown}" if value < 0 and any(digit in shown for digit in "123456789") else shown


def signed(value: float | None, scale: str = "mean") -> str:
    """A difference with its sign.

    >>> signed(0.011), signed(-0.0244), signed(0.0)
    ('+0.011', '−0.024', '0.000')
    """
    shown = figure(value, scale)
    rose = value is not None and value > 0 and any(digit in shown for digit in "123456789")
    return f"+{shown}" if rose else shown


def where(check: Check) -> str:
    """The whole run, or the segment."""
    return WHOLE if check.segment is None else f"{safe(check.segment[0])}={safe(check.segment[1])}"


def level(interval: Interval) -> str:
    """An interval's level: 90 %, 99.2 %.

    >>> level(Interval(0, 1, "t", 0.9)), level(Interval(0, 1, "t", 0.99167))
    ('90 %', '99.2 %')
    """
    share = f"{100 * interval.level:.2f}" if interval.level > 0.999 else f"{100 * interval.level:.1f}"
    return f"{share.removesuffix('.0')} %"


def ends(interval: Interval | None, check: Check) -> str:
    """An interval in brackets; of a difference with signs."""
    if interval is None:
        return "no interval"
    write = signed if check.kind == "max_drop" else figure
    return f"[{write(interval.low, check.scale)}, {write(interval.high, check.scale)}]"


def limit(check: Check) -> str:
    """What the estimate is held against: at least −0.024, at most 2,000."""
    if check.kind == "must_pass":
        return "all"
    if check.kind == "max_failed":
        return f"at most {100 * check.amount:g} %"
    return f"at {'least' if check.higher else 'most'} {valued(check.limit, check)}"


def estimate(check: Check) -> str:
    """The estimate with its 90 % interval; where no score changed, that, since no interval decided."""
    if check.kind == "must_pass":
        return f"{len(check.examples)} of {check.n} failed" if check.examples else f"0 of {check.n} failed"
    if check.kind == "max_failed":
        return f"{check.failed} of {check.n}"
    shown = valued(check.estimate, check)
    if check.because == "itself":
        return "nothing compared"
    if check.because == "unchanged":
        return f"{shown}, no score changed"
    return f"{shown} {ends(check.interval, check)}" if check.interval is not None else shown


def valued(value: float | None, check: Check) -> str:
    """A number with the unit of the metric; of a difference with its sign."""
    return _with_unit((signed if check.kind == "max_drop" else figure)(value, check.scale), check)


def mean(value: float | None, check: Check) -> str:
    """The mean of one run, with the unit of the metric."""
    return _with_unit(figure(value, check.scale), check)


def _with_unit(shown: str, check: Check) -> str:
    """A number as written, with the unit of the metric between its sign and itself, and behind it."""
    before, after = UNITS.get(check.metric.partition(":")[0], ("", ""))
    sign = shown[0] if shown[:1] in ("+", "−") else ""
    return (
        shown
        if not any(digit in shown for digit in "0123456789")
        else (f"{sign}{before}{shown.removeprefix(sign)}{after}")
    )


def change(check: Check) -> str:
    """Baseline → run; of a level nothing."""
    if check.base is None or check.kind != "max_drop":
        return ""
    return f"{figure(check.base, check.scale)} → {figure(check.new, check.scale)}"


def counted(check: Check) -> str:
    """How many examples: 240, or 236 + 4 failed, or 40 + 200 not judged; of two samples 240 vs 310."""
    n = f"{check.n:,}" if check.n_base is None else f"{check.n:,} vs {check.n_base:,}"
    if not check.failed or check.kind not in LIMITS:
        return n
    unjudged = 0 if check.lost is None else check.lost.unjudged
    failed, more = check.failed - unjudged, f" + {unjudged:,} not judged" if unjudged else ""
    return n + (f" + {failed:,} failed" if failed else "") + more


LIMITS, SETTLED_ELSEWHERE = ("max_drop", "min", "max"), ("failed", "examples", "itself", "not_read", "unanswered")
# what settles a check that the judge's error leaves open: more examples do not
SETTLED = {
    "level": "More examples do not settle it. A rule of max_drop does with far less, since one judge errs alike on "
    "both runs; else labels of your own, which narrow this interval (ragauge judge check FILE), another judge, a rule "
    "on labels such as recall, or decide: point, which takes the judge's mean as it is.",
    "max_drop": "More examples do not settle it: what does is a larger change, another judge that you have checked on "
    "labels of your own (ragauge judge check FILE), or a rule on labels.",
}


def reason(check: Check) -> str:
    """Why the verdict is what it is, in a sentence."""
    if check.kind == "must_pass":
        return _examples(check)
    if check.kind == "max_failed":
        return f"{failures.share(check)}; {limit(check)} may." if check.n else "no example is evaluated."
    drop = "unpaired difference" if check.unpaired else "difference"
    what = drop if check.kind == "max_drop" else "mean" if check.statistic == "mean" else check.statistic
    held = f"the limit ({limit(check)})"
    match check.because:
        case "not_read" | "unanswered":
            return failures.unread(check) if check.because == "not_read" else failures.unanswered(check)
        case "few":
            return unpaired.few(check) if check.unpaired else _few(check)
        case "nothing" if check.n > 1 and check.statistic == "mean":
            if check.scale == "amount" and not check.estimate:
                return f"all {check.n} values are 0: nothing tells how far others lie. decide: point needs no interval."
            return f"{check.n} examples of one cluster are one observation: no interval of this {what}."
        case "nothing" if check.n:
            return f"{plural(check.n, 'example is', 'examples are')} too few for an interval of this {what}."
        case "nothing":
            return "no example has a value."
        case "failed":
            return f"{failures.scores(check)}, and what they might have been decides."
        case "itself":
            return "the baseline is this run itself: nothing is compared."
        case "unchanged":
            return f"the same score on every one of {check.n} examples in both runs."
        case "corrected":
            return (
                f"worse by the 90 % interval {ends(check.interval, check)}, but not by "
                f"{ends(check.fail_interval, check)}, the interval that allows for so many checks."
            )
        case "unsupported":
            few = "too few examples, or clusters, differ"
            return f"the interval says worse, but {few} for a test that assumes less to agree."
        case "judge":
            return (
                f"by sampling alone, {ends(check.sampled, check)}, it would be decided, but including judge error the "
                f"interval of the {what} is {ends(check.interval, check)} and reaches to both sides of {held}: this "
                f"judge cannot tell. {SETTLED['max_drop' if check.kind == 'max_drop' else 'level']}"
            )
        case "point":
            side = "meets" if check.verdict == "pass" else "is beyond"
            return f"the {what} {valued(check.estimate, check)} {side} {held}."
    found_at = check.fail_interval if check.verdict == "fail" else check.interval
    lies = {"pass": "meets", "fail": "lies beyond", "not_enough_data": "reaches to both sides of"}[check.verdict]
    whole = "the whole " if check.verdict != "not_enough_data" else "the "
    at = "" if found_at is None else f"{level(found_at)} "
    return f"{whole}{at}interval of the {what}, {ends(found_at, check)}, {lies} {held}."


def _few(check: Check) -> str:
    """That there are too few examples, and where the metric does not apply to the others, why."""
    if check.rectified:
        both = " in both runs" if check.kind == "max_drop" else ""
        return f"{plural(check.n, 'example is', 'examples are')} labelled by people{both}, fewer than {check.min_n}."
    short = f"fewer than min_n, which is {check.min_n}"
    if not check.inapplicable:
        return f"{plural(check.n + check.failed, 'example is', 'examples are')} {short}."
    every = check.applies + check.inapplicable
    if not check.applies:
        return f"{check.metric} applies to none of {plural(every, 'example')}: {safe(check.why)}."
    those = f"{check.applies} of {plural(every, 'example')}"
    return f"{check.metric} applies to {those}, {short}. Not to the others: {safe(check.why)}."


def _examples(check: Check) -> str:
    if check.examples:
        return f"{len(check.examples)} of {check.n} failed: {listed(check.examples)}."
    if check.unknown:
        return f"{len(check.unknown)} of {check.n} unclear or not judged: {listed(check.unknown)}."
    return f"all {check.n} passed." if check.n else f"{none_yet(safe(check.tag))}: nothing has to pass."


def listed(examples: Sequence[CheckExample], most: int = 5) -> str:
    """Examples by id with what is known about them."""
    shown = [f"{safe(example.query_id)}{_known(example)}" for example in examples[:most]]
    more = len(examples) - most
    return ", ".join([*shown, *([f"and {more} more"] if more > 0 else [])])


def _known(example: CheckExample) -> str:
    if example.new is not None and example.base is not None:
        return f" ({figure(example.base)} → {figure(example.new)})"
    if example.new is not None:
        return f" ({figure(example.new)})"
    return f" ({safe(example.why)})" if example.why else ""


def said(check: Check) -> str:
    """A check in one line: what is asked, where, and why the verdict."""
    place_words = "" if check.segment is None else f" in {where(check)}"
    numbers = f" {change(check)}, {estimate(check)}:" if change(check) else ""
    return f"{check.asks}{place_words}:{numbers} {reason(check)}"


def title(gated: Gated) -> str:
    """The verdict as a heading, with the warnings that a pass has."""
    warnings = len(warned(gated)) if gated.verdict == "pass" else 0
    return TITLES[gated.verdict] + (f" with {plural(warnings, 'warning')}" if warnings else "")


def about(gated: Gated) -> str:
    """Which runs were held against each other."""
    against = f" against {safe(gated.base.name)}" if gated.base is not None else ""
    return f"{safe(gated.run.name)}{against}"


def facts(gated: Gated) -> list[str]:
    """What the verdict rests on: checks, rules, examples, clusters, judge."""
    words = [tally(gated), f"rules in {safe(gated.source)}"]
    words += [unpaired.about(gated)] if gated.matched is not None else []
    words += [f"{plural(gated.clusters, 'cluster')} of examples"] if gated.clusters else []
    return words + ([f"judged by {safe(gated.judge_id)}"] if gated.judge_id else [])


def minded(gated: Gated) -> list[str]:
    """What the reader must know: that differences are unpaired, and the gate's warnings."""
    note = unpaired.note(gated)
    return [*([note] if note else []), *(safe(warning) for warning in gated.warnings)]


def tally(gated: Gated) -> str:
    """How many checks came out how."""
    counts = Counter(check.verdict for check in gated.checks)
    shown: dict[Verdict, str] = {"fail": "failed", "not_enough_data": "not enough data", "pass": "passed"}
    parts = [f"{counts[verdict]} {name}" for verdict, name in shown.items() if counts[verdict]]
    return f"{len(gated.checks)} checks: {', '.join(parts)}"


def stopping(gated: Gated) -> list[Check]:
    """The checks that decided the verdict: those that fail, or those without enough data."""
    if gated.verdict == "pass":
        return []
    return [check for check in gated.checks if check.stops and check.verdict == gated.verdict]


def warned(gated: Gated) -> list[Check]:
    """Failed checks that do not stop the gate."""
    return [check for check in gated.checks if check.verdict == "fail" and not check.stops]


def summary(gated: Gated) -> str:
    """The verdict with what decided it, one line a check."""
    lines = [f"{title(gated)}: {about(gated)}.", *failures.lead(gated)]
    lines += [note] if (note := unpaired.note(gated)) else []
    lines += [said(check) for check in gated.checks if check.kind == "must_pass" and not check.n]
    for check in stopping(gated):
        lost = f" Lost most: {listed(check.examples)}." if check.examples and check.kind != "must_pass" else ""
        lines.append(f"- {said(check)}{lost}")
    if advice := what_next(gated):
        lines.append(advice)
    return "\n".join(lines)


def what_next(gated: Gated) -> str:
    """What to do about the verdict; "" where nothing is to be done."""
    stopped = stopping(gated)
    again = list(failures.remedies(gated, stopped))
    if gated.verdict == "fail" and not gated.broken:
        run, base = gated.run, gated.base
        name, other = safe(run.name), "" if base is None else safe(base.name)
        if name == other and base is not None:  # by their names they could not be told apart
            name, other = run.run_id, base.run_id
        look = ("compare", other, name) if other else ("show", name)
        return " ".join([f"Which examples, and why: {command(*look)}; the arithmetic: --explain.", *again])
    return " ".join([*again, *([] if gated.broken else _more_data(stopped, safe(gated.run.name), gated.run.done))])


def _more_data(stopped: Sequence[Check], run_name: str, n: int) -> Iterator[str]:
    """What helps checks that have not enough data for another reason than failed calls."""
    unlabelled = {check.metric: check for check in stopped if check.because == "few" and check.inapplicable}
    for name, check in unlabelled.items():
        needs = command("metrics", safe(name))
        yield f"Label or record what {safe(name)} needs (see {needs}, ragauge docs data), or drop rule {check.rule}."
    if any(check.kind == "must_pass" and _unexplained(check) for check in stopped):
        yield "An example without a value cannot pass: label or evaluate what is named, or take its tag off."
    if any(check.because == "itself" for check in stopped):
        yield "A run is no baseline of itself: change something, run and evaluate again, and gate that run."
    rest = [check for check in stopped if check.because not in SETTLED_ELSEWHERE and not check.inapplicable]
    if not rest:
        return
    if any(check.because == "few" and check.rectified for check in rest):
        yield advise_draw(run_name, n)
    elif {check.because for check in rest} == {"few"}:
        yield "More examples; or a smaller min_n, if so few are meant to decide. See ragauge docs gates."
    elif any(check.kind == "max_drop" and check.amount == 0 for check in rest):
        yield (
            "max_drop: 0 passes only what is shown to be better. Allow a small drop (max_drop: 2 points), "
            "or look at the estimate alone (decide: point)."
        )
    else:
        yield "More examples narrow the interval; a larger limit, or decide: point, asks for less: ragauge docs gates."


def _unexplained(check: Check) -> bool:
    """Whether an example is not known for another reason than failed calls."""
    lost = check.lost
    return lost is None or len(check.unknown) > lost.system + lost.judge + lost.unjudged


def shown(gated: Gated) -> list[Check]:
    """The checks worth a line: the whole run, and segments that fail or might be worse."""
    alarming = ("corrected", "unsupported")
    return [
        check
        for check in gated.checks
        if check.segment is None or check.stops or check.verdict == "fail" or check.because in alarming
    ]


def left_out(gated: Gated) -> str:
    """What is said of the segments that have no line of their own; "" where every check has one."""
    kept = {id(check) for check in shown(gated)}
    rest = [check for check in gated.checks if id(check) not in kept]
    passed = sum(check.verdict == "pass" for check in rest)
    unknown = [check for check in rest if check.verdict != "pass"]
    parts = [f"{passed} pass"] if passed else []
    parts += [f"{len(unknown)} not enough data, which does not stop the gate"] if unknown else []
    others = f"Other segments: {', '.join(parts)}." if parts else ""
    return " ".join(part for part in (others, _too_few(gated, unknown)) if part)


def _too_few(gated: Gated, checks: Sequence[Check]) -> str:
    """The segments that are too small for a check, each with its examples."""
    few = [check for check in checks if check.because == "few"]
    counts = dict.fromkeys((where(check), counted(check)) for check in few)
    twice = {place for place, n in Counter(place for place, _ in counts).items() if n > 1}  # by metric another count
    parts = list(
        dict.fromkeys(
            f"{where(check)} {counted(check)}{f' of {check.metric}' if where(check) in twice else ''} "
            f"(min_n {check.min_n})"
            for check in few
        )
    )
    parts += [f"{safe(column)}={safe(value)} {n}" for column, value, n in gated.few]
    more = f" and {len(parts) - MOST_NAMED} more (all are in the JSON)" if len(parts) > MOST_NAMED else ""
    return f"Too few examples for a check of their own: {', '.join(parts[:MOST_NAMED])}{more}." if parts else ""


def bounded(gated: Gated) -> list[str]:
    """How false alarms are bounded, a sentence a family."""
    words = []
    for family in gated.families:
        n = family.whole + family.segments
        if n == 1:
            words.append(
                "The check that blocks fails at one-sided alpha = 0.05."
                if family.on_fail == "block"
                else "The check that warns fails at one-sided alpha = 0.05."
            )
            continue
        split = "half of it for the whole run, half for the segments, " if family.whole and family.segments else ""
        verb = "block" if family.on_fail == "block" else "warn"
        words.append(
            f"{n} checks that {verb} ({family.whole} on the whole run, {family.segments} in segments) share "
            f"alpha = {family.alpha:g}, {split}by Holm's procedure: if nothing got worse, the chance that even one of "
            f"them fails is at most {100 * family.alpha:g} %."
        )
    return words
