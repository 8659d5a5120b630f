"""The reasons that code reads back: each sentence stands here alone, so that a new wording is read as it is written.

A reason is stored with its score. Where its wording changes, the old one moves behind the new one, so that runs that
were stored with it are read as before.
"""

from __future__ import annotations

import re


class ReasonTemplate:
    """One sentence with {} where it varies: whoever states it and whoever recognizes it use the same.

    Args:
        text: as it is written from now on.
        stored: as runs were stored with it before.

    >>> DIFFERENT = ReasonTemplate("{} differs from {}", "{} is not {}")
    >>> DIFFERENT.build_reason("a", "b")
    'a differs from b'
    >>> [DIFFERENT.parse_reason(reason) for reason in ("a differs from b", "a is not b", "a is b")]
    [('a', 'b'), ('a', 'b'), None]
    """

    def __init__(self, text: str, *stored: str) -> None:
        self.text, self.wordings = text, (text, *stored)
        self._patterns = tuple("(.*?)".join(map(re.escape, wording.split("{}"))) for wording in self.wordings)

    def build_reason(self, *values: object) -> str:
        """The sentence about these values."""
        return self.text.format(*values)

    def parse_reason(self, reason: str) -> tuple[str, ...] | None:
        """The values of a reason that this sentence, or an older wording of it, states; None for another reason."""
        matches = (re.fullmatch(pattern, reason, re.DOTALL) for pattern in self._patterns)
        return next((match.groups() for match in matches if match), None)


SYSTEM_FAILED = ReasonTemplate("the system failed: {}")  # by which error
NOT_EVALUATED = ReasonTemplate("{} was not evaluated", "{} was not asked")  # which question of the judge
NOT_JUDGED = ReasonTemplate("not judged by {}")  # by whom
UNREAD = ReasonTemplate("this judge cannot tell {} in such texts ({}; {})")  # what, where, and why
TOO_FEW_CONTROLS = ReasonTemplate(  # how many, how many, and at least how many
    "{} control pairs known to be true and {} known to be false; at least {} of each are needed",
    "{} control pairs known true, {} known false: {} of each needed",
)
BEATEN = ReasonTemplate("look {}, {} questions: {} is better by {}")  # of a trial that is dropped from a sweep
CANNOT_WIN = ReasonTemplate("{}; it cannot be better by {}")  # the former, and the margin
NO_REFERENCE = "no reference answer"

# of failed scores that lack a verdict
VERDICTS_MISSING = ReasonTemplate("{} missing")  # how many
CLAIMS_LACKING = ReasonTemplate("the claims of {} are not available", "the claims of {} could not be had")
NO_VERDICT = ReasonTemplate("no verdict after two attempts", "no verdict, asked twice")
NO_SENTENCE_NAMED = ReasonTemplate(
    "the judge said supported or contradicted but did not name a sentence that shows it, after two attempts",
    "the judge said supported or contradicted but named no sentence that shows it, asked twice",
)
GAPS = (VERDICTS_MISSING, CLAIMS_LACKING, NO_VERDICT, NO_SENTENCE_NAMED)


def add_call_reason(reason: str, call_reason: str) -> str:
    """A failed score's reason with what the call said that brought nothing; unchanged where it says so already.

    >>> add_call_reason("2 verdicts missing", "too_long: 9,000 tokens")
    '2 verdicts missing (too_long: 9,000 tokens)'
    """
    return reason if not call_reason or call_reason in reason else f"{reason} ({call_reason})"


def read_call_reason(reason: str) -> str | None:
    """What a call said that left verdicts missing; None where no verdict is missing, or no call said anything.

    >>> read_call_reason("2 verdicts missing (too_long: 9,000 tokens (of 8,000))")
    'too_long: 9,000 tokens (of 8,000)'
    >>> read_call_reason("the system failed: time-out (5 s)") is None
    True
    """
    gap, _, call_reason = reason.partition(" (")
    is_gap = call_reason.endswith(")") and any(template.parse_reason(gap) is not None for template in GAPS)
    return call_reason[:-1] if is_gap else None
