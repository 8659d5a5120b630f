"""Criteria that a right answer meets: what was said of them, and the cause that each is."""

from __future__ import annotations

from ragauge.core.criterion import CriterionVerdict
from ragauge.core.facts import CriteriaFacts
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.cause_rule import CauseRow, Lack, Verdict, Why
from ragauge.diagnosis.causes.remedied import Counterfactual

CRITERION = "criterion:"  # how the name of the cause begins that a required criterion is


def required_criteria(context: CauseContext) -> tuple[CriterionVerdict, ...]:
    """What was said of the criteria of the run that a right answer meets."""
    facts = context.asked("meet_criteria")
    known = facts.verdicts if isinstance(facts, CriteriaFacts) and not context.mended.criteria else ()
    return tuple(verdict for verdict in known if verdict.required)


def criterion_row(name: str, text: str) -> CauseRow:
    """The row of a required criterion.

    Args:
        name: of the criterion.
        text: its statement; "" = it is not known any more.
    """

    def decide(seen: CauseContext) -> Verdict:
        """The answer does not meet a required criterion."""
        found = next((verdict for verdict in required_criteria(seen) if verdict.name == name), None)
        if found is None or found.met:
            return None
        if found.met is None:
            return Lack(f"whether the criterion {name} is met")
        level = f" (level {found.level} of {found.n_levels})" if found.level is not None else ""
        return Why(f"{found.reason.rstrip('.') or f'{name} is not met'}{level}", "judge", Counterfactual(criteria=True))

    fix = f"Ask for it in the prompt: {text}" if text else f"Ask in the prompt for what the criterion {name} says."
    return CauseRow(f"{CRITERION}{name}", "generation", fix, decide)
