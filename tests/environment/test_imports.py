"""What importing costs, loads and opens; what the package depends on; which names are public."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from tests.conftest import OwnTime

import ragauge as rg

RAGAUGE = Path(sys.executable).with_name("ragauge")
HEAVY = {
    "polars",
    "numpy",
    "scipy",
    "altair",
    "sqlalchemy",
    "tokenizers",
    "pydantic",
    "rich",
    "typer",
    "pandas",
    "bm25s",
    "nupunkt",
    "alembic",
    "jinja2",
    "vl_convert",
    "asyncio",
    "socket",
}
MOST_SECONDS = 0.3
MOST_PACKAGES = 57
VENDORS = {
    "anthropic",
    "cohere",
    "google-generativeai",
    "google-genai",
    "litellm",
    "mistralai",
    "langchain",
    "llama-index",
    "groq",
    "boto3",
    "ragas",
    "deepeval",
    "haystack-ai",
    "torch",
    "transformers",
}
PICKLES = {"diskcache", "joblib", "dill", "cloudpickle", "pickle5", "apscheduler"}

PUBLIC = {
    "Capture",
    "capture",
    "Confirmation",
    "confirm",
    "__version__",
    "aio",
    "run",
    "SystemRun",
    "evaluate",
    "read_set",
    "open_run",
    "runs",
    "tag_run",
    "untag_run",
    "OpenRun",
    "Scorecard",
    "EvalSet",
    "Example",
    "Relevant",
    "Span",
    "Citation",
    "Passage",
    "Response",
    "Run",
    "DataError",
    "RagaugeError",
    "UnknownName",
    "UsageError",
    "EvaluationLog",
    "log",
    "note",
    "baselines",
    "remove_baseline",
    "set_baseline",
    "compare",
    "ComparisonResult",
    "gate",
    "GateResult",
    "validate",
    "ConfigError",
    "GateFailed",
    "NotEnoughData",
    "ThresholdsResult",
    "thresholds",
    "check_judge",
    "chunking",
    "embeddings",
    "sweep",
    "open_study",
    "StudyResult",
    "calibrate_judge",
    "probe_judge",
    "ProbeResult",
    "label_draw",
    "label_import",
    "label_plan",
    "label_transfer",
    "ann",
    "ann_check",
    "exact_neighbours",
    "monitor_plan",
    "monitor_replay",
    "JudgeHistory",
    "judge_history",
    "GradesResult",
    "check_grades",
    "generate_set",
    "add_examples",
    "check_set",
    "freeze_set",
    "mark_set",
    "diff_sets",
    "export_set",
    "vary_set",
    "set_stats",
    "Dashboard",
    "ui",
    "Metric",
    "metric",
    "Value",
}


def test_public_names() -> None:
    """The public names are these, each can be had, and another is an AttributeError."""
    assert set(rg.__all__) == PUBLIC == set(dir(rg))
    for name in PUBLIC:
        assert getattr(rg, name) is not None
    assert set(rg.aio.__all__) == {name for name in PUBLIC if name[0].islower()} - {"aio", "capture", "metric"}
    with pytest.raises(AttributeError, match="no attribute 'evalute'"):
        rg.evalute  # noqa: B018


def test_import_loads_nothing_heavy() -> None:
    """Case 59: after `import ragauge` none of the heavy libraries is loaded; nor by the command line."""
    code = "import ragauge, sys, json; print(json.dumps(sorted(m for m in sys.modules)))"
    assert not HEAVY & set(json.loads(_python(code)))
    cli = "import ragauge.cli.main, sys, json; print(json.dumps(sorted(m for m in sys.modules)))"
    assert not (HEAVY - {"typer", "rich", "asyncio", "socket"}) & set(json.loads(_python(cli)))


def test_no_library_logs_while_another_is_loaded() -> None:
    """What is logged while the embedder's library is loaded, which would turn logging on, is not printed."""
    probe = """
import logging, sys
from ragauge.models.embedders import base
count, busy = 0, False
def during(event, _):
    global count, busy
    if event == "import" and not busy:
        busy, count = True, count + 1
        logging.getLogger("httpx").info("a request")
        logging.getLogger("ragauge.judges").warning("ours") if count == 1 else None
        busy = False
sys.addaudithook(during)
base._load_model(base.WEIGHTS)
root = logging.getLogger()
print(count > 10, root.handlers, root.level == logging.WARNING)
"""
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout == "True [] True\n"
    assert done.stderr == "ours\n"


@pytest.mark.parametrize(
    "words", [[sys.executable, "-c", "import ragauge"], [str(RAGAUGE), "--help"]], ids=["import", "help"]
)
def test_start_is_quick(words: list[str], own_time: OwnTime) -> None:
    """Case 59: import and --help, once compiled, take less than 0.3 s of the processor, as the least of up to 10."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    own_time.within(MOST_SECONDS, lambda: subprocess.run(words, capture_output=True, check=True, env=env), times=10)


def _python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def _needed(name: str, extra: str = "") -> Iterator[str]:
    from packaging.requirements import Requirement

    for line in metadata.requires(name) or ():
        found = Requirement(line)
        if found.marker is None or found.marker.evaluate({"extra": extra}):
            yield re.sub(r"[-_.]+", "-", found.name).lower()
            for more in found.extras:
                yield from _needed(found.name, more)


def closure() -> set[str]:
    """Every package that a core install brings, ragauge itself counted."""
    seen: set[str] = set()
    todo = ["ragauge"]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += _needed(name)
    return seen


def test_dependencies() -> None:
    """Case 62: the core install is within its limit and brings no vendor's SDK and no pickled cache."""
    found = closure()
    assert {"polars", "typer", "sqlalchemy"} <= found
    assert len(found) <= MOST_PACKAGES
    assert not found & VENDORS
    assert not found & PICKLES


def test_nothing_is_pickled() -> None:
    """Case 62: no module of the package uses pickle, marshal or shelve."""
    source = Path(rg.__file__).parent
    files = list(source.rglob("*.py"))
    assert len(files) > 100
    using = [
        str(path.relative_to(source))
        for path in files
        if re.search(r"^\s*(import|from)\s+(pickle|marshal|shelve|joblib|dill)\b", path.read_text(), re.MULTILINE)
    ]
    assert using == []
