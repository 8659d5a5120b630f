"""What a worker does for a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
from tests.engine.tiny_judge import RAISE, TinyJudge, judged, passage, records

from ragauge.core.ask import Ask, Reply
from ragauge.core.errors import JudgeError
from ragauge.core.example import Example, Relevant
from ragauge.core.facts import AnswerFacts, CoverFacts, JudgeFacts
from ragauge.core.response import Passage, Response
from ragauge.engine import worker as wire
from ragauge.engine.judge_batch import BatchResult, Work, judge_batch
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.judges.inputs import Inputs, VerifyAnswer
from ragauge.judges.judge import AskGenerator
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import list_questions, parse_metric
from ragauge.store.evidence import PackedEvidence
from ragauge.store.responses import StoredResponse
from ragauge.store.store_access import Store

NAMES = ("recall@5", "context_recall", "context_precision", "faithfulness", "answer_correctness")
METRICS = tuple(parse_metric(name) for name in NAMES)


class Counting(TinyJudge):
    """Remembers what it was asked."""

    def __init__(self) -> None:
        self.questions: list[str] = []
        self.inputs: list[Inputs] = []

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> AskGenerator:
        self.questions.append(inputs.question)
        self.inputs.append(inputs)
        return super().ask(inputs, judge_repeat)


def loaded(*pairs: tuple[Example, Response]) -> list[StoredResponse]:
    return [StoredResponse(n, example, response) for n, (example, response) in enumerate(pairs, 1)]


def work(judge: TinyJudge, metrics: Sequence[Metric] = METRICS) -> Work:
    asked = tuple(question for question in list_questions(metrics) if judge.answers(question))
    return Work(tuple(metrics), asked, judge)


def run(
    store: Store, items: Sequence[StoredResponse], judge: TinyJudge, metrics: Sequence[Metric] = METRICS
) -> BatchResult:
    return judge_batch(items, work(judge, metrics), store.evidence)


def keep(store: Store, result: BatchResult) -> None:
    """Stores the evidence, unlinked, as a later batch finds it."""
    for one in result.judged:
        for packed in one.evidence:
            store.evidence.put(packed.evidence())


def values(result: BatchResult) -> list[list[float | None]]:
    return [[measured.value for measured in one.measured] for one in result.judged]


def test_batch_equals_one_by_one(store: Store) -> None:
    """A response has the same evidence, scores and cause alone and among others, and after a trip to a worker."""
    items = loaded(*records(12))
    together = run(store, items, TinyJudge())
    alone = [run(store, [item], TinyJudge()).judged[0] for item in items]
    assert list(together.judged) == alone
    assert wire.decode_result(wire.encode_result(together)) == together
    assert together.judged[0].cause is not None


def test_only_needed_questions_are_asked(store: Store) -> None:
    """Recall asks nothing; faithfulness asks one question."""
    judge = Counting()
    assert run(store, loaded(*records(3)), judge, [parse_metric("recall@5")]).n_asked == 0
    assert run(store, loaded(*records(3)), judge, [parse_metric("recall@5"), parse_metric("faithfulness")]).n_asked == 3
    assert judge.questions == ["verify_answer"] * 3


def test_examples_that_differ_in_the_reference_are_verified_once(store: Store) -> None:
    """Two examples that differ only in the reference share verify_answer: one asking, one key (case 95)."""
    (example, response), _ = records(2)
    other = replace(example, query_id="other", references=("else",), reference_claims=("something else",))
    judge = Counting()
    result = run(store, loaded((example, response), (other, replace(response, query_id="other"))), judge)
    assert judge.questions.count("verify_answer") == 1
    assert judge.questions.count("rate_passages") == 1
    assert judge.questions.count("verify_reference") == judge.questions.count("agree") == 2
    keys = [{e.question: e.key for e in one.evidence} for one in result.judged]
    assert keys[0]["verify_answer"] == keys[1]["verify_answer"]
    assert keys[0]["agree"] != keys[1]["agree"]
    assert (result.n_asked, result.reused) == (6, 2)


def test_changed_answer_asks_about_the_answer_only(store: Store) -> None:
    """With new answers to the same passages only verify_answer and agree are asked, the rest is reused (case 96)."""
    items = loaded(*records(5))
    first = run(store, items, TinyJudge())
    keep(store, first)
    changed = [replace(item, response=replace(item.response, answer="number 1. Something new.")) for item in items]
    judge = Counting()
    second = run(store, changed, judge)
    # equal answers to other questions are other inputs of verify_answer, but the same claims and references of agree
    assert set(judge.questions) == {"verify_answer", "agree"}
    assert judge.questions.count("verify_answer") == 5
    places = [NAMES.index("context_recall"), NAMES.index("context_precision")]
    assert [[row[i] for i in places] for row in values(second)] == [[row[i] for i in places] for row in values(first)]
    assert values(second) != values(first)


def test_stored_evidence_is_not_asked_again(store: Store) -> None:
    """A second evaluation asks nothing and finds the same."""
    items = loaded(*records(5))
    first = run(store, items, TinyJudge())
    keep(store, first)
    judge = Counting()
    second = run(store, items, judge)
    assert judge.questions == []
    assert second.judged == first.judged
    assert (second.n_asked, second.reused) == (0, first.n_asked)


def test_failed_evidence_is_asked_again(store: Store) -> None:
    """A failure is no answer: a judge that works now is asked, and its finding stands."""
    (example, response), _ = records(2)
    broken = loaded((example, replace(response, answer=f"number 0. {RAISE}")))
    keep(store, run(store, broken, TinyJudge()))

    class Mended(Counting):
        def ask(self, inputs: Inputs, judge_repeat: int = 0) -> AskGenerator:
            self.questions.append(inputs.question)
            yield from ()
            return judged(inputs)

    judge = Mended()
    result = run(store, broken, judge, [parse_metric("faithfulness")])
    assert judge.questions == ["verify_answer"]
    assert result.judged[0].measured[0].status == "scored"


def test_exception_fails_one_example_with_its_text(store: Store) -> None:
    """One example raises: its scores fail with the exception's own text, also those that build on it (case 45)."""
    pairs = list(records(4))
    pairs[2] = (pairs[2][0], replace(pairs[2][1], answer=f"bad {RAISE}"))
    result = run(store, loaded(*pairs), TinyJudge())
    statuses = [dict(zip(NAMES, (m.status for m in one.measured), strict=True)) for one in result.judged]
    assert statuses[2]["faithfulness"] == statuses[2]["answer_correctness"] == "failed"
    assert {status for i in (0, 1, 3) for status in statuses[i].values()} == {"scored"}
    assert statuses[2]["recall@5"] == statuses[2]["context_recall"] == "scored"
    reasons = {m.reason for m in result.judged[2].measured if m.status == "failed"}
    assert reasons == {f"ValueError: cannot read 'bad {RAISE}'"}
    failed = {e.question: e.evidence().reason for e in result.judged[2].evidence if e.failed}
    assert failed == dict.fromkeys(["verify_answer", "agree"], f"ValueError: cannot read 'bad {RAISE}'")
    assert result.failed == 2


