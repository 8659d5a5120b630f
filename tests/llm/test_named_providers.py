"""Every provider by its own name: built, called at its usual address, and sent no key that is not its own."""

from __future__ import annotations

import ast
import asyncio
import importlib.util
import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.engine.fake_clock import run
from tests.engine.model_rows import rows
from tests.engine.scripted_model import NAME, Scripted, ask, caller_of, reply
from tests.llm.test_chat import ASK, asked
from tests.loopback.server import FaultyServer

import ragauge as rg
from ragauge.core.ask import ModelName, Reply, build_reply_key
from ragauge.core.errors import JudgeError, MissingExtra, UnknownName, UsageError
from ragauge.core.providers import ALIASES, PROVIDERS
from ragauge.engine.caller import Purpose
from ragauge.engine.judges import build_judge
from ragauge.judges.model.question_spec import parse_model_name, parse_spec
from ragauge.models.build import build_embedder, build_model
from ragauge.models.model import CallError
from ragauge.store.store_access import open_store

pytestmark = pytest.mark.server
SDKS = {
    "anthropic": "anthropic",
    "bedrock": "boto3",
    "cohere": "cohere",
    "google": "google.genai",
    "google-cloud": "google.genai",
    "groq": "groq",
    "huggingface": "huggingface_hub",
    "mistral": "mistralai",
    "xai": "xai_sdk",
}
MODELS = {"openrouter": "openai/gpt-5-mini", "bedrock-mantle": "openai.gpt-oss-120b"}  # whose names have a form
NAMES = [name for name in PROVIDERS if name != "own"]
# no chat with a key: sign-in of a person, decisions, speech, vectors
NO_CHAT = {
    "openai-codex",
    "openai-chatgpt",
    "openai-decisions",
    "google-decisions",
    "system-one",
    "typesafe",
    "elevenlabs",
    "voyageai",
    "sentence-transformers",
}
KEY = "fake-{}-0123456789abcdef"


def _lacks(name: str) -> bool:
    """Whether a client is an extra that the test group leaves out for its size; MissingExtra is tested then."""
    try:
        return name in SDKS and importlib.util.find_spec(SDKS[name]) is None
    except ModuleNotFoundError:
        return True


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key in every variable of every provider, each another, and no other address."""
    for place in PROVIDERS.values():
        for key in place.keys:
            monkeypatch.setenv(key, KEY.format(key))
        if place.variable:
            monkeypatch.delenv(place.variable, raising=False)
    monkeypatch.delenv("OPENAI_API_VERSION", raising=False)
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"X-Extra: {KEY.format('extra')}")
    monkeypatch.setenv("OPENAI_ORG_ID", KEY.format("organization"))
    for name in ("SNOWFLAKE_ACCOUNT", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "us-east-1")


def named(name: str, url: str = "", more: str = "") -> ModelName:
    """A model of a provider, as a judge's text names it."""
    at = f"@{url}" if url else ""
    return parse_spec(f"{name}:{MODELS.get(name, 'any')}{at}{more}", ()).default


def call(name: ModelName) -> Reply | CallError:
    """The reply of one call, or what went wrong."""

    async def main() -> Reply | CallError:
        made = build_model(name)
        try:
            return (await asked(made))[0]
        except CallError as error:
            return error
        finally:
            await made.close()

    return asyncio.run(main())


@pytest.mark.filterwarnings("ignore:`GitHubProvider` is deprecated:UserWarning")
@pytest.mark.parametrize("name", NAMES)
def test_every_provider_is_built_by_its_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its usual variables set a provider's model is made, or the pip line that installs its client is named."""
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://here.openai.azure.com")
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    if _lacks(name):
        with pytest.raises(MissingExtra, match=r"needs [\w-]+\. Install it with: pip install .*\["):
            build_model(named(name))
        return
    made = build_model(named(name))
    assert made.name.provider == name
    client = None if name == "xai" else getattr(vars(made)["_model"], "client", None)  # it connects when looked at
    assert getattr(client, "max_retries", 0) == 0
    asyncio.run(made.close())


