"""The wheel built from the sdist in a clean environment with core dependencies only: help, demo, size, package count.

Fails when a command fails, when sdist or wheel lack the embedder's files, when the demo writes no report, or when the
core install exceeds its limits.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

from embedder_files import FILES, FOLDER

ROOT = Path(__file__).resolve().parent.parent
MOST_PACKAGES = 57
MOST_MEGABYTES = 690


def run(*command: str | Path, cwd: Path, env: dict[str, str]) -> str:
    """Runs a command and returns what it printed; stops the script when it fails."""
    words = [str(part) for part in command]
    done = subprocess.run(words, cwd=cwd, env=env, text=True, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def without_index(work: Path) -> None:
    """Stops the script unless sdist and wheel carry the embedder's files themselves."""
    (sdist,), (wheel,) = work.glob("ragauge-*.tar.gz"), work.glob("ragauge-*.whl")
    with tarfile.open(sdist) as one, zipfile.ZipFile(wheel) as other:
        carried = {sdist: one.getnames(), wheel: other.namelist()}
    folders = {sdist: f"{sdist.name.removesuffix('.tar.gz')}/{FOLDER}", wheel: FOLDER.removeprefix("src/")}
    for package, names in carried.items():
        if lacking := [name for name in FILES if f"{folders[package]}/{name}" not in names]:
            sys.exit(f"{package.name} lacks {', '.join(lacking)} in {folders[package]}")


def main() -> None:
    """Builds, installs, runs and measures."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        own = ("PYTHON", "RAGAUGE", "VIRTUAL_ENV")
        env = {key: value for key, value in os.environ.items() if not key.startswith(own)}
        env |= {"PIP_CONSTRAINT": str(ROOT / "constraints.txt"), "HOME": folder}
        run(sys.executable, "-m", "build", "-q", "-o", work, ROOT, cwd=work, env=env)
        without_index(work)
        (wheel,) = work.glob("ragauge-*.whl")
        venv.create(work / "env", with_pip=True)
        python, ragauge = work / "env/bin/python", work / "env/bin/ragauge"
        run(python, "-m", "pip", "install", "-q", wheel, cwd=work, env=env)
        listed = run(python, "-m", "pip", "list", "--format=freeze", cwd=work, env=env).split()
        packages = [line for line in listed if line.split("==")[0] not in ("pip", "setuptools")]
        site = next((work / "env/lib").glob("python*/site-packages"))
        spare = ("pip", "setuptools", "pkg_resources")
        files = [f for f in site.rglob("*") if f.is_file() and f.relative_to(site).parts[0] not in spare]
        megabytes = sum(f.stat().st_size for f in files) / 2**20
        print(f"core install: {len(packages)} packages (limit {MOST_PACKAGES})", end=", ")
        print(f"{megabytes:.0f} MB (limit {MOST_MEGABYTES})")
        if len(packages) > MOST_PACKAGES or megabytes > MOST_MEGABYTES:
            sys.exit("the core install exceeds its limits")
        help_text = run(ragauge, "--help", cwd=work, env=env)
        if "evaluate" not in help_text:
            sys.exit(f"--help does not name evaluate:\n{help_text}")
        if "ragauge.yaml" not in run(ragauge, "docs", "gates", cwd=work, env=env):
            sys.exit("the wheel does not contain the documentation that messages point to")
        blocked = env | {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
        shown = json.loads(run(ragauge, "demo", "-q", "--json", "-o", "report.html", cwd=work, env=blocked))
        reports = [work / found["report"] for found in shown.values()]
        if len(reports) != 3 or not all(report.is_file() for report in reports):
            sys.exit(f"the demo wrote no report for each of three configurations: {reports}")
        recall = {name: found["metrics"]["recall@5"]["mean"] for name, found in shown.items()}
        if not recall["broken-retrieval"] < recall["good"] == recall["corrupted-generation"]:
            sys.exit(f"the demo's broken retrieval does not show in its recall: {recall}")
        shutil.rmtree(work / "env")
    print("smoke: the wheel works in a clean environment")


if __name__ == "__main__":
    main()
