"""Verdicts on examples in words, and the sentence that a report begins with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ragauge.core.label import ANNOTATOR_JUDGE_PREFIX
from ragauge.core.messages import format_command, format_count
from ragauge.core.verdict import RULE_VERSION, ExampleVerdict, Verdict, VerdictCounts
from ragauge.rendering.words import opened, to_line
from ragauge.scores.results.scorecard import ExampleView, ScorecardData

# how a verdict on an example is written, in the order in which verdicts are listed
VERDICTS: Mapping[Verdict, str] = {
    "failed": "failed",
    "unclear": "unclear",
    "passed": "passed",
    "not_judged": "not judged",
}
OLDER_RULE = "older rule"  # stands for counts that the present rule did not decide
MAX_REASONS = 3  # that stand beside a count
VARIANT_WORDS = {"oracle": "On the labeled passages", "closed_book": "Without passages"}


def verdict(card: ScorecardData) -> str:
    """The outcome in a sentence, after how much of the run is there where it is not complete."""
    outcome = f"{_describe_corrected_share(card)}{_describe_outcome(card)}"
    if not is_incomplete(card):
        return outcome
    return f"Not complete: {card.run.done:,} of {card.run.planned:,} responses. {outcome}"


def _describe_corrected_share(card: ScorecardData) -> str:
    """The label-corrected share of failed examples, and the judge's own; "" without it. It ends with a space."""
    share = card.failed_share
    if share is None:
        return ""
    low, high = share.interval.low, share.interval.high
    off = (
        ""
        if low <= share.judged <= high
        else (f", too {'many' if share.judged > high else 'few'}: its single verdicts and causes are uncertain")
    )
    labels = format_count(share.n, "labeled answer")
    share_text = f"{share.mean:.0%} [{low:.0%}, {high:.0%}]"
    return f"By {labels}, {share_text} of all examples fail; the judge alone fails {share.judged:.0%}{off}. "


def is_incomplete(card: ScorecardData) -> bool:
    """Whether responses of the run are still to come."""
    return card.run.state != "finished" and card.run.done < card.run.planned


def _describe_outcome(card: ScorecardData) -> str:
    if not card.n:
        return "Nothing was evaluated."
    if card.failed_examples == 0:
        return _describe_none_failed(card)
    head = ", ".join(
        [
            f"{card.failed_examples:,} of {card.n:,} examples failed{_describe_baseline_failures(card)}",
            *open_counts(card),
        ]
    )
    if card.run.variant in VARIANT_WORDS:
        head = f"{VARIANT_WORDS[card.run.variant]}, {head}"
    if card.findings:
        return f"{head}. First: {card.findings[0].headline}"
    if card.run.variant == "closed_book":
        return f"{head}. The model knew the right answers on its own."
    top = next(iter(card.causes), "")
    return f"{head}, most often by {top}." if top else f"{head}; the causes are undecided."


def _describe_none_failed(card: ScorecardData) -> str:
    """What can be said where nothing shows a failure, which is not always that nothing failed."""
    reasons = "; ".join(to_line(reason) for reason in list({**card.unclear, **card.not_judged})[:MAX_REASONS])
    base = card.baseline
    compared = base is not None and base.failures.same_rule
    baseline_text = f" ({base.failures.failed_base:,} failed in {to_line(base.base.name)})" if base and compared else ""
    passed, open_text = card.passed_examples, ", ".join(open_counts(card))
    if open_text and not passed:
        return f"None of {format_count(card.n, 'example')} failed or passed: {open_text} ({reasons})."
    if open_text:
        return f"{passed:,} of {card.n:,} examples passed, none failed{baseline_text}, {open_text} ({reasons})."
    if card.pending or is_incomplete(card):
        more = f"{card.pending:,} more {'is' if card.pending == 1 else 'are'} not evaluated yet"
        return f"{format_count(passed, 'example')} passed{baseline_text}{f'; {more}' if card.pending else ''}."
    if card.labels_alone:
        return (
            f"No example among {card.n:,} failed by its labels{_describe_baseline_failures(card)}; no answer was "
            "judged."
        )
    return f"No failed example among {card.n:,}{_describe_baseline_failures(card)}."


def open_counts(card: ScorecardData) -> list[str]:
    """How many examples are unclear, and how many were not judged; nothing of what there is none of."""
    counts = {"unclear": card.unclear_examples, "not judged": card.not_judged_examples}
    return [f"{count:,} {name}" for name, count in counts.items() if count]


# what shows a failure, as it follows a count
SHOWN_BY: Mapping[str, str] = {
    "record": "by the run's record",
    "people": "by human labels",
    "labels": "by labels",
    "label and judge": "by a label and the judge",
    "judge": "only by the judge",
}