def test_wrong_facts_fail(store: Store) -> None:
    """A judge that returns another question's facts, or facts that cannot be stored, fails with both names."""

    class Wrong(TinyJudge):
        def ask(self, inputs: Inputs, judge_repeat: int = 0) -> AskGenerator:
            yield from ()
            return CoverFacts((True,))

    class Unstorable(TinyJudge):
        def ask(self, inputs: Inputs, judge_repeat: int = 0) -> AskGenerator:
            yield from ()
            found: JudgeFacts = judged(inputs)
            assert isinstance(found, AnswerFacts)
            return replace(found, claims=tuple(replace(claim, p=float("nan")) for claim in found.claims))

    items = loaded(*list(records(1)))
    (one,) = run(store, items, Wrong(), [parse_metric("faithfulness")]).judged
    assert one.measured[0].reason == "TypeError: verify_answer must return AnswerFacts, got CoverFacts"
    (one,) = run(store, items, Unstorable(), [parse_metric("faithfulness")]).judged
    assert one.measured[0].status == "failed"
    assert "DataError: AnswerFacts cannot be written" in one.measured[0].reason


@dataclass(frozen=True, slots=True)
class Odd(Metric):
    """A metric that raises, or gives a value that is no number."""

    measures: ClassVar = "end_to_end"
    needs: ClassVar = {"answer": "response.answer"}

    def value(self, answer: str) -> float:
        if answer.startswith("number 1"):
            raise KeyError("odd")
        return float("nan") if answer.startswith("number 2") else 1.0


def test_metric_that_raises_fails_alone(store: Store) -> None:
    """A metric that raises fails for that example with its text; other metrics and examples are scored."""
    result = run(store, loaded(*records(4)), TinyJudge(), [Odd(), parse_metric("recall@5")])
    assert [one.measured[0].status for one in result.judged] == ["scored", "failed", "failed", "scored"]
    assert [one.measured[1].status for one in result.judged] == ["scored"] * 4
    assert result.judged[1].measured[0].reason == "KeyError: 'odd'"
    assert result.judged[2].measured[0].reason == "odd gave nan"


