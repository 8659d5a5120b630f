"""Doctor: what works on this machine, what does not, and what to do about it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from ragauge.core.config.config_loader import DEFAULT
from ragauge.core.errors import RagaugeError
from ragauge.core.messages import plural
from ragauge.core.origin import install_command
from ragauge.core.providers import PROVIDERS
from ragauge.verbs.options import DoctorOptions
from ragauge.version import __version__

if TYPE_CHECKING:
    from ragauge.core.example import EvalSet
    from ragauge.evaluation.doctor.checks import Tried
    from ragauge.store.integrity import Integrity

State = Literal["ok", "note", "wrong"]
LEAST_SPACE = 500_000_000  # bytes: a run of some 100,000 examples
MOST_NAMED = 5  # damaged parts of a store
COPY = "Take the file back from a copy. "
RESTORE = f"{COPY}Without one, delete each run that is named (ragauge delete) and evaluate its source again."
ANEW = f"{COPY}Without one, move the file away and evaluate the sources again: the damage is in the file as a whole."
OF_INDEX = re.compile(r"row \d+ missing from index |wrong # of entries in index |non-unique entry in index ")
LABELS: Mapping[str, str] = {
    "references": "accepted answers",
    "relevant": "labelled documents",
    "gold_spans": "gold spans",
    "answerable": "answerable or not",
    "criteria": "criteria",
}


@dataclass(frozen=True, slots=True)
class Looked:
    """One thing that was looked at.

    Attributes:
        name: what.
        state: ok, note (nothing is wrong, but worth knowing) or wrong.
        said: what was found.
        hint: what to do; "" for nothing.
    """

    name: str
    state: State
    said: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything that was looked at.

    Attributes:
        looked: in the order of looking.
    """

    looked: tuple[Looked, ...]

    @property
    def healthy(self) -> bool:
        """Whether nothing is wrong."""
        return all(part.state != "wrong" for part in self.looked)

    def to_dict(self) -> dict[str, Any]:
        """As JSON types."""
        return {"healthy": self.healthy, "looked": [asdict(part) for part in self.looked]}


async def examine(wanted: DoctorOptions) -> Diagnosis:
    """Looks at everything that an evaluation needs.

    @@
    """
    from ragauge.evaluation.doctor.checks import try_local_judge, try_models, try_system

    again = install_command("", "--force-reinstall")
    looked = [_python(), *_packages(), _tried(try_local_judge(), f"Reinstall it: {again}")]
    looked += [_store(wanted.store), _config(wanted.config, wanted.eval_set), *_keys(), _git()]
    if wanted.eval_set:
        looked.append(_eval_set(wanted.eval_set))
    if wanted.system:
        looked.append(_tried(await try_system(wanted.system, wanted.settings or None)))
    if wanted.judge and wanted.judge not in ("local", "none"):
        try:
            tried = await try_models(wanted.judge)
            looked += [_tried(part, "ragauge docs model-judges says how each is named.") for part in tried]
        except RagaugeError as error:
            looked.append(Looked(f"judge {wanted.judge}", "wrong", str(error)))
    return Diagnosis(tuple(looked))


def _tried(tried: Tried, hint: str = "") -> Looked:
    return Looked(tried.name, "ok" if tried.works else "wrong", tried.said, "" if tried.works else hint)


def _python() -> Looked:
    version = ".".join(map(str, sys.version_info[:3]))
    return Looked("ragauge", "ok", f"{__version__} on Python {version}, {os.cpu_count()} cores, {sys.prefix}")


def _packages() -> Iterator[Looked]:
    """Optional packages, by the extras that the installed ragauge itself names."""
    from importlib import metadata

    by_extra: dict[str, dict[str, str]] = {}
    for line in metadata.requires("ragauge") or ():
        match = re.match(r"([\w.-]+).*extra\s*==\s*['\"]([\w-]+)['\"]", line)
        if match and match[2] != "all":
            by_extra.setdefault(match[2], {})[match[1]] = ""
    for packages in by_extra.values():
        for name in packages:
            try:
                packages[name] = metadata.version(name)
            except metadata.PackageNotFoundError:
                continue
    there = [
        f"{extra} ({', '.join(f'{n} {v}' for n, v in sorted(installed.items()))})"
        for extra, installed in sorted(by_extra.items())
        if all(installed.values())
    ]
    absent = sorted(extra for extra, installed in by_extra.items() if not all(installed.values()))
    if there:
        yield Looked("extras", "ok", f"installed: {', '.join(there)}")
    if absent:
        yield Looked("extras", "note", f"not installed: {', '.join(absent)}", install_command(absent[0]))


