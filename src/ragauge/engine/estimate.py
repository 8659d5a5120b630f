"""What an evaluation by a model would ask and cost, before anything is asked."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragauge.core.ask import Ask, ModelName, Reply, Usage, build_reply_key
from ragauge.core.facts import AnswerFacts, Claim, JudgeFacts
from ragauge.engine.ask_router import find_model
from ragauge.engine.budget import Price
from ragauge.engine.controls import iter_expected_inputs, needs_controls
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.engine.plan import Plan
from ragauge.judges.inputs import GuessQuestions, Inputs, build_evidence_key, build_inputs
from ragauge.judges.judge import AsksModels, Judge, can_ask_models
from ragauge.models.prices import compute_price
from ragauge.models.prompt_cache import CHARS_PER_TOKEN, count_shared_tokens, is_cacheable
from ragauge.store.responses import StoredResponse
from ragauge.store.store_access import Store
from ragauge.text.sentences import split_sentences

BATCH_SIZE_RESPONSES = 200
# output tokens an item that a verdict is asked of, by question: a sentence and its claims, a reference claim, a rating,
# as replies of a test server that says no more than it is asked took them
TOKENS_PER_ITEM: Mapping[str, int] = {
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
TOKENS_AROUND_ITEMS = 10  # output tokens of a reply beside its items
MIN_LEARNED_REPLIES = 5  # replies of a model to a question from which on it is known how long its own are
ITEM_MARK, SENTENCE_MARK = re.compile(r"^\[[A-Z]\d+\] ", re.M), re.compile(r"^\[(\d+)\.\d+\] ", re.M)  # of a prompt


@dataclass
class CostEstimate:
    """Calls, characters, tokens and price of what is left to do."""

    #: first calls, re-asks left out; a hybrid judge's are counted as if its local half were wrong nowhere.
    calls: int = 0
    characters: int = 0  #: of the prompts.
    #: input and output, estimated, and how many of the input a provider's cache may serve.
    tokens: Usage = field(default_factory=Usage)
    cost: float | None = 0.0  #: US dollars; None when a price is unknown.
    by_question: dict[str, int] = field(default_factory=dict)  #: question -> calls.
    _begun: set[int] = field(default_factory=set)  # hashes of beginnings that a call was counted with
    _learned: dict[tuple[ModelName, str], float] = field(default_factory=dict)

    def add(self, name: ModelName, ask: Ask, price: Price, learned: float = 1.0) -> None:
        """Counts one call; `learned` = tokens of earlier replies over what was expected of them."""
        size = sum(len(text) for _, text in ask.messages)
        usage = Usage(
            int(size / CHARS_PER_TOKEN),
            round(estimate_output_tokens(ask) * learned),
            self._count_cached_tokens(name, ask),
        )
        self.calls += 1
        self.characters += size
        self.tokens = _add_usage(self.tokens, usage)
        cost = price(name, usage)
        self.cost = None if cost is None or self.cost is None else self.cost + cost
        self.by_question[ask.question] = self.by_question.get(ask.question, 0) + 1

    def _count_cached_tokens(self, name: ModelName, ask: Ask) -> int:
        """Tokens that the provider has read with an earlier call."""
        prefix_hash = hash((name, ask.messages[:-1], ask.messages[-1][1][: ask.shared]))
        is_repeated = prefix_hash in self._begun
        self._begun.add(prefix_hash)
        return count_shared_tokens(ask) if is_repeated and is_cacheable(name, ask) else 0

    def add_new_calls(
        self, requests: Sequence[tuple[ModelName, Ask]], store: Store, visited: set[str], price: Price
    ) -> None:
        """Counts the calls that no stored reply answers and that are not in `visited`, which they enter."""
        keys = {build_reply_key(name, ask): (name, ask) for name, ask in requests}
        stored = store.replies.get(keys)
        for key, (name, ask) in keys.items():
            if key not in stored and key not in visited:
                visited.add(key)
                self.add(name, ask, price, self._learn_length_ratio(name, ask.question, store))

    def _learn_length_ratio(self, name: ModelName, question: str, store: Store) -> float:
        """How much longer a model's stored replies to a question are than expected; 1.0 where too few are stored."""
        key = (name, question)
        if key not in self._learned:
            replies = store.replies.lengths(name, question)
            expected = sum(estimate_output_tokens(ask) for ask, _ in replies)
            has_enough = len(replies) >= MIN_LEARNED_REPLIES and expected > 0
            self._learned[key] = sum(tokens for _, tokens in replies) / expected if has_enough else 1.0
        return self._learned[key]

    def add_estimate(self, other: CostEstimate) -> None:
        """Adds what another estimate counts."""
        self.calls, self.characters = self.calls + other.calls, self.characters + other.characters
        self.tokens = _add_usage(self.tokens, other.tokens)
        self.cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        for question, calls in other.by_question.items():
            self.by_question[question] = self.by_question.get(question, 0) + calls

    def to_json(self) -> dict[str, Any]:
        """Calls, tokens and price, as JSON types."""
        tokens = {name: getattr(self.tokens, name) for name in ("input_tokens", "output_tokens", "cached_tokens")}
        return {"calls": self.calls, "cost": self.cost, **tokens}


def estimate_output_tokens(ask: Ask) -> int:
    """Output tokens that a reply needs: those of an item, for each item that a verdict is asked of.

    Items are what a prompt numbers with a letter, such as [S1]; where it numbers passages alone these are, or their
    sentences.
    """
    if ask.kind == "embed":
        return 0
    text = ask.messages[-1][1]
    passages = SENTENCE_MARK.findall(text)
    items = len(ITEM_MARK.findall(text)) or len(passages if ask.question == "rate_sentences" else {*passages}) or 1
    return TOKENS_PER_ITEM.get(ask.question, 50) * items + TOKENS_AROUND_ITEMS


