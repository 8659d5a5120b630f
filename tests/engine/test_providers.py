"""A whole evaluation through each provider's own client and protocol, against a server that fails on purpose."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from tests.engine.model_rows import METRICS, rows
from tests.loopback.server import FaultyServer

import ragauge as rg
from ragauge.core.errors import JudgeError
from ragauge.store.store_access import open_store

pytestmark = pytest.mark.server
NAMES = METRICS.split(",")
N = 10
FAULTS = {
    "rate_limited": 0.06,
    "server": 0.05,
    "overloaded": 0.05,
    "broken_connection": 0.04,
    "garbage": 0.03,
    "prose": 0.03,
    "missing": 0.02,
    "cut_json": 0.02,
}


def _needs(distribution: str, extra: str) -> Any:
    absent = not any(metadata.distributions(name=distribution))  # an import would take seconds in every session
    return pytest.mark.skipif(absent, reason=f"the extra {extra} is not installed")


PROVIDERS = [
    pytest.param("openai:gpt-4.1-mini", "/v1", id="openai"),
    pytest.param("anthropic:claude-sonnet-4-6", "", id="anthropic", marks=_needs("anthropic", "anthropic")),
    pytest.param("google:gemini-2.5-flash", "", id="google", marks=_needs("google-genai", "google")),
]
each_provider = pytest.mark.parametrize(("model", "path"), PROVIDERS)


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "key-0123456789abcdef")


def evaluated(server: FaultyServer, model: str, path: str, store: str, **more: Any) -> Any:
    """The scorecard of ten rows."""
    judge = f"{model}@{server.url.removesuffix('/v1')}{path}"
    given: dict[str, Any] = {"metrics": METRICS, "timeout": 5.0} | more
    return rg.evaluate(rows(N), judge=judge, store=f"sqlite:///{store}", name="m", **given)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float | None]:
    """The means by chat completions, without a fault."""
    store = tmp_path_factory.mktemp("expected") / "store.db"
    with FaultyServer() as server:
        card = evaluated(server, "openai-chat:any", "/v1", str(store))
    return {name: card[name].mean for name in NAMES}


@each_provider
def test_an_evaluation_gives_the_same_numbers(
    model: str, path: str, tmp_path: Path, expected: dict[str, float | None]
) -> None:
    """Three calls an answer in every protocol, and the means of chat completions; tokens and models are kept."""
    with FaultyServer() as server:
        card = evaluated(server, model, path, str(tmp_path / "store.db"))
        assert len(server.requests) == 3 * N
    assert {name: card[name].mean for name in NAMES} == expected
    with open_store(f"sqlite:///{tmp_path / 'store.db'}") as opened:
        kept = [line["reply"] for line in opened.replies.iter_lines()]
    assert {reply["sent"]["schema"] for reply in kept} == {"native"}
    assert all(reply["usage"]["output_tokens"] > 0 and reply["served"].endswith("-served") for reply in kept)


@each_provider
@pytest.mark.parametrize("mode", ["tool", "prompted"])
def test_schemas_given_another_way_give_the_same_numbers(
    model: str, path: str, mode: str, tmp_path: Path, expected: dict[str, float | None]
) -> None:
    """A place that takes no native schema is asked with a tool, then in the prompt; the means are the same."""
    with FaultyServer(schema_modes=(mode,)) as server:
        card = evaluated(server, model, path, str(tmp_path / "store.db"))
    assert {name: card[name].mean for name in NAMES} == expected


@each_provider
def test_faults_of_every_kind_are_mended(
    model: str, path: str, tmp_path: Path, expected: dict[str, float | None]
) -> None:
    """With a third of all calls failing once, in the provider's own words, the same means come out in the end."""
    with FaultyServer(FAULTS, once=True, seed=12) as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr("ragauge.engine.caller.RETRY_WAITS_S", (0.01,))
        card = evaluated(server, model, path, str(tmp_path / "store.db"))
        met = server.met
    assert sum(count for fault, count in met.items() if fault) > 5
    assert {name: card[name].failed for name in NAMES} == dict.fromkeys(NAMES, 0)
    assert {name: card[name].mean for name in NAMES} == pytest.approx(expected)


@each_provider
@pytest.mark.parametrize(
    ("fault", "told"),
    [("length", "truncated"), ("content_filter", "filter"), ("filtered_prompt", "filter"), ("too_long", "too_long")],
)
def test_what_asking_again_does_not_mend_fails_with_its_reason(
    model: str, path: str, fault: str, told: str, tmp_path: Path
) -> None:
    """A cut-off, filtered or too long text is a failed score that says why; no mean is made of it."""
    with FaultyServer({fault: 1.0}) as server:
        with pytest.raises(JudgeError, match=told):
            evaluated(server, model, path, str(tmp_path / "store.db"), metrics="faithfulness")
        assert len(server.requests) <= 3 * N
    found = rg.open_run("m", store=f"sqlite:///{tmp_path / 'store.db'}").scorecard()["faithfulness"]
    assert (found.failed, found.mean) == (N, None)
    assert any(told in reason for reason in found.reasons)


@each_provider
def test_a_refused_parameter_is_learned_once(model: str, path: str, tmp_path: Path) -> None:
    """A model that refuses temperature is asked with it once in a whole evaluation of one call at a time."""
    with FaultyServer(refuses=("temperature",)) as server:
        card = evaluated(server, model, path, str(tmp_path / "store.db"), metrics="faithfulness", concurrency=1)
        with_it = ["temperature" in {**one.body, **one.body.get("generationConfig", {})} for one in server.requests]
    assert sum(with_it) == 1
    assert card["faithfulness"].scored == N


@each_provider
def test_no_key_reaches_store_or_message(
    model: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refusal that repeats the key does not show it in any reason, and the store does not hold it."""
    with FaultyServer() as server:
        monkeypatch.setattr(server, "_refused", lambda body, asked: "invalid x-api-key key-0123456789abcdef")
        with pytest.raises(JudgeError, match=r"\[key\]") as caught:
            evaluated(server, model, path, str(tmp_path / "store.db"), metrics="faithfulness")
    assert "0123456789abcdef" not in str(caught.value)
    card = rg.open_run("m", store=f"sqlite:///{tmp_path / 'store.db'}").scorecard()
    assert card["faithfulness"].failed == N
    assert any("[key]" in reason for reason in card["faithfulness"].reasons)
    assert "0123456789abcdef" not in str(card["faithfulness"].reasons)
    assert b"0123456789abcdef" not in (tmp_path / "store.db").read_bytes()
