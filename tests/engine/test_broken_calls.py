"""Broken calls over a real server: no number comes of them, and what is said names what to do."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.loopback.answers import answer
from tests.loopback.caching import PrefixCache
from tests.loopback.server import FaultyServer, _send

import ragauge as rg
from ragauge.core.errors import JudgeError

pytestmark = pytest.mark.server
METRICS = "faithfulness,context_precision,context_recall"
COLOURS = ("blue", "green", "red", "white", "black", "grey", "pink", "brown", "gold", "silver")
PACK = re.compile(r"--judge (\S+,pack=\d+)")


def rows(n: int, sentences: int) -> list[dict[str, Any]]:
    """Questions with two passages of so many sentences, the first of which holds the answer."""
    return [
        {
            "query_id": f"q{i}",
            "query": f"Is the boat {i} blue in summer?",
            "answer": f"The boat {i} is blue in summer.",
            "reference_answer": f"The boat {i} is blue in summer.",
            "passages": [
                {
                    "doc_id": f"a{i}",
                    "text": f"The boat {i} is blue in summer. "
                    + " ".join(
                        f"In year {year} the {COLOURS[year % 10]} paint of the hull cost {year} pounds, "
                        "and the sail more."
                        for year in range(sentences)
                    ),
                },
                {"doc_id": f"b{i}", "text": "Harbours are deep."},
            ],
        }
        for i in range(n)
    ]


@pytest.fixture
def store(tmp_path: Path) -> str:
    """The URL of a store that is not there yet."""
    return f"sqlite:///{tmp_path / 'store.db'}"


def judged(server: FaultyServer, store: str, data: list[dict[str, Any]], **more: Any) -> Any:
    """The scorecard of rows by a judge at the server."""
    judge = more.pop("judge", f"openai-chat:any@{server.url}")
    return rg.evaluate(data, judge=judge, metrics=METRICS, store=store, name="r", timeout=60, **more)


def values(card: Any) -> dict[tuple[str, str], tuple[str, float | None]]:
    """Status and value by example and metric."""
    listed = card.to_polars().iter_rows(named=True)
    return {(row["query_id"], row["metric"]): (row["status"], row["value"]) for row in listed}


@pytest.mark.parametrize(
    "left",
    [lambda context: context // 2 + 2, pytest.param(lambda context: context, marks=pytest.mark.prove)],
    ids=["half", "whole"],
)
def test_a_cut_prompt_gives_no_number(store: str, left: Callable[[int], int]) -> None:
    """A server that cuts prompts without a word fails every score; the advice is taken, and gives the true numbers."""
    data = rows(2, 90)
    with FaultyServer() as server:
        true = values(judged(server, store.replace("store", "true"), data))
    with FaultyServer(context=1_024, left=left) as server:
        with pytest.raises(JudgeError, match="num_ctx") as caught:
            judged(server, store, data)
        card = rg.open_run("r", store=store).scorecard()
        assert {status for status, _ in values(card).values()} == {"failed"}
        assert "gave no verdict on any of 6 questions. Most common reason: cut: the server read" in str(caught.value)
        advised = PACK.search(str(caught.value))
        assert advised is not None
        server.context = 4_096
        assert values(judged(server, store, data, judge=advised[1])) == true
    assert set(true.values()) == {("scored", 1.0), ("scored", 0.5)}


def test_long_prompts_alone_fail(store: str) -> None:
    """Where only some prompts are too long, the others are scored; the report counts those, with the reason."""
    data = [*rows(2, 1), {**rows(1, 90)[0], "query_id": "long"}]
    with FaultyServer(context=1_024) as server:
        card = judged(server, store, data)
    found = values(card)
    assert {found[place][0] for place in found if place[0] == "long"} == {"failed"}
    assert {found[place] for place in found if place[0] != "long"} == {("scored", 1.0), ("scored", 0.5)}
    said = card.to_text() if hasattr(card, "to_text") else card.to_markdown()
    assert "3 of 9 judge questions have no verdict (33.3%). Most common reason: cut: the server" in said


def test_a_number_of_tokens_that_looks_like_a_limit_is_asked_about_once(store: str) -> None:
    """A prompt of 1,024 tokens by chance is sent once more, a little longer, and then scored."""
    with FaultyServer() as server:
        true = values(judged(server, store.replace("store", "true"), rows(1, 40)))
        calls = len(server.requests)
    with FaultyServer(context=1 << 20) as server, pytest.MonkeyPatch.context() as patch:
        counted = server._said

        def said(*given: Any) -> Any:
            found = counted(*given)
            padded = "Reply with JSON only. Reply" in given[1].system
            object.__setattr__(found, "input_tokens", 1_060 if padded else 1_024)
            return found

        patch.setattr(server, "_said", said)
        assert values(judged(server, store, rows(1, 40))) == true
        assert len(server.requests) == 2 * calls


@pytest.mark.parametrize(
    "model",
    [
        "openai-chat:any",
        pytest.param("openai:gpt-4.1-mini", marks=pytest.mark.prove),
        pytest.param("anthropic:claude-sonnet-4-6", marks=pytest.mark.prove),
    ],
)
def test_tokens_from_a_cache_are_read_too(store: str, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that counts tokens from its cache apart has cut nothing."""
    if model.startswith("anthropic"):
        pytest.importorskip("anthropic")
    for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(key, "any")
    with FaultyServer(cache=PrefixCache()) as server:
        url = server.url.removesuffix("/v1") if model.startswith("anthropic") else server.url
        card = judged(server, store, rows(2, 90), judge=f"{model}@{url}", concurrency=1)
    assert {status for status, _ in values(card).values()} == {"scored"}