def _store(url: str | None) -> Looked:
    from ragauge.store.store_access import open_store
    from ragauge.verbs.sources import store_url

    asked = store_url(url)
    path = Path(asked.removeprefix("sqlite:///"))
    fresh = asked.startswith("sqlite:///") and not path.exists()
    folder = next((parent for parent in (path, *path.absolute().parents) if parent.is_dir()), Path())
    if asked.startswith("sqlite:///") and not os.access(folder, os.W_OK):
        return Looked("store", "wrong", f"{asked}: {folder} cannot be written to", "Name another with --store.")
    space = shutil.disk_usage(folder).free
    tight = f"; only {space / 1e6:,.0f} MB are free there" if space < LEAST_SPACE else ""
    if path.is_file() and not path.stat().st_size:
        said = f"{asked}: the file is there and empty (0 bytes): it was cut off, or something else made it"
        return Looked("store", "wrong", said, f"{COPY}Delete it if nothing was in it: a new one is made then.")
    if fresh:
        return Looked("store", "wrong" if tight else "ok", f"{asked} is made by the first command that writes{tight}")
    try:
        with open_store(asked) as opened:
            if looked := _damage(opened.integrity, asked, path):
                return looked
            runs, sets = len(opened.runs.list()), len(opened.sets.list())
    except RagaugeError as error:
        broken = _is_database(path) and re.search("malformed|damaged", str(error))
        return Looked("store", "wrong", str(error), ANEW if broken else "")
    size = f", {path.stat().st_size / 1e6:,.1f} MB" if path.exists() else ""
    held = f"{plural(runs, 'run')}, {plural(sets, 'set')}"
    return Looked("store", "wrong" if tight else "ok", f"{asked}: {held}{size}{tight}")


def _damage(integrity: Integrity, asked: str, path: Path) -> Looked | None:
    """What is damaged in a store, with what mends it; None where nothing is."""
    problems = integrity.problems()
    if problems and all(map(OF_INDEX.match, problems)):
        said = f"{asked}: indexes of its file are damaged, what is kept is whole: {'; '.join(problems[:MOST_NAMED])}"
        code = f'import sqlite3; sqlite3.connect({json.dumps(path.absolute().as_posix())}).execute("REINDEX")'
        return Looked("store", "wrong", said, f"Build them again: {shlex.join(['python', '-c', code])}")
    try:
        damaged = integrity.damaged()
    except RagaugeError:  # the file says so already
        damaged = []
    parts = "; ".join(dict.fromkeys(map(str, damaged[:MOST_NAMED])))
    named = any(part.run for part in damaged)
    if problems:
        said = f"{asked}: its file is damaged: {'; '.join(problems[:MOST_NAMED])}{f'; {parts}' if parts else ''}"
        return Looked("store", "wrong", said, RESTORE if named else ANEW)
    if damaged:
        said = f"{asked}: {plural(len(damaged), 'part')} damaged: {parts}"
        return Looked("store", "wrong", said, RESTORE if named else ANEW)
    return None


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(15) == b"SQLite format 3"
    except OSError:
        return False


def _config(config: str, eval_set: str) -> Looked:
    from ragauge.evaluation.doctor.validate import validate

    if not Path(config).exists():
        state: State = "note" if config == DEFAULT else "wrong"
        return Looked("configuration", state, f"there is no {config}", "ragauge init writes one.")
    try:
        validated = validate(config, set=eval_set or None)
    except RagaugeError as error:
        return Looked("configuration", "wrong", str(error))
    rules = max(0, len(validated.rules) - 1)  # without the share of failed calls, which every gate limits
    monitors = sum(line.startswith("monitor:") for line in validated.monitor)
    watched = f", {plural(monitors, 'monitor')}" if validated.monitor else ""
    return Looked("configuration", "ok", f"{config} is valid, {plural(rules, 'rule')} in its gate{watched}")


def _keys() -> Iterator[Looked]:
    there: dict[str, str] = {}  # variable -> the first provider whose key it holds
    for provider, place in PROVIDERS.items():
        for name in filter(os.environ.get, place.keys):
            there.setdefault(name, provider)
    if there:
        named = ", ".join(f"{name} (for --judge {provider}:MODEL)" for name, provider in there.items())
        yield Looked("keys", "ok", f"set: {named}; a key is never stored or shown")
    else:
        hint = "export OPENAI_API_KEY=… for --judge openai:MODEL"
        yield Looked("keys", "note", "none is set; the local judge needs none", hint)
    for name in dict.fromkeys(place.variable for place in PROVIDERS.values()):
        if name and os.environ.get(name):
            address = urlsplit(os.environ[name])  # without user, password and query, which may be secret
            where = address.netloc.rpartition("@")[2]
            note = f"{name} sends calls to {address.scheme}://{where}{address.path}"
            yield Looked("endpoint", "note", note)


def _git() -> Looked:
    from ragauge.verbs import git

    state, branch = git.state(), git.branch()
    if not state:
        where = f"no commit on {branch} yet" if branch else "not a git repository"
        return Looked("git", "note", f"{where}: runs will not say which commit they belong to")
    return Looked("git", "ok", f"commit {state}{f' on {branch}' if branch else ''}: recorded with every run")


def _eval_set(source: str) -> Looked:
    from ragauge.readers.source import read_set

    try:
        eval_set = read_set(source)
    except RagaugeError as error:
        return Looked("eval set", "wrong", str(error))
    labels = [f"{count:,} with {words}" for field, words in LABELS.items() if (count := _with(eval_set, field))]
    if not labels:
        hint = "Add reference_answer or relevant to measure right answers and retrieval: ragauge docs data"
        return Looked("eval set", "note", f"{source}: {plural(len(eval_set), 'question')} without any label", hint)
    return Looked("eval set", "ok", f"{source}: {plural(len(eval_set), 'question')}, {', '.join(labels)}")


def _with(eval_set: EvalSet, field: str) -> int:
    return sum(getattr(example, field) not in (None, ()) for example in eval_set.examples)
