"""The jury: members asked apart, votes counted by sentence, what fails and what differs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from ragauge.core.ask import Ask, ModelName, Reply
from ragauge.core.errors import JudgeError, UnknownName, UsageError
from ragauge.core.facts import (
    AgreementFacts,
    AnswerFacts,
    Claim,
    CoverFacts,
    JudgeFacts,
    Rating,
    ReferenceFacts,
    RelevanceFacts,
)
from ragauge.core.facts import ReferenceClaim as Reference
from ragauge.engine.ask_router import find_model
from ragauge.engine.estimate import find_first_model_asks
from ragauge.engine.judges import build_judge
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.judges.inputs import Agree, CoverAspects, Inputs, RatePassages, VerifyAnswer, VerifyReference
from ragauge.judges.judge import AskGenerator, answer_asks
from ragauge.judges.jury.judge import JuryJudge, MemberAsk, parse_members
from ragauge.judges.jury.vote_aggregation import VoteResult, decide_majority

LLMBAR = Path(__file__).resolve().parents[3] / "shared/data/llmbar/judge_verdicts"
ANSWER = "The hub is white. It weighs nine grams. Hello!"
INPUTS = VerifyAnswer("What is it like?", ("White hub.", "Nine grams.", "Other."), ANSWER)
SPANS = ((0, 17), (18, 39), (40, 46))
YES: dict[str, Any] = {"supporting": (1,), "strength": "direct"}
LOST: dict[str, Any] = {"status": "failed", "reason": "cut off"}


class Scripted:
    """A judge that says what it is given, or raises it, after one ask; without a name it asks nothing."""

    def __init__(self, said: Any, name: str = "a") -> None:
        self.said, self.name = said, name
        self.replies: list[Reply] = []

    @property
    def judge_id(self) -> str:
        return f"own:{self.name}#1"

    def version(self, question: str) -> int:
        return 3 if question == "verify_answer" else 1

    def answers(self, question: str) -> bool:
        return question != "guess_questions"

    def model_of(self, ask: Ask) -> ModelName:
        assert ask.question == "verify_answer"
        return ModelName("own", self.name)

    def models(self) -> tuple[ModelName, ...]:
        return (ModelName("own", self.name),)

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> AskGenerator:
        asked = Ask("chat", inputs.question, 3, (("user", "?"),), judge_repeat=judge_repeat)
        self.replies += yield [asked]
        if isinstance(self.said, Exception):
            raise self.said
        said: JudgeFacts = self.said
        return said


def claim(sentence: int, **more: Any) -> Claim:
    return Claim(1, "said so", *SPANS[sentence - 1], **more)


def facts(*claims: Claim, **more: Any) -> AnswerFacts:
    return AnswerFacts(claims, more.pop("address", "fully"), more.pop("refuse", False), **more)


def judged(*said: Any, inputs: Inputs = INPUTS) -> Any:
    """What a jury of judges that say this finds."""
    jury = JuryJudge([Scripted(one, f"m{n}") for n, one in enumerate(said)])
    return answer_asks(jury.ask(inputs), lambda asks: [Reply("ok", key=str(n)) for n in range(len(asks))])


def test_most_decide_by_sentence() -> None:
    """Claims of one sentence are held together whatever their number: the worst is the member's, the share is p."""
    found = judged(
        facts(claim(1, **YES), claim(1, **YES), claim(2, supporting=(2,), strength="direct")),
        facts(claim(1, supporting=(1, 3), strength="implied"), claim(2, contradicting=(2,))),
        facts(claim(1, **YES), claim(1), claim(2)),
    )
    first, second = found.claims
    assert (first.n, first.text, first.start, first.end) == (1, "The hub is white.", 0, 17)
    # one of both supporters says only implied: no more than half say direct
    assert (first.label, first.supporting, first.strength, first.p) == ("supported", (1,), "implied", 2 / 3)
    assert first.reason == "2 of 3 members vote supported"
    # one says contradicted, one absent: no more than half of those against say contradicted
    assert (second.label, second.p) == ("not_in_context", 1 / 3)


def test_contradicted_where_most_of_those_against_say_so() -> None:
    """Contradicting passages are those that more than half of them name."""
    found = judged(facts(claim(1, contradicting=(2, 3))), facts(claim(1, contradicting=(2,))), facts(claim(1, **YES)))
    assert (found.claims[0].label, found.claims[0].contradicting) == ("contradicted", (2,))


def test_nothing_to_check_is_a_vote_of_its_own() -> None:
    """A sentence that most find nothing to check in is no claim; who finds nothing has no vote on its support."""
    found = judged(facts(claim(1, **YES), claim(3)), facts(claim(1, **YES)), facts())
    (one,) = found.claims
    assert (one.start, one.label, one.p) == (0, "supported", 1.0)


