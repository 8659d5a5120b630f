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

from ragauge.core.config.config_loader import DEFAULT_FILE
from ragauge.core.errors import RagaugeError
from ragauge.core.messages import format_count
from ragauge.core.origin import build_install_command
from ragauge.core.providers import PROVIDERS
from ragauge.verbs.options import DoctorOptions
from ragauge.version import __version__

if TYPE_CHECKING:
    from ragauge.core.example import EvalSet
    from ragauge.evaluation.doctor.checks import DoctorResult
    from ragauge.store.integrity import Integrity

State = Literal["ok", "note", "wrong"]
MIN_FREE_BYTES = 500_000_000  # bytes: a run of some 100,000 examples
MAX_NAMED_PARTS = 5  # damaged parts of a store
COPY_HINT = "Restore the file from a backup. "
RESTORE_HINT = (
    f"{COPY_HINT}If you have none, delete each run named here (ragauge runs delete) and evaluate its source again."
)
REBUILD_HINT = (
    f"{COPY_HINT}If you have none, move the file away and evaluate the sources again: the whole file is damaged."
)
INDEX_DAMAGE = re.compile(r"row \d+ missing from index |wrong # of entries in index |non-unique entry in index ")
LABELS: Mapping[str, str] = {
    "references": "accepted answers",
    "relevant": "labeled documents",
    "gold_spans": "gold spans",
    "answerable": "answerable or not",
    "criteria": "criteria",
}