def outcomes(card: ScorecardData) -> str:
    """How many examples failed, are unclear, passed and were not judged, with what shows it; "" without examples."""
    if not card.n:
        return ""
    by = ", ".join(f"{count:,} {SHOWN_BY.get(name, name)}" for name, count in card.failed_by.items())
    return " · ".join(
        [
            f"{card.failed_examples:,} failed{f' ({by})' if by else ''}",
            *_format_with_reasons("unclear", card.unclear),
            f"{card.passed_examples:,} passed",
            *_format_with_reasons("not judged", card.not_judged),
        ]
    )


def _format_with_reasons(name: str, reasons: Mapping[str, int]) -> Iterator[str]:
    """A count with its reasons, each with its own count where there are several; nothing where there are none."""
    if reasons:
        visible, several = list(reasons.items())[:MAX_REASONS], len(reasons) > 1
        reason_texts = [to_line(reason) + (f": {n:,}" if several else "") for reason, n in visible if reason]
        others = sum(reasons.values()) - sum(n for _, n in visible)
        reasons_text = "; ".join([*reason_texts, *([f"other reasons: {others:,}"] if others else [])])
        yield f"{sum(reasons.values()):,} {name}" + (f" ({reasons_text})" if reasons_text else "")


def count_words(counts: VerdictCounts | None) -> str:
    """How many examples have which verdict; "older rule" where the present one did not decide them, "" for None.

    >>> count_words(VerdictCounts(failed=3, unclear=2, passed=1_500)), count_words(VerdictCounts(rule_version=1))
    ('3 failed · 2 unclear · 1,500 passed', 'older rule')
    """
    if counts is None:
        return ""
    if not counts.is_current:
        return OLDER_RULE
    amounts = {"failed": counts.failed, "unclear": counts.unclear, "passed": counts.passed}
    amounts |= {"not judged": counts.not_judged} if counts.not_judged else {}
    return " · ".join(f"{n:,} {name}" for name, n in amounts.items())


def verdict_pair(verdicts: ExampleVerdict) -> str:
    """Both verdicts that make up the one on an example, as far as either was judged; "" where neither was.

    >>> verdict_pair(ExampleVerdict("failed", "passed", "failed")), verdict_pair(ExampleVerdict("not_judged"))
    ('answer right: passed · grounded in the passages: failed', '')
    """
    if verdicts.right == verdicts.grounded == "not_judged":
        return ""
    return f"answer right: {VERDICTS[verdicts.right]} · grounded in the passages: {VERDICTS[verdicts.grounded]}"


def labels_decide(view: ExampleView) -> str:
    """The verdicts that people's labels decide beside claims of a judge; "" for none, or where people are the judge."""
    people = any(evidence.judge_id.startswith(ANNOTATOR_JUDGE_PREFIX) for evidence in view.evidence.values())
    verdicts = {"right": view.verdicts.right, "grounded": view.verdicts.grounded}
    decided = ", ".join(f"{name}: {VERDICTS[verdicts[name]]}" for name in view.labeled if not people)
    return f"By human labels, {decided}. The claims show what the judge found." if decided else ""


def older_rule(card: ScorecardData) -> str:
    """That its counts come from an older rule, with the command that renews them; "" where they do not."""
    return "" if card.rule_version == RULE_VERSION or not card.n else describe_renewal(card.run.name)


def describe_renewal(run_name: str) -> str:
    """That the counts of a run come from an older rule, with the command that renews them."""
    renew = format_command("evaluate", to_line(run_name))
    return f"The counts come from an older rule, so runs are not compared by them. Renew them with: {renew}"


def describe_older_counts(counts: Iterable[tuple[str, VerdictCounts | None]]) -> tuple[str, ...]:
    """What a list says below it where the present rule did not decide the counts of a run, by the runs' names."""
    older = [name for name, of_run in counts if of_run is not None and not of_run.is_current]
    return (f"{OLDER_RULE}: {describe_renewal(older[0])}",) if older else ()


def settled_by(means: Sequence[str]) -> str:
    """What would settle an unclear verdict, the cheapest first; "" where nothing would or it is settled."""
    return f"would be resolved by {', or '.join(means)}" if means else ""


def _describe_baseline_failures(card: ScorecardData) -> str:
    """How many failed in the baseline; "" without one."""
    if card.baseline is None or not card.baseline.failures.same_rule:
        return ""
    return f" ({card.baseline.failures.failed_base:,} in {to_line(card.baseline.base.name)})"


def first_thing(card: ScorecardData) -> str:
    """What to do first; "" where nothing is to be done."""
    if is_incomplete(card):
        run_command = f"the ragauge run command of {to_line(card.run.system)} on {to_line(card.run.set_name)}"
        return f"Finish the run: repeat {run_command} to resume. Until then the run is not a baseline."
    return opened(card.findings[0].fix) if card.findings else ""


def label_first(card: ScorecardData) -> str:
    """Why to label answers of the run, and how; "" where that would settle little, or is the first thing to do."""
    return "" if "ragauge label draw " in first_thing(card) else to_line(card.label_first)
