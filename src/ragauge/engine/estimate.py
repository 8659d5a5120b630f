"""What an evaluation by a model would ask and cost, before anything is asked."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragauge.core.ask import Ask, ModelName, Reply, Usage, reply_key
from ragauge.core.facts import AnswerFacts, Claim, FactsOf
from ragauge.engine.ask_router import asked_of
from ragauge.engine.budget import Price
from ragauge.engine.controls import expected_inputs, needs_controls
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.engine.plan import Plan
from ragauge.judges.inputs import GuessQuestions, Inputs, evidence_key, inputs_for
from ragauge.judges.judge import AsksModels, Judge, asks_models
from ragauge.models.prices import price
from ragauge.models.prompt_cache import CHARS_A_TOKEN, cacheable, shared_tokens
from ragauge.store.responses import Loaded
from ragauge.store.store_access import Store
from ragauge.text.sentences import split

BATCH = 200
# output tokens an item that a verdict is asked of, by question: a sentence and its claims, a reference claim, a rating,
# as replies of a test server that says no more than it is asked took them
OUTPUT: Mapping[str, int] = {
    "verify_answer": 50,
    "verify_reference": 28,
    "rate_passages": 9,
    "rate_sentences": 11,
    "rate_answer": 11,
    "agree": 11,
    "cover_aspects": 10,
    "cover_criteria": 10,
    "meet_criteria": 35,
    "guess_questions": 45,
    "prepare": 90,
}
AROUND = 10  # output tokens of a reply beside its items
LEAST_LEARNED = 5  # replies of a model to a question from which on it is known how long its own are
ITEM, SENTENCE = re.compile(r"^\[[A-Z]\d+\] ", re.M), re.compile(r"^\[(\d+)\.\d+\] ", re.M)  # of a prompt


@dataclass
class CostEstimate:
    """Calls, characters, tokens and price of what is left to do.

    Attributes:
        calls: first calls, re-asks left out; a hybrid judge's are counted as if its local half were wrong nowhere.
        characters: of the prompts.
        tokens: input and output, estimated, and how many of the input a provider's cache may serve.
        cost: US dollars; None when a price is unknown.
        by_question: question -> calls.
    """

    calls: int = 0
    characters: int = 0
    tokens: Usage = field(default_factory=Usage)
    cost: float | None = 0.0
    by_question: dict[str, int] = field(default_factory=dict)
    _begun: set[int] = field(default_factory=set)  # hashes of beginnings that a call was counted with
    _learned: dict[tuple[ModelName, str], float] = field(default_factory=dict)

    def add(self, name: ModelName, ask: Ask, price: Price, learned: float = 1.0) -> None:
        """Counts one call; `learned` = tokens of earlier replies over what was expected of them."""
        size = sum(len(text) for _, text in ask.messages)
        usage = Usage(int(size / CHARS_A_TOKEN), round(expected_output(ask) * learned), self._cached(name, ask))
        self.calls += 1
        self.characters += size
        self.tokens = _sum(self.tokens, usage)
        cost = price(name, usage)
        self.cost = None if cost is None or self.cost is None else self.cost + cost
        self.by_question[ask.question] = self.by_question.get(ask.question, 0) + 1

    def _cached(self, name: ModelName, ask: Ask) -> int:
        """Tokens that the provider has read with an earlier call."""
        begins = hash((name, ask.messages[:-1], ask.messages[-1][1][: ask.shared]))
        again = begins in self._begun
        self._begun.add(begins)
        return shared_tokens(ask) if again and cacheable(name, ask) else 0

    def add_new(self, wanted: Sequence[tuple[ModelName, Ask]], store: Store, seen: set[str], price: Price) -> None:
        """Counts the calls that no stored reply answers and that are not in `seen`, which they enter."""
        keys = {reply_key(name, ask): (name, ask) for name, ask in wanted}
        stored = store.replies.get(keys)
        for key, (name, ask) in keys.items():
            if key not in stored and key not in seen:
                seen.add(key)
                self.add(name, ask, price, self._learn(name, ask.question, store))

    def _learn(self, name: ModelName, question: str, store: Store) -> float:
        """How much longer a model's stored replies to a question are than expected; 1.0 where too few are stored."""
        key = (name, question)
        if key not in self._learned:
            replies = store.replies.lengths(name, question)
            expected = sum(expected_output(ask) for ask, _ in replies)
            known = len(replies) >= LEAST_LEARNED and expected > 0
            self._learned[key] = sum(tokens for _, tokens in replies) / expected if known else 1.0
        return self._learned[key]

    def join(self, other: CostEstimate) -> None:
        """Adds what another estimate counts."""
        self.calls, self.characters = self.calls + other.calls, self.characters + other.characters
        self.tokens = _sum(self.tokens, other.tokens)
        self.cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        for question, calls in other.by_question.items():
            self.by_question[question] = self.by_question.get(question, 0) + calls

    def plain(self) -> dict[str, Any]:
        """Calls, tokens and price, as JSON types."""
        tokens = {name: getattr(self.tokens, name) for name in ("input_tokens", "output_tokens", "cached_tokens")}
        return {"calls": self.calls, "cost": self.cost, **tokens}


