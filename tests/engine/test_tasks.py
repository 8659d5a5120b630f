"""Requests that a run makes of several documents: no retrieval is blamed for them by the relevance of passages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

import ragauge as rg
from ragauge.core.example import Example, Turn
from ragauge.core.response import Passage, Response, Run
from ragauge.engine.tasks import find_tasks
from ragauge.judges.local.judge import LocalJudge
from ragauge.metrics.topics import NO_TOPIC
from ragauge.store.store_access import open_store
from ragauge.text.tokens import has_topic

DOCUMENTS = (
    "Anna: The kiln cracked again last night. Ben: Then we fire the bowls in Delft on Friday.",
    "The ferry to Skagen was late because ice blocked the inner harbor until noon.",
    "Growers picked ninety crates of russet apples before the first frost reached the valley.",
    "Eleven singers rehearsed Palestrina in the crypt, and the organist lost her left shoe.",
    "A comet crossed the southern sky while the observatory repaired its copper dome.",
    "Customs officers at Tilbury weighed forty bales of raw cotton from Alexandria.",
)
REQUESTS = (
    "What was this chat about?",
    "Who are the speakers?",
    "Worum dreht sich das Gespräch?",
    "这段对话在讲什么?",
    "De quoi parlent les personnes ?",
    "О чём говорят люди?",
    "ماذا يقول المتحدث؟",
    "二人は何の話をしていますか",
)
Pair = tuple[Example, Response]


def pairs_of(request: str, texts: Sequence[str]) -> list[Pair]:
    """The same request of one text after another."""
    return [
        (Example(f"q{n}", request), Response(f"q{n}", passages=(Passage(f"p{n}", "", text),), answer=text))
        for n, text in enumerate(texts)
    ]


def tasks_of(pairs: Iterable[Pair], folder: Path) -> frozenset[str]:
    """The keys of the tasks of a run of these responses."""
    with open_store(f"sqlite:///{folder}/{len(list(folder.iterdir()))}.db") as store:
        return find_tasks(store, store.runs.import_run(Run("", "r"), list(pairs)).run_id)


@pytest.mark.parametrize("request_text", REQUESTS)
def test_one_request_of_three_documents_is_a_task(request_text: str, tmp_path: Path) -> None:
    """The same request of three documents is a task in any language; of fewer, or of one again and again, it is not."""
    assert has_topic(request_text)  # no word list tells it
    assert len(tasks_of(pairs_of(request_text, DOCUMENTS[:3]), tmp_path)) == 1
    for texts in (DOCUMENTS[:1], DOCUMENTS[:2], (*DOCUMENTS[:2], DOCUMENTS[1]), [DOCUMENTS[0]] * 9):
        assert not tasks_of(pairs_of(request_text, texts), tmp_path)


def test_other_words_for_grammar_make_the_same_request(tmp_path: Path) -> None:
    """Requests count together where their words with content are the same, whatever stands between them."""
    wordings = ("What is the plot of the story?", "The plots of this story", "Which plot does the story have?")
    pairs = [pairs_of(words, DOCUMENTS)[n] for n, words in enumerate(wordings)]
    assert len(tasks_of(pairs, tmp_path)) == 1
    named = replace(pairs[0][0], query="What is the plot of the story of Skagen?")
    assert not tasks_of([(named, pairs[0][1]), *pairs[1:]], tmp_path)


def test_a_question_that_finds_its_document_is_no_task(tmp_path: Path) -> None:
    """Where most requests of the same words were given one document, or texts that nearly say it, it is a topic."""
    request, stable = "When does the ferry to Skagen leave?", DOCUMENTS[1]
    variants = [stable.replace("late", word) for word in ("late", "punctual", "slow")]
    assert not tasks_of(pairs_of(request, [*variants, DOCUMENTS[2], DOCUMENTS[3]]), tmp_path)
    assert tasks_of(pairs_of(request, [*variants[:2], DOCUMENTS[2], DOCUMENTS[3]]), tmp_path)
    same_id = [
        (example, replace(response, passages=tuple(replace(one, doc_id="ferry") for one in response.passages or ())))
        for example, response in pairs_of(request, DOCUMENTS)
    ]
    assert not tasks_of(same_id, tmp_path)


def test_in_a_conversation_an_earlier_turn_may_name_the_topic(tmp_path: Path) -> None:
    """Requests that follow other turns are no tasks."""
    pairs = pairs_of("How much does it cost?", DOCUMENTS)
    later = [(replace(example, history=(Turn("user", "Tell me of kilns."),)), response) for example, response in pairs]
    assert tasks_of(pairs, tmp_path)
    assert not tasks_of(later, tmp_path)


def test_the_order_of_examples_and_repeated_answers_change_no_task(tmp_path: Path) -> None:
    """Neither the order of the examples nor several answers to one of them change what is a task."""
    pairs = [*pairs_of(REQUESTS[0], DOCUMENTS), (Example("other", "When is the comet due?"), Response("other"))]
    shuffled = Random(3).sample(pairs, len(pairs))
    assert tasks_of(pairs, tmp_path) == tasks_of(shuffled, tmp_path) != frozenset()
    again = [(pairs[0][0], replace(pairs[n][1], query_id="q0", repeat=n)) for n in range(3)]
    assert not tasks_of(again, tmp_path)


def evaluated(rows: list[dict[str, object]], folder: Path) -> dict[str, tuple[str, str, str]]:
    """query_id -> status and reason of context_precision, and component of the failure; "" for none."""
    url = f"sqlite:///{folder}/s{len(rows)}.db"
    card = rg.evaluate(rows, metrics="faithfulness,context_precision", store=url, workers=1, controls=4)
    judge_id = LocalJudge().judge_id
    with open_store(url) as store:
        components = {number: cause.component for number, cause in store.causes.read(card.run.run_id, judge_id)}
        results: dict[str, tuple[str, str, str]] = {}
        for item in store.runs.load(store.runs.load_order(card.run.run_id).numbers):
            scores = store.scores.load_for_response(card.run.run_id, item.example.query_id, 0, judge_id)
            score = scores["context_precision"]
            results[item.example.query_id] = score.status, score.reason or "", components.get(item.response_no, "")
    return results


def test_retrieval_is_not_blamed_for_a_task(tmp_path: Path) -> None:
    """Of a request of four documents precision does not apply and no component is blamed; of a question both stay."""
    rows: list[dict[str, object]] = [
        {"query_id": f"t{n}", "query": REQUESTS[0], "passages": [text], "answer": "Two potters planned a long journey."}
        for n, text in enumerate(DOCUMENTS[:4])
    ]
    question: dict[str, object] = {
        "query_id": "q",
        "query": "Which ship carried the cotton of Alexandria?",
        "passages": [DOCUMENTS[4]],
        "answer": "The Marlowe carried the bales over to Bristol.",
    }
    results = evaluated([*rows, question], tmp_path)
    assert {results[f"t{n}"] for n in range(4)} == {("not_applicable", NO_TOPIC, "unclear")}
    assert (results["q"][0], results["q"][2]) == ("scored", "retrieval")
