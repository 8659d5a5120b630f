"""Questions are driven on stored replies, many at a look, and stop before the first ask that is not stored."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from ragauge.core.ask import Ask, Reply
from ragauge.core.facts import CoverFacts, JudgeFacts
from ragauge.engine.driver import JobDriver, advance_on_stored
from ragauge.engine.judge_batch import JobOutcome, QuestionJob


def ask(text: str) -> Ask:
    """A request of one message."""
    return Ask("chat", "cover_aspects", 1, (("user", text),))


def asking(*rounds: Sequence[str]) -> Generator[list[Ask], list[Reply], JudgeFacts]:
    """Asks each round's texts in turn; a reply of "raise" raises, others count as met where they say yes."""
    said: list[Reply] = []
    for texts in rounds:
        said += yield [ask(text) for text in texts]
        if any(reply.text == "raise" for reply in said):
            raise ValueError("no sense")
    return CoverFacts(tuple(reply.text == "yes" for reply in said))


def ended(one: JobDriver) -> JobOutcome:
    """What came of a question that is at its end."""
    assert one.outcome is not None
    return one.outcome


class StoredReplies:
    """Stored replies by text; counts how often it is looked at."""

    def __init__(self, **replies: Reply) -> None:
        self.replies, self.looks = replies, 0

    def __call__(self, lists: Sequence[Sequence[Ask]]) -> list[list[Reply] | None]:
        self.looks += 1
        texts = [[one.messages[0][1] for one in asks] for asks in lists]
        return [[self.replies[text] for text in part] if {*part} <= {*self.replies} else None for part in texts]


def test_questions_end_on_stored_replies_with_one_look_a_round() -> None:
    """Two questions of two rounds and one that asks nothing need two looks; the replies' keys stand in order."""
    replies = StoredReplies(
        a=Reply("ok", "yes", key="k1"), b=Reply("ok", "no", key="k2"), c=Reply("ok", "yes", key="k3")
    )
    jobs = [QuestionJob("cover_aspects", asking(*rounds), 7) for rounds in ([["a", "b"], ["c"]], [["c"], ["a"]], [])]
    first, second, third = advance_on_stored(jobs, replies)
    assert replies.looks == 2
    assert ended(first).facts == CoverFacts((True, False, True))
    assert ended(first).reply_keys == ("k1", "k2", "k3")
    assert ended(second).reply_keys == ("k3", "k1")
    assert (first.reused, second.reused, third.reused) == (3, 2, 0)
    assert ended(third).facts == CoverFacts(())


def test_a_question_stops_before_what_is_not_stored() -> None:
    """A round that lacks one reply stays to be asked whole; answered later, the question goes on from there."""
    replies = StoredReplies(a=Reply("ok", "yes", key="k1"), b=Reply("ok", "yes", key="k2"))
    (one,) = advance_on_stored([QuestionJob("cover_aspects", asking(["a"], ["b", "new"]), 1)], replies)
    assert one.outcome is None
    assert [part.messages[0][1] for part in one.asks] == ["b", "new"]
    assert one.reused == 1
    one.accept_replies([Reply("ok", "yes", key="k2"), Reply("failed", reason="no reply after 6 attempts")])
    assert ended(one).reply_keys == ("k1", "k2")
    assert (ended(one).partial, ended(one).reason) == (True, "no reply after 6 attempts")


def test_a_stored_failure_is_a_reply() -> None:
    """A reply that was filtered is stored, and used again: its reason is told, and the next start gains nothing."""
    replies = StoredReplies(a=Reply("failed", key="k1", reason="filtered"))
    (one,) = advance_on_stored([QuestionJob("cover_aspects", asking(["a"]), 1)], replies)
    assert (ended(one).partial, ended(one).reason, ended(one).reply_keys) == (False, "filtered", ("k1",))


def test_one_that_raises_fails_alone() -> None:
    """An exception on a stored reply is the outcome of that question, in its own words."""
    replies = StoredReplies(a=Reply("ok", "raise", key="k1"), b=Reply("ok", "yes", key="k2"))
    bad, good = advance_on_stored([QuestionJob("cover_aspects", asking([text]), 1) for text in ("a", "b")], replies)
    assert (ended(bad).facts, ended(bad).reason) == (None, "ValueError: no sense")
    assert ended(good).facts == CoverFacts((True,))
