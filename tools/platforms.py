"""Whether ragauge installs: core and extras resolved from wheels alone, for every Python and platform it is for.

Nothing is installed: pip says what it would take. Prints a table, and exits with 1 where the core does not resolve.
Releases are those of constraints.txt, and where these do not all have wheels, any, as a user's pip takes them; with
--newest any everywhere.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
OLDEST_GLIBC = 28  # wheels for 2.17 to 2.28: Debian 10, Ubuntu 20.04, RHEL 8 and all later ones

# pip takes wheels for the platform that it is told, but reads markers (sys_platform == 'win32') as of the machine that
# it runs on; so they are told too. The report that it writes says which ones it used. And it looks at every file that
# the index has of a package: those of releases that constraints.txt does not name are left out, or it takes five times
# as long. Were that to leave out too many, pip would find nothing and this would fail.
PIP = """
import json, re, sys
from pip._internal.models.link import Link
from pip._vendor.packaging import markers
told, releases = json.loads(sys.argv[1])
markers.default_environment = lambda: dict(told)
every = Link.from_json.__func__
def of_release(cls, file, page):
    name, version = (*file["filename"].split("-"), "")[:2]
    held = releases.get(re.sub(r"[-_.]+", "-", name).lower(), version)
    return every(cls, file, page) if held == version else None
Link.from_json = classmethod(of_release)
from pip._internal.cli.main import main
sys.exit(main(sys.argv[2:]))
"""


@dataclass(frozen=True, slots=True)
class Platform:
    """Where it is to install: a name for people, tags of wheels that run there, and what markers see there."""

    name: str
    tags: tuple[str, ...]
    system: str  # sys_platform
    kind: str  # platform_system
    machine: str  # platform_machine

    def markers(self, version: str) -> dict[str, str]:
        """Every variable of a marker, of CPython of a version."""
        return {
            "implementation_name": "cpython",
            "implementation_version": f"{version}.0",
            "os_name": "nt" if self.system == "win32" else "posix",
            "platform_machine": self.machine,
            "platform_python_implementation": "CPython",
            "platform_release": "",
            "platform_system": self.kind,
            "platform_version": "",
            "python_full_version": f"{version}.0",
            "python_version": version,
            "sys_platform": self.system,
        }


def linux(name: str, machine: str) -> Platform:
    """Linux with glibc."""
    tags = [f"manylinux_2_{minor}_{machine}" for minor in range(OLDEST_GLIBC, 16, -1)]
    return Platform(name, (*tags, f"manylinux2014_{machine}"), "linux", "Linux", machine)


PLATFORMS = (
    linux("Linux x86", "x86_64"),
    linux("Linux ARM", "aarch64"),
    Platform("Mac ARM", ("macosx_14_0_arm64",), "darwin", "Darwin", "arm64"),
    Platform("Mac Intel", ("macosx_13_0_x86_64",), "darwin", "Darwin", "x86_64"),
    Platform("Windows", ("win_amd64",), "win32", "Windows", "AMD64"),
)


@dataclass(frozen=True, slots=True)
class Found:
    """What pip says of one Python on one platform.

    `packages` counts core and extras together, ragauge itself not; `failed` maps "core" or an extra to pip's words;
    `other` says that other releases than those of constraints.txt are needed.
    """

    packages: int
    failed: dict[str, str]
    other: bool = False


def requirements() -> dict[str, list[str]]:
    """What the core and each extra ask for, as pyproject.toml says it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {"core": project["dependencies"], **project["optional-dependencies"]}


