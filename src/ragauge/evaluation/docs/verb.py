"""The pages of documentation that this version came with."""

from __future__ import annotations

from pathlib import Path

from ragauge.core.errors import UnknownName

PACKAGED_FOLDER, CHECKOUT_FOLDER = Path(__file__).parents[2] / "docs", Path(__file__).parents[4] / "docs"


def list_titles() -> dict[str, str]:
    """Name of a page -> its title, in alphabetical order."""
    return {path.stem: _read_title(path) for path in sorted(_find_folder().glob("*.md"))}


def read_page(name: str) -> str:
    """A page as Markdown.

    Args:
        name: of the page; its path in a message, such as ragauge docs gates, will do.

    Raises:
        UnknownName: if there is none of this name.
    """
    stem = Path(name).name.removesuffix(".md")
    if stem not in list_titles():
        raise UnknownName("page", name, list(list_titles()), "ragauge docs lists them.")
    return (_find_folder() / f"{stem}.md").read_text(encoding="utf-8")


def _find_folder() -> Path:
    return PACKAGED_FOLDER if PACKAGED_FOLDER.is_dir() else CHECKOUT_FOLDER


def _read_title(path: Path) -> str:
    with path.open(encoding="utf-8") as lines:
        return next((line.removeprefix("# ").strip() for line in lines if line.startswith("# ")), path.stem)