@pytest.mark.parametrize(
    ("said", "label", "p"),
    [
        # a member failed: the two others agree, and it could not turn them
        (((True,), (True,), None), "supported", 1.0),
        # they do not: its vote would decide
        (((True,), (False,), None), None, None),
        # a claim without verdict is a vote that is missing, but a claim that is not supported decides the sentence
        (((True,), (None, True), (True,)), "supported", 1.0),
        (((True,), (None, False), (False,)), "not_in_context", 1 / 3),
        # of five, two failed and two against one are no majority
        (((True,), (True,), (False,), None, None), None, None),
        (((True,), (True,), (True,), None, None), "supported", 1.0),
        # a tie
        (((True,), (True,), (False,), (False,)), None, None),
    ],
)
def test_a_member_that_fails(said: Any, label: str | None, p: float | None) -> None:
    """The rest decide where a majority of all stands, else the claim is failed, with its reason."""
    kinds = {True: YES, False: {}, None: LOST}
    members = [
        RuntimeError("no reply") if one is None else facts(*(claim(1, **kinds[vote]) for vote in one)) for one in said
    ]
    (found,) = judged(*members).claims
    assert (found.label, found.p) == (label, p)
    assert (found.status == "failed") == (label is None)
    assert label is not None or "the jury has no decision" in found.reason


def test_all_fail() -> None:
    """Where no member answers the jury raises their reasons, each once."""
    with pytest.raises(JudgeError, match=r"no member of the jury answered verify_answer: ValueError: x$"):
        judged(ValueError("x"), ValueError("x"))


def test_the_whole_answer() -> None:
    """Whether it addresses the question and refuses is what most say; shares are kept; a tie is none."""
    found = judged(facts(address="fully"), facts(address="fully"), facts(address="no", refuse=True))
    assert (found.address, found.refuse, found.address_p) == ("fully", False, (2 / 3, 0.0, 1 / 3))
    apart = judged(facts(address="fully"), facts(address="no", refuse=True))
    assert (apart.address, apart.refuse, apart.address_p) == (None, None, None)
    unread = judged(facts(refuse=None, unread="hu"), facts(refuse=None, unread="hu"))
    assert (unread.refuse, unread.unread) == (None, "hu")


def test_answers_without_recorded_passages() -> None:
    """Claims are listed, and none has a verdict."""
    found = judged(
        facts(claim(1), support_asked=False),
        facts(claim(1), support_asked=False),
        inputs=replace(INPUTS, passages=None),
    )
    assert (len(found.claims), found.support_asked, found.claims[0].p) == (1, False, None)


def test_other_questions() -> None:
    """Reference claims, passages, aspects and agreement are decided one by one, by most, with shares as p."""
    verified = judged(
        *(ReferenceFacts((Reference(1, "r", one),), parts) for one, parts in (((1, 2), 1), ((2,), 3), ((), 1))),
        inputs=VerifyReference("q", ("r",), ("a", "b")),
    )
    assert verified == ReferenceFacts((Reference(1, "r", (2,), 2 / 3),), 3)
    rated = judged(*(RelevanceFacts((Rating(1, one),)) for one in (True, None, True)), inputs=RatePassages("q", ("a",)))
    assert rated == RelevanceFacts((Rating(1, True, p=1.0),))
    met = judged(*(CoverFacts((one, True)) for one in (True, False, None)), inputs=CoverAspects("q", ("x", "y"), "a"))
    assert met == CoverFacts((None, True))
    agreed = judged(
        *(AgreementFacts((one,), (one == "agrees",)) for one in ("contradicts", "contradicts", "agrees")),
        inputs=Agree(("c",), ("r",)),
    )
    assert agreed == AgreementFacts(("contradicts",), (False,), (1 / 3,), (1 / 3,))


def test_every_member_gets_its_own_replies() -> None:
    """All asks stand in one list, each is answered by its member's model, and a reply goes to who asked for it."""
    members = [Scripted(facts(claim(1, **YES)), name) for name in ("x", "y", "z")]
    jury = build_jury(members)
    seen: list[ModelName | None] = []

    def answer(asks: Sequence[Ask]) -> list[Reply]:
        seen.extend(jury.model_of(ask) for ask in asks)
        assert all(isinstance(ask, MemberAsk) for ask in asks)
        return [Reply("ok", text=str(n)) for n in range(len(asks))]

    answer_asks(jury.ask(INPUTS), answer)
    assert seen == [ModelName("own", "x"), ModelName("own", "y"), ModelName("own", "z")]
    assert [[reply.text for reply in one.replies] for one in members] == [["0"], ["1"], ["2"]]
    assert jury.models() == tuple(seen)
    assert jury.version("verify_answer") == 10
    assert not jury.answers("guess_questions")