def test_at_least_thirty_are_built_here() -> None:
    """The clients of more than thirty providers are installed for the tests."""
    assert len([name for name in NAMES if not _lacks(name)]) >= 30


def test_no_provider_of_the_library_is_left_out() -> None:
    """Each name that the installed library knows is here, but for those that are no chat with a key."""
    from pydantic_ai import providers

    tree = ast.parse(inspect.getsource(providers.infer_provider_class))
    patterns = [case.pattern for match in ast.walk(tree) if isinstance(match, ast.Match) for case in match.cases]
    known = {
        node.value.value
        for pattern in patterns
        for node in ast.walk(pattern)
        if isinstance(node, ast.MatchValue) and isinstance(node.value, ast.Constant)
    }
    assert known - NO_CHAT - set(ALIASES) - set(PROVIDERS) == set()
    assert set(ALIASES.values()) <= set(PROVIDERS)


@pytest.mark.parametrize("name", [name for name in NAMES if "//" in PROVIDERS[name].official])
@pytest.mark.filterwarnings("ignore:`GitHubProvider` is deprecated:UserWarning")
def test_a_key_goes_to_its_own_host_alone(name: str) -> None:
    """At an address that is not the provider's own no key of the environment arrives: not in a header, path or body."""
    if _lacks(name) or name in ("xai", "cohere"):  # which take no URL with a path, or none at all
        pytest.skip("its client is not installed, or takes no URL")
    with FaultyServer() as server:
        call(named(name, server.url))
        came = json.dumps([[one.path, one.body, dict(one.headers)] for one in server.requests])
    assert server.requests
    assert "fake-" not in came