@dataclass(frozen=True, slots=True)
class DoctorItem:
    """One thing that was looked at."""

    name: str  #: what.
    state: State  #: ok, note (nothing is wrong, but worth knowing) or wrong.
    said: str  #: what was found.
    hint: str = ""  #: what to do; "" for nothing.


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything that was looked at."""

    looked: tuple[DoctorItem, ...]  #: in the order of looking.

    @property
    def is_healthy(self) -> bool:
        """Whether nothing is wrong."""
        return all(item.state != "wrong" for item in self.looked)

    def to_dict(self) -> dict[str, Any]:
        """As JSON types."""
        return {"healthy": self.is_healthy, "looked": [asdict(item) for item in self.looked]}


async def examine_machine(options: DoctorOptions) -> Diagnosis:
    """Looks at everything that an evaluation needs.

    @@
    """
    from ragauge.evaluation.doctor.checks import try_local_judge, try_models, try_system

    again = build_install_command("", "--force-reinstall")
    looked = [_check_python(), *_check_packages(), _build_item(try_local_judge(), f"Reinstall it: {again}")]
    looked += [
        examine_store(options.store),
        _check_config(options.config, options.eval_set),
        *_check_keys(),
        _check_git(),
    ]
    if options.eval_set:
        looked.append(_check_eval_set(options.eval_set))
    if options.system:
        looked.append(_build_item(await try_system(options.system, options.settings or None)))
    if options.judge and options.judge not in ("local", "none"):
        try:
            attempts = await try_models(options.judge)
            looked += [_build_item(attempt, "See ragauge docs model-judges for the names.") for attempt in attempts]
        except RagaugeError as error:
            looked.append(DoctorItem(f"judge {options.judge}", "wrong", str(error)))
    return Diagnosis(tuple(looked))


def _build_item(tried: DoctorResult, hint: str = "") -> DoctorItem:
    return DoctorItem(tried.name, "ok" if tried.works else "wrong", tried.message, "" if tried.works else hint)


def _check_python() -> DoctorItem:
    version = ".".join(map(str, sys.version_info[:3]))
    return DoctorItem("ragauge", "ok", f"{__version__} on Python {version}, {os.cpu_count()} cores, {sys.prefix}")


def _check_packages() -> Iterator[DoctorItem]:
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
    complete = [
        f"{extra} ({', '.join(f'{n} {v}' for n, v in sorted(installed.items()))})"
        for extra, installed in sorted(by_extra.items())
        if all(installed.values())
    ]
    absent = sorted(extra for extra, installed in by_extra.items() if not all(installed.values()))
    if complete:
        yield DoctorItem("extras", "ok", f"installed: {', '.join(complete)}")
    if absent:
        yield DoctorItem("extras", "note", f"not installed: {', '.join(absent)}", build_install_command(absent[0]))


def examine_store(url: str | None) -> DoctorItem:
    """Looks whether the store can be opened and written to, and is whole."""
    from ragauge.store.store_access import open_store
    from ragauge.verbs.sources import resolve_store_url

    resolved_url = resolve_store_url(url)
    path = Path(resolved_url.removeprefix("sqlite:///"))
    fresh = resolved_url.startswith("sqlite:///") and not path.exists()
    folder = next((parent for parent in (path, *path.absolute().parents) if parent.is_dir()), Path())
    if resolved_url.startswith("sqlite:///") and not os.access(folder, os.W_OK):
        return DoctorItem(
            "store", "wrong", f"{resolved_url}: {folder} cannot be written to", "Name another with --store."
        )
    space = shutil.disk_usage(folder).free
    tight = f"; only {space / 1e6:,.0f} MB are free" if space < MIN_FREE_BYTES else ""
    if path.is_file() and not path.stat().st_size:
        message = f"{resolved_url}: the file is empty (0 bytes): it was truncated, or another program created it"
        return DoctorItem(
            "store", "wrong", message, f"{COPY_HINT}If it held nothing, delete it: a new one will be created."
        )
    if fresh:
        return DoctorItem(
            "store",
            "wrong" if tight else "ok",
            f"{resolved_url} will be created by the first command that writes to it{tight}",
        )
    try:
        with open_store(resolved_url) as opened_store:
            if looked := _check_damage(opened_store.integrity, resolved_url, path):
                return looked
            runs, sets = len(opened_store.runs.list()), len(opened_store.sets.list())
    except RagaugeError as error:
        broken = _is_database(path) and re.search("malformed|damaged", str(error))
        return DoctorItem("store", "wrong", str(error), REBUILD_HINT if broken else "")
    size = f", {path.stat().st_size / 1e6:,.1f} MB" if path.exists() else ""
    counts = f"{format_count(runs, 'run')}, {format_count(sets, 'set')}"
    return DoctorItem("store", "wrong" if tight else "ok", f"{resolved_url}: {counts}{size}{tight}")


def _check_damage(integrity: Integrity, url: str, path: Path) -> DoctorItem | None:
    """What is damaged in a store, with what mends it; None where nothing is."""
    problems = integrity.list_problems()
    if problems and all(map(INDEX_DAMAGE.match, problems)):
        parts = "; ".join(problems[:MAX_NAMED_PARTS])
        message = f"{url}: the indexes of the file are damaged, but the data is intact: {parts}"
        code = f'import sqlite3; sqlite3.connect({json.dumps(path.absolute().as_posix())}).execute("REINDEX")'
        return DoctorItem("store", "wrong", message, f"Rebuild them: {shlex.join(['python', '-c', code])}")
    try:
        damaged = integrity.list_damaged()
    except RagaugeError:  # the file says so already
        damaged = []
    parts_text = "; ".join(dict.fromkeys(map(str, damaged[:MAX_NAMED_PARTS])))
    names_run = any(part.run for part in damaged)
    if problems:
        message = (
            f"{url}: the file is damaged: "
            f"{'; '.join(problems[:MAX_NAMED_PARTS])}{f'; {parts_text}' if parts_text else ''}"
        )
        return DoctorItem("store", "wrong", message, RESTORE_HINT if names_run else REBUILD_HINT)
    if damaged:
        message = f"{url}: {format_count(len(damaged), 'part')} damaged: {parts_text}"
        return DoctorItem("store", "wrong", message, RESTORE_HINT if names_run else REBUILD_HINT)
    return None


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(15) == b"SQLite format 3"
    except OSError:
        return False


def _check_config(config: str, eval_set: str) -> DoctorItem:
    from ragauge.evaluation.doctor.validate import validate

    if not Path(config).exists():
        state: State = "note" if config == DEFAULT_FILE else "wrong"
        return DoctorItem("configuration", state, f"there is no {config}", "ragauge init writes one.")
    try:
        validated = validate(config, set=eval_set or None)
    except RagaugeError as error:
        return DoctorItem("configuration", "wrong", str(error))
    rules = max(0, len(validated.rules) - 1)  # without the share of failed calls, which every gate limits
    monitors = sum(line.startswith("monitor:") for line in validated.monitor)
    watched = f", {format_count(monitors, 'monitor')}" if validated.monitor else ""
    return DoctorItem("configuration", "ok", f"{config} is valid, {format_count(rules, 'rule')} in its gate{watched}")


def _check_keys() -> Iterator[DoctorItem]:
    providers_by_key: dict[str, str] = {}  # variable -> the first provider whose key it holds
    for provider, endpoint in PROVIDERS.items():
        for name in filter(os.environ.get, endpoint.keys):
            providers_by_key.setdefault(name, provider)
    if providers_by_key:
        key_texts = ", ".join(f"{name} (for --judge {provider}:MODEL)" for name, provider in providers_by_key.items())
        yield DoctorItem("keys", "ok", f"set: {key_texts}; keys are never stored or shown")
    else:
        hint = "export OPENAI_API_KEY=… for --judge openai:MODEL"
        yield DoctorItem("keys", "note", "no API key is set; the local judge needs none", hint)
    for name in dict.fromkeys(endpoint.variable for endpoint in PROVIDERS.values()):
        if name and os.environ.get(name):
            address = urlsplit(os.environ[name])  # without user, password and query, which may be secret
            where = address.netloc.rpartition("@")[2]
            note = f"{name} sends calls to {address.scheme}://{where}{address.path}"
            yield DoctorItem("endpoint", "note", note)


def _check_git() -> DoctorItem:
    from ragauge.verbs import git

    state, branch = git.find_commit(), git.find_branch()
    if not state:
        where = f"no commit on {branch} yet" if branch else "not a git repository"
        return DoctorItem("git", "note", f"{where}: runs will not record a commit")
    return DoctorItem("git", "ok", f"commit {state}{f' on {branch}' if branch else ''}: recorded with every run")


def _check_eval_set(source: str) -> DoctorItem:
    from ragauge.readers.source import read_set

    try:
        eval_set = read_set(source)
    except RagaugeError as error:
        return DoctorItem("eval set", "wrong", str(error))
    labels = [
        f"{count:,} with {words}" for field, words in LABELS.items() if (count := _count_labeled(eval_set, field))
    ]
    if not labels:
        hint = "Add reference_answer or relevant to measure correctness and retrieval: ragauge docs data"
        return DoctorItem(
            "eval set", "note", f"{source}: {format_count(len(eval_set), 'question')} without labels", hint
        )
    return DoctorItem("eval set", "ok", f"{source}: {format_count(len(eval_set), 'question')}, {', '.join(labels)}")


def _count_labeled(eval_set: EvalSet, field: str) -> int:
    return sum(getattr(example, field) not in (None, ()) for example in eval_set.examples)
