"""Reports and exports by the ending of their file's name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ragauge.core.errors import UsageError
from ragauge.core.jsonl_files import open_text_writer
from ragauge.rendering import plain_csv
from ragauge.rendering.writers import scores_jsonl

if TYPE_CHECKING:
    import polars as pl

    from ragauge.scores.results.scorecard import ExampleView


class ReportSource(Protocol):
    """What can be written in every form; `evaluation.scorecard.result.Scorecard` is one."""

    def to_html(self) -> str:
        """One self-contained page."""

    def to_markdown(self) -> str:
        """Short enough for a pull request."""

    def to_json(self) -> str:
        """The machine-readable form."""

    def examples(self) -> Iterator[ExampleView]:
        """Every evaluated example with its evidence."""

    def to_polars(self) -> pl.DataFrame:
        """Every score, a row each."""


def make_folder(path: Path) -> None:
    """Makes the folder that a file will lie in.

    Raises:
        UsageError: it cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"-o {path}: cannot create its folder: {error.strerror or error}.") from None


def write_text(path: Path, text: str) -> None:
    """Writes a text report, in a folder that is made where it is not there."""
    make_folder(path)
    with open_text_writer(path) as file:
        file.write(text)


def _write_csv(card: ReportSource, path: Path) -> None:
    make_folder(path)
    plain_csv.write_csv(path, card.to_polars())


def _write_parquet(card: ReportSource, path: Path) -> None:
    make_folder(path)
    plain_csv.write_parquet(path, card.to_polars())


def _write_scores_jsonl(card: ReportSource, path: Path) -> None:
    from ragauge.verbs.example_views import build_score_rows

    make_folder(path)
    scores_jsonl.write_scores(path, build_score_rows(card.examples()))


FORMS: Mapping[str, Callable[[ReportSource, Path], None]] = {
    ".html": lambda card, path: write_text(path, card.to_html()),
    ".md": lambda card, path: write_text(path, card.to_markdown()),
    ".json": lambda card, path: write_text(path, card.to_json()),
    ".jsonl": _write_scores_jsonl,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}


def validate_report_path(path: Path, forms: Collection[str] = FORMS) -> None:
    """Refuses a path that no report can be written to, before any work is done.

    Args:
        path: of the report.
        forms: endings that it may have.
    """
    above = next((folder for folder in path.absolute().parents if folder.exists()), path)
    if path.is_dir() or not above.is_dir():
        problem = f"{path} is a folder" if path.is_dir() else f"{above} is not a folder"
        raise UsageError(f"-o {path}: {problem}. Give the path of a file.")
    if path.suffix.lower() not in forms:
        got = path.suffix or "no extension"
        raise UsageError(f"-o {path}: the file extension sets the format; expected {', '.join(forms)}, got {got}.")


def save_report(card: ReportSource, path: Path) -> Path:
    """Writes the report and returns its path."""
    validate_report_path(path)
    FORMS[path.suffix.lower()](card, path)
    return path