@pytest.mark.parametrize("name", ["openai", "openai-chat", "anthropic", "google", "azure", "ollama", "openrouter"])
def test_a_named_key_goes_to_its_endpoint(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """key_env names the variable whose key is sent to the address of the judge; it is not part of what it is."""
    if _lacks(name):
        pytest.skip("its client is not installed")
    monkeypatch.setenv("HOUSE", "house-0123456789")
    with FaultyServer() as server:
        url = f"{server.url.removesuffix('/v1')}?api-version=1" if name == "azure" else server.url
        call(named(name, url, ",key_env=HOUSE"))
        assert all("house-0123456789" in json.dumps(dict(one.headers)) for one in server.requests)
        plain, keyed = named(name, url), named(name, url, ",key_env=HOUSE")
        assert plain == keyed
        assert build_reply_key(plain, ASK) == build_reply_key(keyed, ASK)
        told = f"{name}:{MODELS.get(name, 'any')}@{url}"
        assert build_judge(told).judge_id == build_judge(f"{told},key_env=HOUSE").judge_id
    monkeypatch.delenv("HOUSE")
    with pytest.raises(JudgeError, match="Set HOUSE"):
        build_model(keyed)


@pytest.mark.parametrize("name", ["openai-chat", "anthropic", "groq", "ollama", "vllm", "litellm", "moonshotai"])
def test_the_provider_s_own_variable_moves_its_key(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the variable that the provider's users set names another address, its key goes there, and no one else's."""
    if _lacks(name):
        pytest.skip("its client is not installed")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Custom: {KEY.format('custom')}")
    monkeypatch.setenv("OPENAI_PROJECT_ID", KEY.format("project"))
    with FaultyServer() as server:
        monkeypatch.setenv(PROVIDERS[name].variable, server.url)
        call(named(name))
        headers = json.dumps(dict(server.requests[0].headers))
        assert KEY.format(PROVIDERS[name].keys[0]) in headers
        for extra in ("custom", "project", "organization"):
            assert (KEY.format(extra) in headers) is (name == "openai-chat")


@pytest.mark.parametrize("name", ["openai-chat", "openai", "anthropic", "google", "azure", "mistral", "groq"])
def test_no_redirect_carries_a_key_to_another_host(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A redirect to another host is not followed; the message names the host and what to write."""
    if _lacks(name):
        pytest.skip("its client is not installed")
    monkeypatch.setenv("HOUSE", "house-0123456789")
    with FaultyServer() as other:
        moved = (307, {"location": f"{other.url}/chat/completions"})
        with FaultyServer(answers=lambda _: moved) as server:
            url = f"{server.url.removesuffix('/v1')}?api-version=1" if name == "azure" else server.url
            found = call(named(name, url, ",key_env=HOUSE,header.X-Secret=$HOUSE"))
        assert len(server.requests) == 1
        assert not other.requests
    assert isinstance(found, CallError)
    assert found.trouble == "auth"
    assert f"To allow it, use that address: @http://127.0.0.1:{other.port}/" in str(found)


def test_a_redirect_within_a_host_is_followed() -> None:
    """A path that moved on the same host is called there."""
    with FaultyServer(answers=lambda path: (307, {"location": "/new"}) if path.startswith("/v1") else None) as server:
        found = call(named("openai-chat", server.url))
        assert [one.path for one in server.requests] == ["/v1/chat/completions", "/new"]
    assert isinstance(found, Reply)


def test_an_embedder_is_sent_no_key_of_another() -> None:
    """An embedder's address is sent a key only where one is named for it."""
    with FaultyServer() as server:
        for more, key in (("", "none"), (",embed.key_env=OPENAI_API_KEY", KEY.format("OPENAI_API_KEY"))):
            name = parse_spec(f"openai-chat:any,embed=openai:small@{server.url}{more}", ()).embedder
            assert name is not None
            made = build_embedder(name)
            with pytest.MonkeyPatch.context():
                asyncio.run(_embedded(made))
            assert server.requests[-1].headers["authorization"] == f"Bearer {key}"


async def _embedded(made: Any) -> None:
    from ragauge.core.ask import Ask

    await made.reply(Ask("embed", "similarity", 1, (("text", "A."),)), 10.0)
    await made.close()


def test_headers_are_sent_and_their_secrets_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A header with every call, $NAME from the environment; another header is another reply and another judge."""
    monkeypatch.setenv("GATE", "gate-0123456789")
    with FaultyServer() as server:
        name = named("openai-chat", server.url, ",header.X-Team=search,header.Proxy-Authorization=Basic $GATE")
        call(name)
        headers = server.requests[0].headers
        told = f"openai-chat:any@{server.url}"
    assert (headers["x-team"], headers["proxy-authorization"]) == ("search", "Basic gate-0123456789")
    assert build_reply_key(name, ASK) != build_reply_key(named("openai-chat", server.url), ASK)
    assert build_judge(told).judge_id != build_judge(f"{told},header.X-Team=search").judge_id
    monkeypatch.delenv("GATE")
    with pytest.raises(JudgeError, match="Set GATE"):
        build_model(name)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("openai-chat:m@https://h/v1,key_env=sk-abc", "names the environment variable"),
        ("openai-chat:m@https://h/v1,header.Authorization=Bearer abc", r"header.Authorization=\$NAME"),
        ("openai-chat:m@https://h/v1,header.a b=c", "not a valid header name"),
        ("openai-chat:m@https://h/v1?api-version=1", "azure:DEPLOYMENT@URL"),
        ("openai-chat:m@https://h/v1?key=abc", "must not contain a key"),
        ("openai:m,top_p=2", "between 0 and 1"),
        ("openai:m,max_tokens=none", "at least 1"),
        ("openai:m,reasoning_effort=huge", "one of none, minimal"),
        ("azure:a@https://h/openai/deployments/b?api-version=1", "names the deployment b"),
    ],
)
def test_what_cannot_be_meant_is_refused_without_its_secret(spec: str, told: str) -> None:
    """A key where its variable belongs, a secret in a header and a parameter out of range are refused in words."""
    with pytest.raises(UsageError, match=told) as caught:
        parse_spec(spec, ())
    assert "abc" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "meant"), [("opnrouter", "openrouter"), ("olama", "ollama"), ("vertx", "vertex"), ("gorq", "groq")]
)
def test_an_unknown_provider_is_told_the_nearest(given: str, meant: str) -> None:
    """A misspelt provider is refused, with the nearest by their usual spellings."""
    with pytest.raises(UnknownName) as caught:
        parse_model_name(f"{given}:any")
    assert meant in caught.value.nearest


@pytest.mark.parametrize(("given", "meant"), ALIASES.items())
def test_other_spellings_mean_the_same_model(given: str, meant: str) -> None:
    """Another usual spelling of a provider names the same models, so their stored replies are found."""
    assert parse_model_name(f"{given}:any") == parse_model_name(f"{meant}:any")
    assert parse_model_name(f"{given.replace('-', '_')}:any") == parse_model_name(f"{meant}:any")


AZURE = "https://here.openai.azure.com"


@pytest.mark.parametrize(
    "url",
    [
        f"{AZURE}?api-version=2024-10-21",
        f"{AZURE}/?api-version=2024-10-21",
        f"{AZURE}/openai/deployments/dep?api-version=2024-10-21",
        f"{AZURE}/openai/deployments/dep/chat/completions?api-version=2024-10-21",
    ],
)
def test_azure_s_usual_urls_mean_one_place(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Azure's portal shows, and what its users set in the environment, name the same deployment."""
    name = parse_model_name(f"azure:dep@{url}")
    assert name == ModelName("azure", "dep", f"{AZURE}?api-version=2024-10-21")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", AZURE)
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    assert parse_model_name("azure:dep") == name
    made = build_model(name)
    client = vars(made)["_model"].client
    assert str(client.base_url) == f"{AZURE}/openai/"
    assert client.api_key == KEY.format("AZURE_OPENAI_API_KEY")


def test_azure_without_a_place_or_a_version_says_what_to_set() -> None:
    """What Azure's client lacks is said in a sentence that names the variables."""
    with pytest.raises(JudgeError, match="AZURE_OPENAI_ENDPOINT"):
        build_model(parse_model_name("azure:dep"))
    with pytest.raises(JudgeError, match="OPENAI_API_VERSION"):
        build_model(parse_model_name(f"azure:dep@{AZURE}"))


def evaluated(judge: str, store: Path, **more: Any) -> Any:
    """The scorecard of six rows."""
    metrics = "faithfulness,answer_relevance"
    return rg.evaluate(rows(6), judge=judge, metrics=metrics, store=f"sqlite:///{store}", **more)


@pytest.mark.parametrize(
    ("judge", "path"),
    [
        (
            "azure:dep@{root}/openai/deployments/dep?api-version=2024-10-21",
            "/openai/deployments/dep/chat/completions?api-version=2024-10-21",
        ),
        ("ollama:qwen3:8b@{root}", "/v1/chat/completions"),
        ("openrouter:openai/gpt-5-mini@{root}/api/v1", "/api/v1/chat/completions"),
        ("vllm:Qwen/Qwen3-8B@{root}/v1", "/v1/chat/completions"),
        ("litellm:gpt-4o@{root}", "/chat/completions"),
        ("openai:any@{root}/v1", "/v1/responses"),
    ],
)
def test_an_evaluation_by_name_gives_the_same_numbers(judge: str, path: str, tmp_path: Path) -> None:
    """Each provider is called at the path that its servers know, and its scores are those of chat completions."""
    with FaultyServer() as server:
        expected = evaluated(f"openai-chat:any@{server.url}", tmp_path / "a.db")
        server.requests.clear()
        card = evaluated(judge.format(root=server.url.removesuffix("/v1")), tmp_path / "b.db")
        assert {one.path for one in server.requests} == {path}
        assert "fake-" not in json.dumps([dict(one.headers) for one in server.requests])
    for metric in ("faithfulness", "answer_relevance"):
        assert card[metric].mean == expected[metric].mean is not None


def test_a_server_with_chat_completions_alone_is_asked_there(tmp_path: Path) -> None:
    """openai: at such a server goes over to chat completions, learns it once, and every reply and the run say so."""
    said: list[str] = []

    def only(path: str) -> Any:
        return (404, {}) if path.endswith("/responses") else None

    with FaultyServer(answers=only) as server:
        expected = evaluated(f"openai-chat:any@{server.url}", tmp_path / "a.db")
        server.requests.clear()
        card = evaluated(f"openai:any@{server.url}", tmp_path / "b.db", concurrency=1, warn=said.append)
        assert [one.path for one in server.requests].count("/v1/responses") == 1
    assert card["faithfulness"].mean == expected["faithfulness"].mean is not None
    with open_store(f"sqlite:///{tmp_path / 'b.db'}") as opened:
        assert {line["reply"]["sent"]["api"] for line in opened.replies.iter_lines()} == {"chat completions"}
    assert [note for note in said if "openai-chat:any@" in note and "has no Responses API" in note] == said[-1:]


def test_a_server_that_knows_neither_is_a_wrong_address(tmp_path: Path) -> None:
    """Where chat completions are not found either, the run ends and names the model and its address."""
    with FaultyServer(answers=lambda _: (404, {})) as server, pytest.raises(JudgeError, match="cannot be called"):
        evaluated(f"openai:any@{server.url}", tmp_path / "a.db")


def test_a_refused_key_says_whose_key_goes_where(tmp_path: Path) -> None:
    """A server that wants a key and was sent none is answered with the setting that names one."""
    with FaultyServer(answers=lambda _: (401, {})) as server, pytest.raises(JudgeError, match="key_env=NAME"):
        evaluated(f"openai-chat:any@{server.url}", tmp_path / "a.db")


def test_a_minute_of_429_fails_nothing() -> None:
    """A place that says "too many" for a minute without saying how long is waited out, and the ask is answered."""

    async def main() -> tuple[Reply, float]:
        loop = asyncio.get_running_loop()
        start = loop.time()

        class Busy(Scripted):
            async def reply(self, ask: Any, timeout: float) -> Reply:
                if loop.time() - start < 60:
                    raise CallError("rate_limited", "too many", status=429)
                return reply()

        caller, _, _ = caller_of(Busy(iter(())))
        (found,) = await caller.answer([(NAME, ask("a"))], Purpose())
        return found, loop.time() - start

    found, seconds = run(main())
    assert found.status == "ok"
    assert 60 <= seconds < 180


def test_parameters_are_sent_under_each_api_s_names() -> None:
    """max_tokens, top_p, seed and the effort of reasoning arrive; each is part of the reply key."""
    more = ",max_tokens=700,top_p=0.5,seed=7,reasoning_effort=low,temperature=none"
    expected: Mapping[str, Mapping[str, Any]] = {
        "openai-chat": {"max_completion_tokens": 700, "top_p": 0.5, "seed": 7, "reasoning_effort": "low"},
        "openai": {"max_output_tokens": 700, "top_p": 0.5, "reasoning": {"effort": "low"}},
    }
    for provider, sent in expected.items():
        with FaultyServer() as server:
            spec = parse_spec(f"{provider}:any@{server.url}{more}", ())
            params = dict(spec.settings.params)
            assert params == {"max_tokens": 700, "top_p": 0.5, "seed": 7, "reasoning_effort": "low"}

            async def main(name: ModelName = spec.default, given: dict[str, Any] = params) -> None:
                from dataclasses import replace

                made = build_model(name)
                await asked(made, replace(ASK, params=given))
                await made.close()

            asyncio.run(main())
            body = server.requests[-1].body
            assert {key: body.get(key) for key in sent} == sent


@pytest.mark.parametrize(
    ("spec", "judge_id"),
    [
        ("openai:gpt-5-mini", "openai:gpt-5-mini#eda79cba"),
        (
            "openai-chat:qwen@http://h:1/v1,agree=openai:gpt-5,temperature=none,embed=openai:small",
            "openai-chat:qwen#b51fe284",
        ),
    ],
)
def test_settings_that_are_not_given_leave_every_key_as_it_was(spec: str, judge_id: str) -> None:
    """Judges and stored replies are found by what found them before endpoints had keys and headers of their own."""
    assert build_judge(spec).judge_id == judge_id
    assert build_reply_key(ModelName("openai", "gpt-5-mini"), ASK).startswith("eaf7d206ab664774fb559080d31cee61")
    assert build_reply_key(ModelName("openai-chat", "q", "http://h:1/v1"), ASK).startswith(
        "284c52a2e41ea23aec464dc03ca74f0b"
    )
