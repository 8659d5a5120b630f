"""Failed calls in the words of a gate: whose they were, and what brings the missing scores back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragauge.core.messages import command, plural
from ragauge.gating.result import Check, Gated, Lost
from ragauge.rendering.words import safe

RECORDED = "recorded"  # the system of a run that came from a file and names none


def lead(gated: Gated) -> list[str]:
    """What stands before every rule: that every call failed, with the error, and where to look."""
    return [safe(gated.broken)] if gated.broken else []


def share(check: Check) -> str:
    """How many examples have failed calls, and whose."""
    whose = "" if check.lost is None else f" ({_counted(check.lost)})"
    return f"{check.failed} of {check.n} examples have failed calls{whose}"


def scores(check: Check) -> str:
    """How many scores failed, and whose calls these were."""
    lost = check.lost
    if lost is not None and lost.unjudged == check.failed:
        return f"{plural(check.failed, 'example was', 'examples were')} never judged"
    what = "scores are missing" if lost is not None and lost.unjudged else "scores failed"
    return f"{check.failed} {what}" + ("" if lost is None else f" ({_counted(lost)})")


def unanswered(check: Check) -> str:
    """That too few calls were answered for a rule on what a call takes, and whose calls failed."""
    lost = check.lost or Lost()
    n_base = check.n if check.n_base is None else check.n_base
    sides = (("", lost.system, check.n), (" of the baseline", lost.baseline, n_base))
    those = [f"{failed} of {plural(n, 'call')}{whose} failed" for whose, failed, n in sides if failed]
    return (
        f"{' and '.join(those)}: fewer than min_n, which is {check.min_n}, were answered, and what failed calls took "
        "says nothing of answers."
    )


def unread(check: Check) -> str:
    """That the judge cannot read the texts that a check is about."""
    of = plural(check.n + check.not_read, "example")
    return f"the judge cannot read {check.metric} on {check.not_read} of {of}: {safe(check.why)}."


def _counted(lost: Lost) -> str:
    """Whose calls failed, each with its count where there are several.

    >>> _counted(Lost(system=17)), _counted(Lost(system=2, judge=3)), _counted(Lost(judge=1, baseline=4))
    ('the system gave no response', '2 no response of the system, 3 a judge call', '1 a judge call, 4 in the baseline')
    """
    if not (lost.judge or lost.baseline or lost.unjudged):
        return "the system gave no response"
    if not (lost.system or lost.baseline or lost.unjudged):
        return "judge calls failed"
    kinds = {
        "no response of the system": lost.system,
        "a judge call": lost.judge,
        "in the baseline": lost.baseline,
        "never judged": lost.unjudged,
    }
    return ", ".join(f"{count} {name}" for name, count in kinds.items() if count)


def remedies(gated: Gated, checks: Sequence[Check]) -> Iterator[str]:
    """What brings the scores back that these checks miss, a sentence for each whose calls failed."""
    failing = [
        check
        for check in checks
        if check.because == "unanswered" or (check.failed and (check.because in ("failed", "share") or check.unknown))
    ]
    known = [check.lost for check in failing if check.lost is not None]
    if any(lost.system for lost in known):
        yield _answer_again(gated)
    if any(lost.judge for lost in known):
        again = command("evaluate", safe(gated.run.name), "--retry-failed")
        yield f"Failed judge calls are tried again, with the judge and metrics of before, by: {again}."
    if any(lost.unjudged for lost in known):
        again = command("evaluate", safe(gated.run.name))
        yield f"Examples that were never judged are judged by: {again}, with the judge and metrics of before."
    if any(check.because == "not_read" for check in checks):
        again = command("evaluate", safe(gated.run.name), "--judge", "openai:MODEL")
        labels = command("label", "draw", safe(gated.run.name), "-o", "page.html")
        yield f"A model judge reads such texts: {again}; or label answers yourself: {labels}."
    if gated.base is not None and any(lost.baseline for lost in known):
        yield f"What failed in the baseline, and why: {command('show', safe(gated.base.name))}; the same helps there."


def _answer_again(gated: Gated) -> str:
    run = gated.run
    head = "Where the system gave no response, judging again changes nothing: mend the system"
    if run.kind == "traffic":
        return f"{head}; traffic that was answered badly stays so."
    if run.system == RECORDED:
        return f"{head}, record its responses anew and evaluate the new file."
    anew = f"repeat its ragauge run with --retry-failed and then {command('evaluate', safe(run.name))} as before"
    return f"{head}, {anew}; of responses from a file, record new ones and evaluate that file."
