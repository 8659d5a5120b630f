"""What has to be installed for a project's system to be imported: from its own files, else from what it imports."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from shlex import quote
from typing import Any

FILES = (
    "requirements.txt", "requirements/base.txt", "requirements/main.txt", "requirements/prod.txt",
    "requirements/requirements.txt",
)  # fmt: skip
NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
LISTED = "ragauge-needs.txt"     # in the runner's temporary folder
FROM_PYPROJECT = (
    "python -c \"import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], "
    f"sep='\\n')\" > \"$RUNNER_TEMP/{LISTED}\""
)


@dataclass(frozen=True, slots=True)
class Needs:
    """What a workflow installs.

    Attributes:
        before: a shell line that comes before; "" for none.
        install: what pip is given beside ragauge, as in a shell.
        source: the file that says so; "" = the imports do.
        unknown: module that is imported -> the file that imports it, where nothing here says what brings it.
    """

    before: str = ""
    install: str = ""
    source: str = ""
    unknown: tuple[tuple[str, str], ...] = ()

    @property
    def said(self) -> str:
        """What is not known, in a sentence; "" where all is."""
        if not self.unknown:
            return ""
        names = ", ".join(f"{module} (in {path})" for module, path in self.unknown)
        return f"what brings {names} is not known: it is not installed here"


def needs_of(root: Path, imports: Mapping[str, str]) -> Needs:
    """What a project needs.

    Args:
        root: of the project.
        imports: dotted module from outside of the project and the standard library -> a file that imports it.
    """
    for name in FILES:
        if (root / name).is_file():
            lines = (root / name).read_text(encoding="utf-8", errors="replace").splitlines()
            more, _ = _beside(imports, lines)
            return Needs("", " ".join([f"-r {name}", *more]), name)
    project = _pyproject(root / "pyproject.toml")
    listed = project.get("project", {}).get("dependencies")
    if "build-system" in project or "poetry" in project.get("tool", {}) or (root / "setup.py").is_file():
        more = _beside(imports, listed)[0] if isinstance(listed, list) else []
        return Needs("", " ".join([".", *more]), "pyproject.toml" if project else "setup.py")
    if isinstance(listed, list):
        more, _ = _beside(imports, listed)
        return Needs(FROM_PYPROJECT, " ".join([f'-r "$RUNNER_TEMP/{LISTED}"', *more]), "pyproject.toml")
    more, unknown = _beside(imports, ())
    return Needs("", " ".join(more), "", unknown)


def _pyproject(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _beside(imports: Mapping[str, str], listed: Iterable[Any]) -> tuple[list[str], tuple[tuple[str, str], ...]]:
    """Requirements for imports that a list does not bring, and imports of which nothing here says what brings them."""
    brought = _closure({_normal(name[1]) for line in listed if (name := NAME.match(str(line)))})
    wanted: dict[str, str] = {}
    unknown = []
    for module, path in imports.items():
        distributions = _distributions(module)
        if not distributions and not {_normal(module.partition(".")[0]), _normal(module)} & brought:
            unknown.append((module, path))
        if distributions and not {_normal(distribution) for distribution in distributions} & brought:
            wanted[distributions[0]] = metadata.version(distributions[0])
    brought_by_others = {name for other in wanted for name in _closure({_normal(other)}) - {_normal(other)}}
    kept = sorted(name for name in wanted if _normal(name) not in brought_by_others)
    return [quote(f"{name}=={wanted[name].partition('+')[0]}") for name in kept], tuple(unknown)


@cache
def _installed() -> Mapping[str, list[str]]:
    """Top-level package -> the distributions that bring something of it."""
    return metadata.packages_distributions()


def _distributions(module: str) -> list[str]:
    """The installed distributions that bring a module; where several share its package, those with this very module."""
    first = module.partition(".")[0]
    distributions = [
        distribution for distribution in dict.fromkeys(_installed().get(first, ())) if distribution != "ragauge"
    ]
    if len(distributions) <= 1:
        return distributions
    folder = module.replace(".", "/")
    files = {f"{folder}.py", f"{folder}/__init__.py"}
    exact = [name for name in distributions if any(str(path) in files for path in metadata.files(name) or ())]
    return exact or distributions


def _closure(names: Collection[str]) -> frozenset[str]:
    """Distributions, and those that they need in turn, as far as they are installed."""
    seen: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            requires = metadata.requires(name) or ()
        except metadata.PackageNotFoundError:
            continue
        left += [_normal(match[1]) for line in requires if "extra ==" not in line and (match := NAME.match(line))]
    return frozenset(seen)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