def expected_output(ask: Ask) -> int:
    """Output tokens that a reply needs: those of an item, for each item that a verdict is asked of.

    Items are what a prompt numbers with a letter, such as [S1]; where it numbers passages alone these are, or their
    sentences.
    """
    if ask.kind == "embed":
        return 0
    text = ask.messages[-1][1]
    passages = SENTENCE.findall(text)
    items = len(ITEM.findall(text)) or len(passages if ask.question == "rate_sentences" else {*passages}) or 1
    return OUTPUT.get(ask.question, 50) * items + AROUND


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.input_tokens + other.input_tokens,
        one.output_tokens + other.output_tokens,
        one.cached_tokens + other.cached_tokens,
    )


def estimate(plans: Sequence[Plan], store: Store, price: Price = price) -> CostEstimate:
    """What plans would ask of models: every first call that no stored evidence and no stored reply answers.

    What `agree` sees is not known before verify_answer was asked; the answer's sentences stand for its claims.
    """
    found = CostEstimate()
    seen: set[str] = set()
    local = EmbedAnswers()
    for plan in plans:
        if plan.judge is None or not asks_models(plan.judge):
            continue
        if needs_controls(plan):
            for inputs in expected_inputs(plan, store):
                found.add_new(_unanswered(plan.judge, inputs, 0, store, local), store, seen, price)
        for start in range(0, plan.pending, BATCH):
            wanted: list[tuple[ModelName, Ask]] = []
            for item in store.runs.load(plan.numbers[start : start + BATCH]):
                wanted += _asks(plan, item, plan.judge, store, local)
            found.add_new(wanted, store, seen, price)
    return found


def members_of(judge: Judge) -> tuple[Judge, ...]:
    """Who asks in a judge's name: the members of a jury, each with calls of its own; else the judge alone."""
    found: tuple[Judge, ...] = getattr(judge, "members", (judge,))
    return found


def estimate_askings(
    judge: Judge, askings: Iterable[Generator[list[Ask], list[Reply], Any]], store: Store
) -> CostEstimate:
    """What a judge's generators would ask of models: every first call that no stored reply answers."""
    found, local = CostEstimate(), EmbedAnswers()
    wanted = [
        (name, ask)
        for asking in askings
        for ask in first_to_a_model(asking, judge, local)
        if (name := asked_of(judge, ask)) is not None
    ]
    found.add_new(wanted, store, set(), price)
    return found


def expect(plans: Sequence[Plan], store: Store) -> dict[str, Any]:
    """Calls, tokens and price of what plans have left, as JSON types."""
    found = estimate(plans, store)
    if not found.calls:
        return {"calls": 0, "cost": 0.0}
    return {**found.plain(), "calls_by_question": found.by_question}


def _asks(
    plan: Plan, item: Loaded, judge: AsksModels, store: Store, local: EmbedAnswers
) -> list[tuple[ModelName, Ask]]:
    asks: list[tuple[ModelName, Ask]] = []
    for question in plan.questions:
        inputs = inputs_for(question, item.example, item.response, _guessed(item), plan.criteria)
        if inputs is None:
            continue
        asks += _unanswered(judge, inputs, plan.judge_repeat, store, local)
    return asks


def _unanswered(
    judge: AsksModels, inputs: Inputs, judge_repeat: int, store: Store, local: EmbedAnswers
) -> list[tuple[ModelName, Ask]]:
    """What a question asks models first, where no stored evidence answers it."""
    question = inputs.question
    key = evidence_key(judge.judge_id, judge.version(question), inputs, judge_repeat)
    asks: list[tuple[ModelName, Ask]] = []
    if question == "agree" or key not in store.evidence.known([key]):
        for member in members_of(judge):
            if member.answers(question):
                asks += _of_one(member, inputs, judge_repeat, local)
    return asks


def _of_one(judge: Judge, inputs: Inputs, judge_repeat: int, local: EmbedAnswers) -> list[tuple[ModelName, Ask]]:
    """What one judge asks models first."""
    first = first_to_a_model(judge.ask(inputs, judge_repeat), judge, local)
    asks = [(name, ask) for ask in first if (name := asked_of(judge, ask)) is not None]
    return asks + (_vectors(judge, inputs, judge_repeat) if isinstance(inputs, GuessQuestions) else [])


def _vectors(judge: Judge, inputs: GuessQuestions, judge_repeat: int) -> list[tuple[ModelName, Ask]]:
    """The call for the vectors of questions that are not guessed yet: four texts as long as the question."""
    messages = tuple(("text", f"{inputs.query} {n}" if n else inputs.query) for n in range(4))
    ask = Ask("embed", "guess_questions", judge.version("guess_questions"), messages, judge_repeat=judge_repeat)
    name = asked_of(judge, ask)
    return [] if name is None else [(name, ask)]


def first_to_a_model(
    asking: Generator[list[Ask], list[Reply], Any], judge: Judge, local: EmbedAnswers
) -> Sequence[Ask]:
    """The first asks of a question that go to a model; vectors before them are made here."""
    try:
        asks = next(asking)
        while all(asked_of(judge, ask) is None for ask in asks):
            asks = asking.send(local(asks))
    except StopIteration:
        return ()
    finally:
        asking.close()
    return asks


def _guessed(item: Loaded) -> Mapping[str, FactsOf]:
    sentences = split(item.response.answer or "")
    claims = tuple(Claim(one.n, one.text, one.start, one.end) for one in sentences)
    return {"verify_answer": AnswerFacts(claims, "fully", False)}
