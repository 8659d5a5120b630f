"""What may be written over: untouched drafts of the same making, and lines that are written again; nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ragauge.core.curation import Curation
from ragauge.core.errors import DataError, UsageError
from ragauge.core.example import Example
from ragauge.testsets.generate.draft import METHOD
from ragauge.testsets.set_file import ENDINGS, SetFile, SetLine, read_set_file, read_set_lines

MAX_NAMED_EXAMPLES = 3  # examples that a message names


def read_existing_drafts(path: Path, method: str, seed: int) -> SetFile | None:
    """The drafts that an earlier making left in a file; None = no file, or an empty one.

    Args:
        path: the file to write.
        method: known_item or model.
        seed: of the drawing.

    Raises:
        UsageError: it holds something else: examples of another making, examples that somebody looked at, no examples.
    """
    existing = read_existing_lines("generate", path)
    if existing is not None:
        problem = f"has examples that this command did not write ({method}, seed {seed}, drafts)"
        others = [line.example.query_id for line in existing.lines if not _is_own_draft(line, method, seed)]
        _refuse_names(f"generate: -o {path}", problem, others, _build_hint(path, method))
    return existing


def check_rejections_file(path: Path) -> None:
    """Makes sure that a file holds, if anything, questions that a making rejected; some may be no questions at all.

    Raises:
        UsageError: it holds something else.
    """
    if path.is_file():
        texts = path.read_text(encoding="utf-8", errors="replace").splitlines()
        others = [f"line {n}" for n, text in enumerate(texts, 1) if text.strip() and not _is_rejected_line(text)]
        problem = "contains other data than rejected questions"
        _refuse_names(f"generate: --rejected {path}", problem, others, "Choose another file.")


def read_existing_lines(verb: str, path: Path) -> SetFile | None:
    """The lines of the file that a verb is to write; None = no file, or an empty one.

    Raises:
        UsageError: a name that does not end in .jsonl, or a file that holds no set.
    """
    if path.suffix not in ENDINGS:
        raise UsageError(f"testset {verb}: -o {path}: expected a file that ends in .jsonl.")
    if not path.is_file() or not path.read_bytes().strip():
        return None
    try:
        return read_set_file(path, warn=lambda _: None)
    except DataError as error:
        raise _build_not_a_set_error(verb, path, error) from None


def check_lines_kept(
    verb: str, path: Path, existing: SetFile | None, made: Iterable[SetLine], method: str = ""
) -> None:
    """Makes sure that every line of a file is among those that are written over it.

    Args:
        verb: who writes: generate, vary, check.
        path: the file.
        existing: what it holds.
        made: the lines that are written.
        method: of generate: known_item or model.

    Raises:
        UsageError: a line would be lost.
    """
    if existing is not None:
        texts = {line.written for line in made}
        missing = [line.example.query_id for line in existing.lines if line.text not in texts]
        _refuse_names(
            f"{verb}: -o {path}", "has examples that this run did not create", missing, _build_hint(path, method)
        )


def read_prepared_lines(path: Path, examples: Iterable[Example]) -> SetFile | None:
    """The lines of the file that `prepare` is to write; None = no file, or an empty one.

    Args:
        path: the file.
        examples: that are to be prepared.

    Raises:
        UsageError: it holds something else: no set, examples that these are not, examples that somebody marked.
    """
    if not path.is_file() or not path.read_bytes().strip():
        return None
    try:
        existing = read_set_lines(path, warn=lambda _: None)
    except DataError as error:
        raise _build_not_a_set_error("prepare", path, error) from None
    requested = {item.query_id: item for item in examples}

    def is_prepared(line: SetLine) -> bool:
        example = requested.get(line.example.query_id)
        return (
            example is not None and line.curation == Curation() and _fill_claims(example, line.example) == line.example
        )

    others = [item.example.query_id for item in existing.lines if not is_prepared(item)]
    _refuse_names(f"prepare: -o {path}", "has examples that this command did not write", others, "Choose another -o.")
    return existing


def check_claims_kept(path: Path, existing: SetFile | None, made: Iterable[Example]) -> None:
    """Makes sure that no claims and aspects that a file holds are lost to others.

    Args:
        path: the file.
        existing: what it holds.
        made: the examples that are written over it.

    Raises:
        UsageError: an example there has other claims or aspects.
    """
    examples_by_id = {item.query_id: item for item in made}
    lines = () if existing is None else existing.lines
    existing_by_id = {item.example.query_id: item.example for item in lines}
    others = [
        name
        for name, item in existing_by_id.items()
        if _fill_claims(item, examples_by_id[name]) != examples_by_id[name]
    ]
    _refuse_names(
        f"prepare: -o {path}", "has other claims or aspects", others, "Choose another -o; replies are cached."
    )


def _fill_claims(example: Example, other: Example) -> Example:
    """An example with another's claims and aspects where it has none."""
    claims, aspects = example.reference_claims, example.aspects
    return replace(
        example,
        reference_claims=other.reference_claims if claims is None else claims,
        aspects=other.aspects if aspects is None else aspects,
    )


def _build_not_a_set_error(verb: str, path: Path, error: DataError) -> UsageError:
    message = f"testset {verb}: -o {path} exists and is not an eval set ({error})."
    return UsageError(f"{message} It was not changed. Choose another file.")


def _is_own_draft(line: SetLine, method: str, seed: int) -> bool:
    """Whether this command made a line, and nobody marked it since."""
    meta = line.curation
    made = _is_made_by(line, method) and meta.origin is not None and meta.origin.seed == seed
    return made and meta.state == "draft" and not meta.note


def _is_made_by(line: SetLine, method: str) -> bool:
    meta = line.curation
    return meta.origin is not None and meta.origin.method == method and not meta.by


def _build_hint(path: Path, method: str) -> str:
    more = f" --existing {path} prevents its questions from being repeated." if method == METHOD else ""
    return f"Choose another -o.{more}"


def _is_rejected_line(text: str) -> bool:
    """Whether a line is a question that a model's making rejected."""
    try:
        meta = json.loads(text)["meta"]
        return bool(meta["state"] == "rejected" and meta["origin"]["method"] == METHOD and not meta.get("by"))
    except (ValueError, LookupError, TypeError, AttributeError):
        return False


def _refuse_names(option: str, problem: str, names: Sequence[str], hint: str) -> None:
    """Raises where there is a name."""
    if names:
        listing = ", ".join(names[:MAX_NAMED_EXAMPLES]) + (
            f" and {len(names) - MAX_NAMED_EXAMPLES:,} more" if len(names) > MAX_NAMED_EXAMPLES else ""
        )
        raise UsageError(f"testset {option} exists and {problem}: {listing}. It was not changed. {hint}")