def releases() -> dict[str, str]:
    """The release of each package, by its normalized name, that constraints.txt holds it to."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in (line.split("==") for line in lines)}


def resolve(platform: Platform, version: str, wanted: Sequence[str], newest: bool) -> int | str:
    """How many packages pip would install, or what it says where it cannot."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        markers = platform.markers(version)
        options = ["--quiet", "--no-input", "--disable-pip-version-check", "--dry-run", "--ignore-installed"]
        where = [f"--target={folder}/none", f"--python-version={version}", *[f"--platform={t}" for t in platform.tags]]
        held = [] if newest else [f"--constraint={ROOT / 'constraints.txt'}"]
        command = ["install", *options, "--only-binary=:all:", *where, *held, f"--report={report}", *wanted]
        env = {key: value for key, value in os.environ.items() if key != "PIP_CONSTRAINT"}
        call = [sys.executable, "-c", PIP, json.dumps([markers, {} if newest else releases()]), *command]
        done = subprocess.run(call, capture_output=True, text=True, check=False, env=env)
        if done.returncode:
            return _words(done.stderr) or f"pip: exit {done.returncode}"
        found = json.loads(report.read_text())
    if found["environment"] != markers:
        sys.exit(f"platforms: pip read the markers of its own machine, {found['environment']}; PIP must tell it more")
    return len(found["install"])


def _words(stderr: str) -> str:
    """The error of pip that names a package; it may end with a link to a manual."""
    errors = [line.removeprefix("ERROR: ") for line in stderr.splitlines() if line.startswith("ERROR: ")]
    telling = [line for line in errors if not line.startswith("ResolutionImpossible")]
    return (telling or errors or stderr.splitlines() or [""])[-1]


def look(platform: Platform, version: str, newest: bool) -> Found:
    """All at once, and each alone where that fails; says so where it is done, for those who wait."""
    found = _look(platform, version, newest)
    print(f"{platform.name}, Python {version}: {_cell(found)}", file=sys.stderr, flush=True)
    return found


def _look(platform: Platform, version: str, newest: bool) -> Found:
    parts = requirements()
    everything = [line for lines in parts.values() for line in lines]
    for free in [True] if newest else [False, True]:
        together = resolve(platform, version, everything, free)
        if isinstance(together, int):
            return Found(together, {}, free and not newest)
    core = resolve(platform, version, parts["core"], True)
    if isinstance(core, str):
        return Found(0, {"core": core})
    extras = {name: [*parts["core"], *lines] for name, lines in parts.items() if name != "core"}
    alone = {name: resolve(platform, version, lines, True) for name, lines in extras.items()}
    return Found(core, {name: said for name, said in alone.items() if isinstance(said, str)} or {"together": together})


def shown(found: dict[tuple[str, str], Found]) -> Iterator[str]:
    """A table of platforms and Pythons, what fails, and the sum."""
    yield f"{'':12}" + "".join(f"{'Python ' + version:>14}" for version in VERSIONS)
    for platform in PLATFORMS:
        cells = [found[platform.name, version] for version in VERSIONS]
        yield f"{platform.name:12}" + "".join(f"{_cell(cell):>14}" for cell in cells)
    for (name, version), cell in found.items():
        yield from (f"{name}, Python {version}, {part}: {said}" for part, said in cell.failed.items())
    if any(cell.other for cell in found.values()):
        yield "* of other releases than those of constraints.txt, which do not all have a wheel there"
    core = sum("core" not in cell.failed for cell in found.values())
    every = sum(not cell.failed for cell in found.values())
    yield f"core resolves on {core} of {len(found)}, core and every extra on {every}"


def _cell(cell: Found) -> str:
    if "core" in cell.failed:
        return "no"
    return f"{cell.packages} (core)" if cell.failed else f"{cell.packages}{'*' * cell.other}"


def main() -> None:
    """Asks pip for each, as many at once as there are cores."""
    parser = argparse.ArgumentParser(description="Whether ragauge installs on every platform, by what pip says.")
    parser.add_argument("--newest", action="store_true", help="the newest releases, not those of constraints.txt")
    newest = parser.parse_args().newest
    asked = [(platform, version) for platform in PLATFORMS for version in VERSIONS]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda one: look(*one, newest), asked))
    found = {(platform.name, version): cell for (platform, version), cell in zip(asked, answers, strict=True)}
    print("packages of core and all extras, from wheels alone" + ("" if newest else ", releases of constraints.txt"))
    print("\n".join(shown(found)))
    if any("core" in cell.failed for cell in found.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