def test_system_error_asks_nothing(store: Store) -> None:
    """A response that is the system's failure is not judged: its scores fail, its cause is system_failed."""
    example = Example("q", "?", references=("r",), relevant=(Relevant(("d1",)),))
    judge = Counting()
    result = run(store, loaded((example, Response("q", error="timed out"))), judge)
    assert judge.questions == []
    assert {measured.status for measured in result.judged[0].measured} == {"failed"}
    assert result.judged[0].cause is not None
    assert result.judged[0].cause.name == "system_failed"


def test_question_sees_no_more_than_its_inputs(store: Store) -> None:
    """What the judge receives holds the inputs alone: no example, no label, no run."""
    judge = Counting()
    run(store, loaded(*records(2)), judge)
    seen = judge.inputs[0]
    assert isinstance(seen, VerifyAnswer)
    assert seen == VerifyAnswer("what is number 0", tuple(passage(j).text or "" for j in range(4)), seen.answer)


def test_embed_asks_are_answered() -> None:
    """Several asks are embedded together and answered apart, in order; equal texts have equal vectors."""
    answer = EmbedAnswers()
    asks = [Ask("embed", "q", 1, (("text", "a cat"), ("text", "a dog"))), Ask("embed", "q", 1, (("text", "a cat"),))]
    first, second = answer(asks)
    assert (first.vectors.shape, second.vectors.shape) == ((2, 256), (1, 256))
    assert (first.vectors[0] == second.vectors[0]).all()
    assert isinstance(first, Reply)


def test_guessed_questions_use_vectors(store: Store) -> None:
    """A question that asks for vectors receives them through the same loop."""
    result = run(store, loaded(*records(2)), TinyJudge(), [parse_metric("answer_relevance:method=questions")])
    for one in result.judged:
        assert one.measured[0].status == "scored"
        assert one.measured[0].value is not None
        assert 0 < one.measured[0].value < 1.0001


def test_chat_ask_without_a_model_fails_in_words() -> None:
    """An ask to a chat model is an error that says there is none."""
    with pytest.raises(JudgeError, match="needs a chat model, and this judge has none"):
        EmbedAnswers()([Ask("chat", "verify_answer", 1, (("user", "?"),))])


def test_earlier_evidence_serves_the_cause(store: Store) -> None:
    """A later evaluation with fewer metrics rests its cause on what the judge found before, and so finds the same."""
    from ragauge.core.response import Run

    example = Example("q", "number", references=("number 1",), reference_claims=("number 1",))
    response = Response("q", passages=(Passage("p", "d", "nothing of it"),), answer="number 1.")
    run_id = store.runs.import_run(Run("", "r"), [(example, response)]).run_id
    items = store.runs.load([number for number, _ in store.runs.load_order(run_id)])
    first = run(store, items, TinyJudge())
    store.evidence.add([(items[0].response_no, packed) for packed in first.judged[0].evidence])
    second = run(store, items, TinyJudge(), [parse_metric("faithfulness")])
    bare = run(store, [replace(items[0], response_no=10**6)], TinyJudge(), [parse_metric("faithfulness")])
    assert first.judged[0].cause is not None
    assert second.judged[0].cause == first.judged[0].cause != bare.judged[0].cause


def test_evidence_that_cannot_be_read_fails(store: Store) -> None:
    """Stored evidence that is not what its question gives fails with that reason; nothing else is affected."""
    items = loaded(*records(2))
    result = run(store, items, TinyJudge(), [parse_metric("faithfulness")])
    packed = result.judged[0].evidence[0]
    broken = PackedEvidence(**{name: getattr(packed, name) for name in packed.__slots__} | {"body": b"\x00{}"})
    known = {packed.key: broken}

    class Stored:
        def load_known(self, keys: object) -> dict[str, PackedEvidence]:
            return known

        def load_linked(self, *_: object) -> dict[int, list[PackedEvidence]]:
            return {}

    again = judge_batch(items, work(TinyJudge(), [parse_metric("faithfulness")]), Stored())  # type: ignore[arg-type]  # what a batch reads
    assert [one.measured[0].status for one in again.judged] == ["failed", "scored"]
    assert "not a valid AnswerFacts in JSON" in again.judged[0].measured[0].reason
