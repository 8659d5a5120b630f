"""The files that `ragauge init` writes, as text.

What has to be installed for a project's system to be imported: from its own files, else from what it imports.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from shlex import join, quote
from typing import TYPE_CHECKING, Any

from ragauge.core.origin import build_requirement, find_source
from ragauge.gating.compute.decision import MIN_EXAMPLES, USUAL_DROP_POINTS, find_n_examples, suggest_max_drop
from ragauge.verbs.git import find_remote_commit

if TYPE_CHECKING:
    from ragauge.evaluation.init.project_scan import Candidate

REQUIREMENT_FOLDER_FILES = ("base", "main", "prod", "requirements")
REQUIREMENT_FILES = ("requirements.txt", *(f"requirements/{name}.txt" for name in REQUIREMENT_FOLDER_FILES))
REQUIREMENT_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
VERSION_VARIABLE = "RAGAUGE"  # of a repository: what pip installs where only this machine has this ragauge
VARIABLE_REFERENCE = f"${{{{ vars.{VERSION_VARIABLE} }}}}"
NEEDS_FILE = "ragauge-needs.txt"  # in the runner's temporary folder
PYPROJECT_COMMAND = (
    "python -c \"import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], "
    f'sep=\'\\n\')" > "$RUNNER_TEMP/{NEEDS_FILE}"'
)


@dataclass(frozen=True, slots=True)
class InstallNeeds:
    """What a workflow installs."""

    before: str = ""  #: a shell line that comes before; "" for none.
    install: str = ""  #: what pip is given beside ragauge, as in a shell.
    source: str = ""  #: the file that says so; "" = the imports do.
    #: module that is imported -> the file that imports it, where nothing here says what brings it.
    unknown: tuple[tuple[str, str], ...] = ()

    @property
    def said(self) -> str:
        """What is not known, in a sentence; "" where all is."""
        if not self.unknown:
            return ""
        names = ", ".join(f"{module} (in {path})" for module, path in self.unknown)
        return f"the package that provides {names} is unknown: it is not installed here"


def find_needs(root: Path, imports: Mapping[str, str]) -> InstallNeeds:
    """What a project needs.

    Args:
        root: of the project.
        imports: dotted module from outside of the project and the standard library -> a file that imports it.
    """
    for name in REQUIREMENT_FILES:
        if (root / name).is_file():
            lines = (root / name).read_text(encoding="utf-8", errors="replace").splitlines()
            more, _ = _list_missing_requirements(imports, lines)
            return InstallNeeds("", " ".join([f"-r {name}", *more]), name)
    project = _read_pyproject(root / "pyproject.toml")
    dependencies = project.get("project", {}).get("dependencies")
    if "build-system" in project or "poetry" in project.get("tool", {}) or (root / "setup.py").is_file():
        more = _list_missing_requirements(imports, dependencies)[0] if isinstance(dependencies, list) else []
        return InstallNeeds("", " ".join([".", *more]), "pyproject.toml" if project else "setup.py")
    if isinstance(dependencies, list):
        more, _ = _list_missing_requirements(imports, dependencies)
        return InstallNeeds(PYPROJECT_COMMAND, " ".join([f'-r "$RUNNER_TEMP/{NEEDS_FILE}"', *more]), "pyproject.toml")
    more, unknown = _list_missing_requirements(imports, ())
    return InstallNeeds("", " ".join(more), "", unknown)


def _read_pyproject(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _list_missing_requirements(
    imports: Mapping[str, str], requirements: Iterable[Any]
) -> tuple[list[str], tuple[tuple[str, str], ...]]:
    """Requirements for imports that a list does not bring, and imports of which nothing here says what brings them."""
    brought = _resolve_closure(
        {_normalize_name(name[1]) for line in requirements if (name := REQUIREMENT_NAME.match(str(line)))}
    )
    versions: dict[str, str] = {}
    unknown = []
    for module, path in imports.items():
        distributions = _find_distributions(module)
        if not distributions and not {_normalize_name(module.partition(".")[0]), _normalize_name(module)} & brought:
            unknown.append((module, path))
        if distributions and not {_normalize_name(distribution) for distribution in distributions} & brought:
            versions[distributions[0]] = metadata.version(distributions[0])
    brought_by_others = {
        name for other in versions for name in _resolve_closure({_normalize_name(other)}) - {_normalize_name(other)}
    }
    names = sorted(name for name in versions if _normalize_name(name) not in brought_by_others)
    return [quote(f"{name}=={versions[name].partition('+')[0]}") for name in names], tuple(unknown)


@cache
def _map_distributions() -> Mapping[str, list[str]]:
    """Top-level package -> the distributions that bring something of it."""
    return metadata.packages_distributions()


def _find_distributions(module: str) -> list[str]:
    """The installed distributions that bring a module; where several share its package, those with this very module."""
    first = module.partition(".")[0]
    distributions = [
        distribution for distribution in dict.fromkeys(_map_distributions().get(first, ())) if distribution != "ragauge"
    ]
    if len(distributions) <= 1:
        return distributions
    folder = module.replace(".", "/")
    files = {f"{folder}.py", f"{folder}/__init__.py"}
    exact = [name for name in distributions if any(str(path) in files for path in metadata.files(name) or ())]
    return exact or distributions


def _resolve_closure(names: Collection[str]) -> frozenset[str]:
    """Distributions, and those that they need in turn, as far as they are installed."""
    visited: set[str] = set()
    remaining = list(names)
    while remaining:
        name = remaining.pop()
        if name in visited:
            continue
        visited.add(name)
        try:
            requires = metadata.requires(name) or ()
        except metadata.PackageNotFoundError:
            continue
        remaining += [
            _normalize_name(match[1])
            for line in requires
            if "extra ==" not in line and (match := REQUIREMENT_NAME.match(line))
        ]
    return frozenset(visited)


def _normalize_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


TEMPLATES = tomllib.loads(Path(__file__).with_name("templates.toml").read_text(encoding="utf-8"))
ADAPTERS, RULES = TEMPLATES["adapter"], TEMPLATES["rules"]
RUN_COMMAND = re.compile(r"^ +ragauge run (.+) --name change --evaluate -q$", re.MULTILINE)


def build_adapter(candidate: Candidate) -> str:
    """The adapter of something that was found."""
    module, _, name = candidate.target.partition(":")
    path = ADAPTERS["path"].format(root=candidate.root) if candidate.root else ""
    form = candidate.form
    if not form.call:
        template: str = ADAPTERS["factory" if form.factory else "import"]
        return template.format(path=path, module=module, name=name, factory=form.factory)
    is_async, call = ("async ", f"await {form.call}") if form.is_async else ("", form.call)
    lines = [f"reply = {call}", f"return {form.reply}"] if form.reply else [f"return {call}"]
    body = "\n".join(f"    {line}" for line in lines)
    instance = f"\ninstance = {form.factory}\n" if form.factory else ""
    return str(ADAPTERS["call"].format(module=module, path=path, instance=instance, is_async=is_async, body=body))


def build_config(counts: Mapping[str, int], options: Sequence[str] = ()) -> str:
    """ragauge.yaml with the rules that so many examples can decide.

    Args:
        counts: name of a rule in templates.toml -> to how many examples of the eval set its rule applies.
        options: with which commands read the eval set.
    """
    enough = {key for key in RULES if counts.get(key, 0) >= MIN_EXAMPLES}
    included = [key for key in RULES if key in (enough or {key for key, n in counts.items() if n})]
    rules = [f"    - {RULES[key].format(points=suggest_max_drop(counts[key]))}" for key in included]
    rules += [
        f"    # - {RULES[key].format(points=USUAL_DROP_POINTS)}     # {counts[key]} examples: from {MIN_EXAMPLES} on"
        for key in RULES
        if counts.get(key) and key not in included
    ]
    columns = f"\n# ragauge run and ragauge doctor FILE --set read the file with: {join(options)}" if options else ""
    failed = max(2, -(-100 // max(MIN_EXAMPLES, counts["answers"])))
    template: str = TEMPLATES["files"]["config"]
    return template.format(rules="\n".join(rules), failed=failed, size=f"# {describe_size(counts)}", columns=columns)


def describe_size(counts: Mapping[str, int]) -> str:
    """What the number of questions can decide, in a sentence."""
    n = counts["answers"]
    if n < MIN_EXAMPLES:
        return f"{n} questions are too few to decide anything: every rule reports not enough data below {MIN_EXAMPLES}."
    if suggest_max_drop(n) == USUAL_DROP_POINTS:
        return f"{n:,} questions can decide a drop of {USUAL_DROP_POINTS} points."
    return (
        f"{n} questions can decide a drop of {suggest_max_drop(n)} points; {USUAL_DROP_POINTS} points need about "
        f"{find_n_examples(USUAL_DROP_POINTS / 100)} (ragauge doctor ragauge.yaml --set)."
    )


def build_workflow(words: Sequence[str], needs: InstallNeeds) -> str:
    """The workflow of a pull request.

    Args:
        words: the system, its questions and how they are read, as `ragauge run` takes them.
        needs: what is to be installed.
    """
    python = ".".join(map(str, sys.version_info[:2]))
    template: str = TEMPLATES["files"]["workflow"]
    return template.format(python=python, install=_build_install_step(needs), command=join(words))


def find_run_command(workflow: str) -> str:
    """What a workflow asks, as `build_workflow` was given it; "" where it is none of these."""
    match = RUN_COMMAND.search(workflow)
    return match[1] if match is not None else ""


def _build_install_step(needs: InstallNeeds) -> str:
    """The step that installs, with what is not known as a comment."""
    origin = f"by {needs.source}" if needs.source else "as installed where ragauge init was run"
    lines = [f"      # what the system imports, {origin}"] if needs.install else []
    lines += [
        f"      # ADD the package that provides the module {module} (imported by {path}): it is not installed here"
        for module, path in needs.unknown
    ]
    package = _find_published()
    if not package:
        lines.append(
            f"      # ADD {VERSION_VARIABLE} to the repository's variables: the requirement for pip, git+https://HOST/ragauge@TAG"
        )
    command = f'pip install "{package or VARIABLE_REFERENCE}" {needs.install}'.rstrip()
    if needs.before:
        return "\n".join([*lines, "      - run: |", f"          {needs.before}", f"          {command}"])
    return "\n".join([*lines, f"      - run: {command}"])


def _find_published() -> str:
    """What pip takes for this ragauge on another machine; "" where only this one has it."""
    folder = find_source().removeprefix("file://")
    if not Path(folder).exists():
        return build_requirement()
    address = find_remote_commit(folder)
    return f"ragauge @ {address}" if address else ""
