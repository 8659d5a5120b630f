"""What installed packages register by entry points: judges and readers of files; and what a broken one does."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.docs.pages import taken
from tests.engine.tiny_judge import TinyJudge
from tests.loopback.server import FaultyServer

import ragauge as rg
from ragauge.core.errors import DataError, JudgeError, UnknownName, UsageError
from ragauge.core.object_lookup import list_entry_points
from ragauge.engine.judges import build_judge
from ragauge.readers.source import read_source

EXAMPLE = Path(__file__).parents[2] / "examples/plugin"
COMMANDS = [command for block in taken("docs/plug-ins.md", "console") for command in block.commands]
SHOWN = [*taken("docs/plug-ins.md", "toml"), *taken("docs/plug-ins.md", "python")]
Install = Callable[..., None]
ASKED = """Q: How long is the warranty?
P: The warranty lasts two years.
A: Two years, thank you.

Q: How long is shipping?
P: We are open on Mondays.
A: Five days.
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a package of one module, named as the package, with its entry points by group."""
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.chdir(tmp_path)

    def install(package: str, code: str, **groups: dict[str, str]) -> None:
        info = tmp_path / "site" / f"{package}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [
            line
            for group, points in groups.items()
            for line in (f"[ragauge.{group}]", *(f"{name} = {package}:{value}" for name, value in points.items()))
        ]
        (info / "entry_points.txt").write_text("\n".join(lines))
        (info.parent / f"{package}.py").write_text(code)
        monkeypatch.delitem(sys.modules, package, raising=False)
        list_entry_points.cache_clear()

    yield install
    list_entry_points.cache_clear()


def test_judge_is_found_by_name(install: Install) -> None:
    """A registered callable returns a judge, another judge's spec, or a model; what follows its name is handed over."""
    code = (
        "from tests.engine.tiny_judge import TinyJudge\n"
        "def house(model='small'): return f'openai-chat:{model}@https://llm.example/v1'\n"
        "def talker(): return lambda prompt: '{}'\n"
        "def nothing(): return 4\n"
    )
    points = {"tiny": "TinyJudge", "house": "house", "talker": "talker", "nothing": "nothing"}
    install("acme_judges", code, judges=points)
    assert build_judge("tiny").judge_id == "tiny@1"
    assert build_judge("house:large").judge_id.startswith("openai-chat:large")
    assert "own:talker" in build_judge("talker").judge_id
    with pytest.raises(JudgeError, match=r"nothing must return the spec of a judge, .* got int"):
        build_judge("nothing")
    with pytest.raises(JudgeError, match=r"tiny:x cannot be built: TypeError: TinyJudge\(\) takes no arguments"):
        build_judge("tiny:x")


ROWS = [{"query_id": "q1", "query": "How long?", "answer": "30 days.", "passages": ["It lasts 30 days."]}]


@pytest.mark.prove
@pytest.mark.server
def test_judge_of_a_package_judges_and_is_reported(install: Install) -> None:
    """A spec, a function and an object of a package judge a run, again without a call, and its report names them."""
    with FaultyServer() as server:
        install(
            "acme_judges",
            (
                "import json\n"
                f"def house(model='small'): return f'openai-chat:{{model}}@{server.url}'\n"
                "def reply(prompt): return json.dumps({'passages': [{'n': 1, 'relevant': True}]})\n"
                "class Model:\n"
                "    def invoke(self, prompt): return reply(prompt)\n"
                "def talker(): return reply\n"
                "def thinker(): return Model()\n"
            ),
            judges={"house": "house", "talker": "talker", "thinker": "thinker"},
        )
        for spec, named in (("house:large", "openai-chat:large"), ("talker", "talker"), ("thinker", "thinker")):
            card = rg.evaluate(ROWS, metrics="context_precision", judge=spec, name="r")
            assert named in card.to_markdown()
            calls = len(server.requests)
            rg.evaluate(ROWS, metrics="context_precision", judge=spec, name="r")
            assert len(server.requests) == calls
            assert named in rg.open_run("r").scorecard().to_markdown()


def test_an_object_with_verdicts_of_its_own_is_taken_in_python(tmp_path: Path) -> None:
    """A judge that Python code hands over judges as one of a package does."""
    store = f"sqlite:///{tmp_path / 's.db'}"
    card = rg.evaluate(ROWS, metrics="faithfulness,answer_tokens", judge=TinyJudge(), name="tiny", store=store)
    assert card.to_dict()["judge"] == "tiny@1"


def test_built_in_judges_come_first(install: Install) -> None:
    """No package takes the name of a judge or provider that ragauge has."""
    install("acme_judges", "", judges={"local": "gone", "openai": "gone"})
    assert build_judge("openai:gpt-5-mini").judge_id.startswith("openai")
    with pytest.raises(UsageError, match="the judge local takes no options"):
        build_judge("local:x")


