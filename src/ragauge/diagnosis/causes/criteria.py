"""Criteria that a right answer meets: what was said of them, and the cause that each is."""

from __future__ import annotations

from ragauge.core.facts import CriteriaFacts, CriterionVerdict
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.cause_rule import CauseMatch, CauseRow, MissingFact, Verdict
from ragauge.diagnosis.causes.labeled_context import Counterfactual

CRITERION_PREFIX = "criterion:"  # how the name of the cause begins that a required criterion is


def required_criteria(context: CauseContext) -> tuple[CriterionVerdict, ...]:
    """What was said of the criteria of the run that a right answer meets."""
    facts = context.asked("meet_criteria")
    verdicts = facts.verdicts if isinstance(facts, CriteriaFacts) and not context.mended.criteria else ()
    return tuple(verdict for verdict in verdicts if verdict.required)


def build_criterion_row(name: str, text: str) -> CauseRow:
    """The row of a required criterion.

    Args:
        name: of the criterion.
        text: its statement; "" = it is not known any more.
    """

    def decide_criterion(context: CauseContext) -> Verdict:
        """The answer does not meet a required criterion."""
        criterion_verdict = next((verdict for verdict in required_criteria(context) if verdict.name == name), None)
        if criterion_verdict is None or criterion_verdict.met:
            return None
        if criterion_verdict.met is None:
            return MissingFact(f"whether the criterion {name} is met")
        level = (
            f" (level {criterion_verdict.level} of {criterion_verdict.n_levels})"
            if criterion_verdict.level is not None
            else ""
        )
        return CauseMatch(
            f"{criterion_verdict.reason.rstrip('.') or f'{name} is not met'}{level}",
            "judge",
            Counterfactual(criteria=True),
        )

    fix = f"Ask for it in the prompt: {text}" if text else f"Add the criterion {name} to the prompt."
    return CauseRow(f"{CRITERION_PREFIX}{name}", "generation", fix, decide_criterion)
