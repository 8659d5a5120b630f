"""Questions on their way to their ends: on stored replies as far as these reach, many questions at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

from ragauge.core.ask import Ask, Reply
from ragauge.core.facts import AnswerFacts, JudgeFacts
from ragauge.engine.judge_batch import JobOutcome, QuestionJob
from ragauge.engine.metric_values import format_error
from ragauge.judges.model.reply_parser import describe_unread
from ragauge.scores.judge_usage import has_missing_verdict

StoredLookup = Callable[[Sequence[Sequence[Ask]]], Sequence[list[Reply] | None]]


class JobDriver:
    """One question about one response, from what it asks first to what came of it.

    Attributes:
        job: the question.
        asks: what it asks now; empty at its end.
        outcome: what came of it; None before its end.
        reused: asks that a stored reply answered.
    """

    def __init__(self, job: QuestionJob) -> None:
        self.job = job
        self.asks: Sequence[Ask] = ()
        self.outcome: JobOutcome | None = None
        self.reused = 0
        self._keys: list[str] = []
        self._lacking, self._reason = False, ""
        self._answered: list[tuple[Ask, Reply]] = []
        self._advance(job.asking, None)

    def accept_replies(self, replies: list[Reply]) -> None:
        """Takes in one reply an ask, in order, and asks on or ends."""
        self._keys += [reply.key for reply in replies if reply.key]
        self._answered += [(ask, reply) for ask, reply in zip(self.asks, replies, strict=True) if ask.schema]
        self._lacking = self._lacking or any(reply.status == "failed" and not reply.key for reply in replies)
        self._reason = self._reason or next((reply.reason for reply in replies if reply.status == "failed"), "")
        self._advance(self.job.asking, replies)

    def _advance(self, asking: Generator[list[Ask], list[Reply], JudgeFacts], replies: list[Reply] | None) -> None:
        try:
            self.asks = next(asking) if replies is None else asking.send(replies)
        except StopIteration as done:
            reason = self._reason or self._explain_missing(done.value)
            self.asks, self.outcome = (), JobOutcome(done.value, reason, tuple(self._keys), self._lacking)
        except Exception as error:
            self.asks, self.outcome = (), JobOutcome(None, format_error(error))

    def _explain_missing(self, facts: JudgeFacts) -> str:
        """Why verdicts are missing where every call was answered; "" where none are."""
        if not has_missing_verdict(facts):
            return ""
        of_claims = [claim.reason for claim in facts.claims] if isinstance(facts, AnswerFacts) else []
        of_replies = [describe_unread(reply, ask.schema or {}) for ask, reply in self._answered]
        return next(filter(None, (*of_replies, *of_claims, getattr(facts, "reason", ""))), "")


def advance_on_stored(jobs: Sequence[QuestionJob], stored: StoredLookup) -> list[JobDriver]:
    """Every job as far as stored replies reach.

    A question whose asks are not all answered by the store stays before them: whoever answers looks each up again.

    Args:
        jobs: what is asked.
        stored: for the asks of each of several questions, their replies; None where one of them is not stored.
    """
    drivers = [JobDriver(job) for job in jobs]
    waiting = [driver for driver in drivers if driver.outcome is None]
    while waiting:
        advanced = []
        for driver, replies in zip(waiting, stored([driver.asks for driver in waiting]), strict=True):
            if replies is not None:
                driver.reused += len(replies)
                driver.accept_replies(replies)
                advanced.append(driver)
        waiting = [driver for driver in advanced if driver.outcome is None]
    return drivers