def build_jury(members: Sequence[Any]) -> Any:
    named = {f"own:{one.name}": one for one in members}
    return JuryJudge.of("jury:" + "+".join(named), named.__getitem__)


def test_vectors_come_before_chats() -> None:
    """A hybrid member's vectors are asked for first, so that both members' calls go out in one list and are counted."""
    jury = build_judge("jury:openai:gpt-5+hybrid:openai:gpt-5-mini")
    middle = "A pass for grown visitors is sold at twelve euros in the hall."
    inputs = VerifyAnswer("What is a pass?", ("Tickets for the museum cost twelve euros; children pay half.",), middle)
    first, second = find_first_model_asks(jury.ask(inputs), jury, EmbedAnswers())
    assert [find_model(jury, ask) for ask in (first, second)] == [
        ModelName("openai", "gpt-5"),
        ModelName("openai", "gpt-5-mini"),
    ]


def test_votes() -> None:
    """More than half of all votes, missing ones too; nothing decides nothing."""
    assert decide_majority([True, True, False]) == VoteResult(True, 2 / 3)
    assert decide_majority([]) == decide_majority([None]) == decide_majority([True, False]) == VoteResult(None)


def test_a_jury_of_real_judges() -> None:
    """Its id holds all members' ids; a text that members read alike keeps their verdict."""
    jury = build_judge("jury:local+hybrid:openai:gpt-5-mini+openai:gpt-5,temperature=none")
    assert isinstance(jury, JuryJudge)
    for spec in ("local", "hybrid:openai:gpt-5-mini", "openai:gpt-5,temperature=none"):
        assert build_judge(spec).judge_id in jury.judge_id
    assert build_judge("jury:local+openai:gpt-5").judge_id != jury.judge_id
    copied = VerifyAnswer("When did it open?", ("The museum opened in May 1901.",), "The museum opened in May 1901.")

    def answer(asks: Sequence[Ask]) -> list[Reply]:
        return [EmbedAnswers()([ask])[0] if ask.kind == "embed" else Reply("failed", reason="down") for ask in asks]

    found = answer_asks(build_judge("jury:local+hybrid:openai:m+openai:n").ask(copied), answer)
    assert isinstance(found, AnswerFacts)
    (claim_found,) = found.claims
    assert (claim_found.label, claim_found.p) == ("supported", 1.0)  # local and hybrid outvote the one that failed


@pytest.mark.parametrize(
    ("spec", "members"),
    [
        ("jury:local+openai:a", ("local", "openai:a")),
        ("jury:openai:a,mode=per_claim+local", ("openai:a,mode=per_claim", "local")),
        ("jury:openai-chat:c4ai-r+@http://h:1/v1+local", ("openai-chat:c4ai-r+@http://h:1/v1", "local")),
        ("jury:house.judges:make+hybrid:openai:b,combine=majority", ("house.judges:make", "hybrid:openai:b")),
    ],
)
def test_specs(spec: str, members: tuple[str, ...]) -> None:
    """Members are told apart by what begins after a plus; settings before a plus are the member's."""
    assert parse_members(spec) == members


@pytest.mark.parametrize(
    ("spec", "error", "told"),
    [
        ("jury:local", UsageError, "at least 2 judges"),
        ("jury:local+local", UsageError, "is listed twice"),
        ("jury:local+openai:a,combine=mean", UsageError, "decides by majority and has no setting combine"),
        ("jury:local+openai:a,weights=w.json", UsageError, "has no setting weights"),
        ("jury:local+jury:openai:a+openai:b", UsageError, "a jury cannot be a member of a jury"),
        ("jury:local+opnai:a", UnknownName, "openai"),
    ],
)
def test_wrong_specs(spec: str, error: type[Exception], told: str) -> None:
    """What cannot be a jury says what is wrong and what to write."""
    with pytest.raises(error, match=told.replace("+", r"\+")):
        build_judge(spec)


@pytest.mark.realdata
def test_recorded_judges_of_adversarial_answers() -> None:
    """Of seven judges of LLMBar's GPTInst pairs, both orders, most are right in 72 %."""
    paths = sorted(LLMBAR.glob("Adversarial_GPTInst__*"))
    if not paths:
        pytest.skip("its recorded verdicts are public data, kept beside the repository and never in it")
    judges = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    truth = [str(row["label"]) == "1" for row in judges[0]]
    said = [
        [str(judge[n]["results"][0][f"swap = {order}"]["winner"]) for judge in judges for order in (False, True)]
        for n in range(len(truth))
    ]
    votes = [{at: one == "1" for at, one in enumerate(mine) if one in ("1", "2")} for mine in said]
    verdicts = [decide_majority(list(one.values())).yes for one in votes]
    shares = [0.5 if yes is None else float(yes == right) for yes, right in zip(verdicts, truth, strict=True)]
    assert mean(shares) == pytest.approx(0.72, abs=0.005)