def _add_usage(usage: Usage, other: Usage) -> Usage:
    return Usage(
        usage.input_tokens + other.input_tokens,
        usage.output_tokens + other.output_tokens,
        usage.cached_tokens + other.cached_tokens,
    )


def estimate_plans(plans: Sequence[Plan], store: Store, price: Price = compute_price) -> CostEstimate:
    """What plans would ask of models: every first call that no stored evidence and no stored reply answers.

    What `agree` sees is not known before verify_answer was asked; the answer's sentences stand for its claims.
    """
    total = CostEstimate()
    visited: set[str] = set()
    local = EmbedAnswers()
    for plan in plans:
        if plan.judge is None or not can_ask_models(plan.judge):
            continue
        if needs_controls(plan):
            for inputs in iter_expected_inputs(plan, store):
                total.add_new_calls(_list_unanswered(plan.judge, inputs, 0, store, local), store, visited, price)
        for start in range(0, plan.pending, BATCH_SIZE_RESPONSES):
            requests: list[tuple[ModelName, Ask]] = []
            for item in store.runs.load(plan.numbers[start : start + BATCH_SIZE_RESPONSES]):
                requests += _list_asks(plan, item, plan.judge, store, local)
            total.add_new_calls(requests, store, visited, price)
    return total


def list_members(judge: Judge) -> tuple[Judge, ...]:
    """Who asks in a judge's name: the members of a jury, each with calls of its own; else the judge alone."""
    members: tuple[Judge, ...] = getattr(judge, "members", (judge,))
    return members


def estimate_asks(
    judge: Judge, askings: Iterable[Generator[list[Ask], list[Reply], Any]], store: Store
) -> CostEstimate:
    """What a judge's generators would ask of models: every first call that no stored reply answers."""
    total, local = CostEstimate(), EmbedAnswers()
    requests = [
        (name, ask)
        for asking in askings
        for ask in find_first_model_asks(asking, judge, local)
        if (name := find_model(judge, ask)) is not None
    ]
    total.add_new_calls(requests, store, set(), compute_price)
    return total


def summarize_expected_cost(plans: Sequence[Plan], store: Store) -> dict[str, Any]:
    """Calls, tokens and price of what plans have left, as JSON types."""
    total = estimate_plans(plans, store)
    if not total.calls:
        return {"calls": 0, "cost": 0.0}
    return {**total.to_json(), "calls_by_question": total.by_question}


def _list_asks(
    plan: Plan, item: StoredResponse, judge: AsksModels, store: Store, local: EmbedAnswers
) -> list[tuple[ModelName, Ask]]:
    asks: list[tuple[ModelName, Ask]] = []
    for question in plan.questions:
        inputs = build_inputs(question, item.example, item.response, _guess_facts(item), plan.criteria)
        if inputs is None:
            continue
        asks += _list_unanswered(judge, inputs, plan.judge_repeat, store, local)
    return asks


def _list_unanswered(
    judge: AsksModels, inputs: Inputs, judge_repeat: int, store: Store, local: EmbedAnswers
) -> list[tuple[ModelName, Ask]]:
    """What a question asks models first, where no stored evidence answers it."""
    question = inputs.question
    key = build_evidence_key(judge.judge_id, judge.version(question), inputs, judge_repeat)
    asks: list[tuple[ModelName, Ask]] = []
    if question == "agree" or key not in store.evidence.load_known([key]):
        for member in list_members(judge):
            if member.answers(question):
                asks += _list_judge_asks(member, inputs, judge_repeat, local)
    return asks


def _list_judge_asks(
    judge: Judge, inputs: Inputs, judge_repeat: int, local: EmbedAnswers
) -> list[tuple[ModelName, Ask]]:
    """What one judge asks models first."""
    first = find_first_model_asks(judge.ask(inputs, judge_repeat), judge, local)
    asks = [(name, ask) for ask in first if (name := find_model(judge, ask)) is not None]
    return asks + (_list_vector_asks(judge, inputs, judge_repeat) if isinstance(inputs, GuessQuestions) else [])


def _list_vector_asks(judge: Judge, inputs: GuessQuestions, judge_repeat: int) -> list[tuple[ModelName, Ask]]:
    """The call for the vectors of questions that are not guessed yet: four texts as long as the question."""
    messages = tuple(("text", f"{inputs.query} {n}" if n else inputs.query) for n in range(4))
    ask = Ask("embed", "guess_questions", judge.version("guess_questions"), messages, judge_repeat=judge_repeat)
    name = find_model(judge, ask)
    return [] if name is None else [(name, ask)]


def find_first_model_asks(
    asking: Generator[list[Ask], list[Reply], Any], judge: Judge, local: EmbedAnswers
) -> Sequence[Ask]:
    """The first asks of a question that go to a model; vectors before them are made here."""
    try:
        asks = next(asking)
        while all(find_model(judge, ask) is None for ask in asks):
            asks = asking.send(local(asks))
    except StopIteration:
        return ()
    finally:
        asking.close()
    return asks


def _guess_facts(item: StoredResponse) -> Mapping[str, JudgeFacts]:
    sentences = split_sentences(item.response.answer or "")
    claims = tuple(Claim(sentence.n, sentence.text, sentence.start, sentence.end) for sentence in sentences)
    return {"verify_answer": AnswerFacts(claims, "fully", False)}
