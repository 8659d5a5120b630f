"""Every command of the page about model judges runs as it stands there, against a server on this machine."""

from __future__ import annotations

import importlib
import re
import shlex
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.docs.pages import taken
from tests.loopback.server import FaultyServer

from ragauge.cli.main import main
from ragauge.core.config.monitor import MonitorSection
from ragauge.core.providers import ALIASES, PROVIDERS
from ragauge.judges.model.judge import MODEL_QUESTIONS, PROMPTS
from ragauge.judges.model.question_spec import DEFAULT_SETTINGS, EMBED_KEY, KEY_ENV, PARAMETERS, parse_spec
from ragauge.judges.model.question_spec import PROMPTS_KEY as WORDED

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "model-judges.md").read_text()
EXTRAS = {"anthropic": "anthropic", "google": "google.genai"}
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY")


LINES = [line for block in taken("docs/model-judges.md", "console") for line in block.commands]
(ANSWERS,), (LABELLED, GRADED) = taken("README.md", "json"), taken("docs/model-judges.md", "json")
MAPPED, PROMPTED, PRICED = taken("docs/model-judges.md", "yaml")
COMMANDS = [line for line in LINES if not line.startswith("export ")]


def lacks(command: str) -> bool:
    """Whether a command needs a provider whose library is not installed."""
    for provider, module in EXTRAS.items():
        if f" {provider}:" in command:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    importlib.import_module(module)
            except ImportError:
                return True
    return False


@pytest.fixture(scope="module")
def server() -> Iterator[FaultyServer]:
    """What stands for every provider."""
    with FaultyServer() as serving:
        yield serving


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the page speaks of, one store for all of its commands."""
    path = tmp_path_factory.mktemp("page")
    (path / "answers.jsonl").write_text(ANSWERS.text)
    (path / "labelled.jsonl").write_text(LABELLED.text)
    (path / "grades.jsonl").write_text(GRADED.text)
    (path / "prices.yaml").write_text(PRICED.text)
    (path / "prompts.yaml").write_text(PROMPTED.text)
    (path / "verify-claims.txt").write_text("{question} {passages} {claims}")
    return path


@pytest.mark.server
@pytest.mark.parametrize("command", COMMANDS)
def test_command_runs(
    command: str,
    server: FaultyServer,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The command ends well and prints something, whichever provider it names."""
    if lacks(command):
        pytest.skip("its extra is not installed")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("RAGAUGE_STORE", raising=False)
    for name in KEYS:
        monkeypatch.setenv(name, "sk-your-key")
    for provider, place in PROVIDERS.items():
        root = server.url.removesuffix("/v1")
        if place.variable:  # a model that Python code hands over has no place
            monkeypatch.setenv(place.variable, server.url if provider in ("openai", "openai-chat", "ollama") else root)
    monkeypatch.setenv("RAGAUGE_PRICES", "prices.yaml")
    words = shlex.split(re.sub(r"http://localhost:\d+/v1", server.url, command))
    assert words[0] == "ragauge"
    monkeypatch.setattr(sys, "argv", words)
    try:
        main()
    except SystemExit as end:
        assert not end.code, capsys.readouterr().err  # noqa: PT017 - the command's own exit code
    assert "".join(capsys.readouterr()).strip()
    for output in re.findall(r"-o (\S+)", command):
        assert (folder / output).is_file()


def test_page_sets_what_its_commands_need() -> None:
    """The page has a dozen commands and more, and exports the key and the price file that they use."""
    assert len(COMMANDS) >= 15
    assert {line.partition("=")[0] for line in LINES if line.startswith("export ")} == {
        "export OPENAI_API_KEY",
        "export RAGAUGE_PRICES",
    }


def test_page_names_every_provider_question_and_setting() -> None:
    """Whatever a judge's spec can say is on the page."""
    for provider, place in PROVIDERS.items():
        assert f"`{provider}:" in PAGE
        row = next((line for line in reversed(PAGE.splitlines()) if f" | `{provider}:" in line), "")
        named = [*place.keys, *filter(None, (place.variable, place.extra))]
        assert [name for name in named if f"`{name}`" not in row] == []
    for alias in ALIASES:
        assert f"`{alias}:`" in PAGE
    for name in (*DEFAULT_SETTINGS, *PARAMETERS, EMBED_KEY, WORDED, KEY_ENV):
        assert f"`{name}=" in PAGE
    for name, prompt in PROMPTS.items():
        assert f"| `{name}` | {' '.join(f'`{{{slot}}}`' for slot in prompt.slots)} |" in PAGE
    for question in set(MODEL_QUESTIONS) - {"rate_sentences", "prepare"}:
        assert f"`{question}`" in PAGE


def test_mapping_of_the_page_is_a_judge() -> None:
    """The judge that is written as a mapping has the key, headers and parameters that the page says."""
    judge = MonitorSection.model_validate(yaml.safe_load(MAPPED.text)["monitor"]).judge
    spec = parse_spec(judge, ())
    assert (str(spec.default), spec.default.key_env) == ("openai-chat:NAME@https://gateway.example/v1", "GATEWAY_KEY")
    assert spec.default.headers == (("X-Api-Token", "$TOKEN"), ("X-Team", "search"))
    assert spec.settings.params == {"temperature": 0.0, "max_tokens": 2000}