def test_an_overflow_names_pack(store: str) -> None:
    """A prompt that the server refuses as too long fails at once, with smaller parts that are accepted."""
    with FaultyServer({"too_long": 1.0}) as server:
        with pytest.raises(JudgeError, match="maximum context length") as caught:
            judged(server, store, rows(1, 90))
        assert len(server.requests) == 3
        advised = PACK.search(str(caught.value))
        assert advised is not None
        server.faults = {}
        card = judged(server, store, rows(1, 90), judge=advised[1])
    assert {status for status, _ in values(card).values()} == {"scored"}


def changed(change: Callable[[dict[str, Any], str], dict[str, Any]]) -> Callable[..., Mapping[str, Any]]:
    """A model whose verdicts on claims are changed, given the user's text."""

    def reply(system: str, user: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        found = dict(answer(system, user, schema))
        for sentence in found.get("sentences", []):
            sentence["claims"] = [change(claim, user) for claim in sentence.get("claims", [])]
        if "claims" in found:
            found["claims"] = [change(claim, user) for claim in found["claims"]]
        return found

    return reply


def test_support_without_a_sentence_is_asked_for_once_more(store: str) -> None:
    """A verdict that names no sentence is asked for again alone, told what is missing; the report counts it."""
    named = changed(lambda claim, user: claim if "Give the numbers" in user else {**claim, "by": []})
    with FaultyServer(reply=named) as server:
        card = judged(server, store, rows(1, 1))
        sent = [request.body["messages"][1]["content"] for request in server.requests]
    assert {status for status, _ in values(card).values()} == {"scored"}
    hint = '\nGive the numbers of the sentences that show it, such as "2.1"; else it is absent.'
    assert sorted(text.endswith(hint) for text in sent) == [False] * 3 + [True] * 2
    assert "2 verdicts cited no sentence of the passages and were asked for again." in card.to_markdown()


def test_support_that_never_names_a_sentence_fails(store: str) -> None:
    """Where the second asking names none either, the score has failed for a reason that says so."""
    with FaultyServer(reply=changed(lambda claim, _: {**claim, "by": []})) as server:
        card = judged(server, store, rows(1, 1))
        assert len(server.requests) == 5
    (row,) = card.to_polars().filter(metric="faithfulness").iter_rows(named=True)
    assert (row["status"], row["low"], row["high"]) == ("failed", 0.0, 1.0)
    assert "the judge said supported or contradicted but did not name a sentence that shows it" in row["reason"]


def test_quotes_stand_for_their_sentences(store: str) -> None:
    """Quotes in place of numbers give the numbers of their sentences, and no call more."""

    def quoted(claim: dict[str, Any], user: str) -> dict[str, Any]:
        texts = dict(re.findall(r"^\[(\d+\.\d+)\] (.*)$", user, re.MULTILINE))
        return {**claim, "by": [f'"… {texts[number].upper().rstrip(".")} …"' for number in claim["by"]]}

    with FaultyServer(reply=changed(quoted)) as server:
        found = values(judged(server, store, rows(1, 1)))
        assert len(server.requests) == 3
    with FaultyServer() as server:
        assert found == values(judged(server, store.replace("store", "true"), rows(1, 1)))


def test_a_minute_of_429_changes_no_number(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that refuses everything at first is waited for; all is scored."""
    with FaultyServer({"rate_limited": 1.0}) as server:
        heard = server._fault

        def fault(raw: bytes, asked: str = "") -> str:
            return heard(raw, asked) if len(server.requests) < 8 else ""

        monkeypatch.setattr(server, "_fault", fault)
        card = judged(server, store, rows(2, 1))
        assert server.met["rate_limited"] == 8
    assert {status for status, _ in values(card).values()} == {"scored"}


@dataclass
class Shapeless(FaultyServer):
    """Answers with the same body whatever is asked."""

    body: Mapping[str, Any] = field(default_factory=dict)

    async def _answer(self, path: str, headers: Mapping[str, str], raw: bytes, writer: asyncio.StreamWriter) -> None:
        await _send(writer, 200, self.body)


NO_CHOICE = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": []}


@pytest.mark.parametrize(
    ("provider", "body", "why"),
    [
        ("openai-chat", NO_CHOICE, "the server's reply has no choices"),
        ("openai", NO_CHOICE, "the server's reply is not what openai sends: TypeError: "),
        (
            "openai-chat",
            {"error": {"message": "upstream overloaded"}},
            "the server's reply is not what openai-chat sends: wrong or missing: id, choices, model, object",
        ),
        ("openai-chat", {"choices": "x" * 100_000}, "the server's reply is not what openai-chat sends: AttributeError"),
    ],
)
def test_a_reply_of_another_shape_says_so(
    store: str, provider: str, body: Mapping[str, Any], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the library cannot read is told as the server's reply, not in an exception's words alone."""
    monkeypatch.setattr("ragauge.engine.caller.RETRY_WAITS_S", (0.001,))
    with Shapeless(body=body) as server, pytest.raises(JudgeError, match=re.escape(why)):
        judged(server, store, rows(1, 1), judge=f"{provider}:any@{server.url}")


def test_long_words_of_an_exception_are_cut(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception of 100,000 characters is kept as its first 500."""

    async def fails(*_: Any) -> Any:
        raise OSError("x" * 100_000)

    monkeypatch.setattr("ragauge.models.chat.LibraryModel.reply", fails)
    with FaultyServer() as server, pytest.raises(JudgeError):
        judged(server, store, rows(1, 1))
    listed = rg.open_run("r", store=store).scorecard().to_polars()["reason"].to_list()
    assert {reason for reason in listed if "xxx" in reason}
    assert max(map(len, listed)) <= 600


@pytest.mark.parametrize("tokens", [0, -5])
def test_no_tokens_are_none_that_were_reported(store: str, tokens: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that counts no token of a prompt, or fewer, reports none: it is neither checked nor priced."""
    with FaultyServer() as server:
        counted = server._said

        def said(*given: Any) -> Any:
            found = counted(*given)
            object.__setattr__(found, "input_tokens", tokens)
            return found

        monkeypatch.setattr(server, "_said", said)
        card = judged(server, store, rows(1, 1))
    assert {status for status, _ in values(card).values()} == {"scored"}


def test_a_short_prompt_that_is_cut_gives_no_number(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that says 100 tokens of every prompt has read none whole: every score fails, with what to raise."""
    with FaultyServer() as server:
        counted = server._said

        def said(*given: Any) -> Any:
            found = counted(*given)
            object.__setattr__(found, "input_tokens", 100)
            return found

        monkeypatch.setattr(server, "_said", said)
        with pytest.raises(JudgeError, match="cut: the server read 100 of at least"):
            judged(server, store, rows(2, 1))


def test_claims_that_could_not_be_had_are_not_compared(store: str) -> None:
    """Where verify_answer brought no claim, agree is not asked, and its score has failed for the same reason."""

    def only_others(system: str, user: str, schema: Mapping[str, Any]) -> Any:
        return "I cannot." if "sentences" in schema["properties"] else answer(system, user, schema)

    with FaultyServer(reply=only_others) as server:
        with pytest.raises(JudgeError):
            rg.evaluate(
                rows(2, 1),
                judge=f"openai-chat:any@{server.url}",
                metrics="answer_correctness",
                store=store,
                name="r",
                timeout=60,
            )
        sent = [request.body["messages"][1]["content"] for request in server.requests]
    assert [text for text in sent if "answer claims" in text] == []
    found = rg.open_run("r", store=store).scorecard().to_polars()
    assert set(found["status"]) == {"failed"}
    assert all("prose" in reason or "no verdict" in reason for reason in found["reason"])


@pytest.mark.parametrize("named", [True, False])
def test_a_wrong_key_names_its_variable(store: str, named: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused key is told by the variable that holds it, never by its value."""
    monkeypatch.setenv("HOUSE_KEY", "a-secret-of-the-house")
    monkeypatch.setenv("OPENAI_API_KEY", "a-secret-of-the-provider")
    with FaultyServer(answers=lambda _: (401, {})) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        judge = f"openai-chat:any@{server.url},key_env=HOUSE_KEY" if named else "openai-chat:any"
        with pytest.raises(JudgeError) as caught:
            judged(server, store, rows(1, 1), judge=judge)
    key = "HOUSE_KEY" if named else "OPENAI_API_KEY"
    assert f"The key came from {key}: set {key} to a key that is valid there." in str(caught.value)
    assert "a-secret" not in str(caught.value)