def test_unknown_judge_lists_those_of_packages(install: Install) -> None:
    """Names of packages stand among the known ones, and nearest, in both forms."""
    install("acme_judges", "", judges={"strict": "gone"})
    with pytest.raises(UnknownName, match=r"no judge 'strikt'; nearest: strict"):
        build_judge("strikt")
    with pytest.raises(UnknownName, match="no provider or module 'strikt'; nearest: strict"):
        build_judge("strikt:x")


def test_broken_package_is_named_where_it_is_used(install: Install, tmp_path: Path) -> None:
    """A package that cannot be imported is an error of what needs it, with its name; nothing else notices it."""
    install("acme_broken", "import sys; sys.exit('no licence')", judges={"strict": "x"}, readers={"xyz": "read"})
    said = r"strict \(acme_broken:x\) of the package acme_broken cannot be loaded: SystemExit: no licence"
    with pytest.raises(UsageError, match=said):
        build_judge("strict")
    (tmp_path / "rows.xyz").write_text("anything")
    with pytest.raises(UsageError, match=r"xyz \(acme_broken:read\) of the package acme_broken cannot be loaded"):
        list(read_source("rows.xyz"))
    (tmp_path / "rows.jsonl").write_text(json.dumps({"query": "q", "answer": "a"}))
    assert [record.example.query for record in read_source("rows.jsonl")] == ["q"]


def test_reader_is_chosen_by_ending_or_name(install: Install, tmp_path: Path) -> None:
    """The longest registered ending decides, in any case; what ragauge reads itself is never handed to a package."""
    code = "".join(
        f"def {name}(path): yield {{'query': '{name}', 'answer': path.read_text()}}\n" for name in ("a", "b", "c")
    )
    install("acme_files", code, readers={".log": "a", "chat.log": "b", "CHATS": "c", "jsonl": "a", "json": "a"})
    for name, query in {"x.LOG": "a", "x.chat.log": "b", "chats": "c"}.items():
        (tmp_path / name).write_text("{said}")
        (record,) = read_source(name)
        assert record.response is not None
        assert (record.example.query, record.response.answer) == (query, "{said}")
    (tmp_path / "mine.jsonl").write_text(json.dumps({"query": "own"}))
    assert [record.example.query for record in read_source("mine.jsonl")] == ["own"]


def test_reader_that_fails_is_named(install: Install, tmp_path: Path) -> None:
    """What a reader raises, and a row that is no dictionary, are told with the package, the file and the row."""
    code = "def torn(path):\n  yield {'query': 'q'}\n  raise KeyError('body')\ndef bare(path): return ['q']\n"
    install("acme_files", code, readers={"torn": "torn", "bare": "bare"})
    for name in ("torn", "bare"):
        (tmp_path / f"rows.{name}").write_text("x")
    with pytest.raises(DataError, match=r"rows.torn after row 1: acme_files cannot read it: KeyError: 'body'"):
        list(read_source("rows.torn"))
    with pytest.raises(DataError, match=r"TypeError: row 1 is text 'q', expected a dictionary"):
        list(read_source("rows.bare"))
    with pytest.raises(DataError, match="there is no such file"):
        list(read_source("none.torn"))
    (tmp_path / "rows.unknown").write_text("x")
    with pytest.raises(DataError, match="Installed packages read: bare, torn"):
        list(read_source("rows.unknown"))


@pytest.mark.prove
def test_example_package(tmp_path: Path) -> None:
    """The example, installed by pip, brings a metric, a judge and a reader to the command line, as its page shows."""
    install, evaluate = map(shlex.split, COMMANDS)
    shutil.copytree(EXAMPLE, tmp_path / install[-1])  # building leaves files beside the source
    more, site = ["--no-deps", "--no-build-isolation", "--no-index", "--target"], tmp_path / "site"
    subprocess.run([sys.executable, "-m", *install, *more, site], check=True, capture_output=True, cwd=tmp_path)
    (tmp_path / "shop.qa").write_text(ASKED)
    folders = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    ran = subprocess.run(
        [sys.executable, "-m", *evaluate, "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
    )
    means = {name: found["mean"] for name, found in json.loads(ran.stdout)["metrics"].items()}
    assert means == {"courteous": 0.5, "context_precision": 0.5}


def test_page_shows_the_example() -> None:
    """What docs/plug-ins.md shows of the example are its files, word for word."""
    assert [block.text for block in SHOWN] == [
        (EXAMPLE / name).read_text() for name in ("pyproject.toml", "ragauge_example.py")
    ]
