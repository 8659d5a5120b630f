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
from ragauge.testsets.set_file import ENDINGS, SetFile, SetLine, read_set_file, set_lines

NAMED = 3  # examples that a message names


def drafts_there(path: Path, method: str, seed: int) -> SetFile | None:
    """The drafts that an earlier making left in a file; None = no file, or an empty one.

    Args:
        path: the file to write.
        method: known_item or model.
        seed: of the drawing.

    Raises:
        UsageError: it holds something else: examples of another making, examples that somebody looked at, no examples.
    """
    found = lines_there("generate", path)
    if found is not None:
        told = f"holds what this command did not write ({method}, seed {seed}, drafts)"
        others = [one.example.query_id for one in found.lines if not _own(one, method, seed)]
        _refuse(f"generate: -o {path}", told, others, _hint(path, method))
    return found


def rejections_there(path: Path) -> None:
    """Makes sure that a file holds, if anything, questions that a making rejected; some may be no questions at all.

    Raises:
        UsageError: it holds something else.
    """
    if path.is_file():
        texts = path.read_text(encoding="utf-8", errors="replace").splitlines()
        others = [f"line {n}" for n, text in enumerate(texts, 1) if text.strip() and not _rejected(text)]
        told = "holds more than rejected questions"
        _refuse(f"generate: --rejected {path}", told, others, "Name another file.")


def lines_there(verb: str, path: Path) -> SetFile | None:
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
        raise _no_set(verb, path, error) from None


def all_kept(verb: str, path: Path, before: SetFile | None, made: Iterable[SetLine], method: str = "") -> None:
    """Makes sure that every line of a file is among those that are written over it.

    Args:
        verb: who writes: generate, vary, check.
        path: the file.
        before: what it holds.
        made: the lines that are written.
        method: of generate: known_item or model.

    Raises:
        UsageError: a line would be lost.
    """
    if before is not None:
        texts = {one.written for one in made}
        lost = [one.example.query_id for one in before.lines if one.text not in texts]
        _refuse(f"{verb}: -o {path}", "holds examples that were not made now", lost, _hint(path, method))


def prepared_there(path: Path, examples: Iterable[Example]) -> SetFile | None:
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
        found = set_lines(path, warn=lambda _: None)
    except DataError as error:
        raise _no_set("prepare", path, error) from None
    wanted = {one.query_id: one for one in examples}

    def same(line: SetLine) -> bool:
        example = wanted.get(line.example.query_id)
        return example is not None and line.curation == Curation() and _filled(example, line.example) == line.example

    others = [one.example.query_id for one in found.lines if not same(one)]
    _refuse(f"prepare: -o {path}", "holds what this command did not write", others, "Name another -o.")
    return found


def claims_kept(path: Path, before: SetFile | None, made: Iterable[Example]) -> None:
    """Makes sure that no claims and aspects that a file holds are lost to others.

    Args:
        path: the file.
        before: what it holds.
        made: the examples that are written over it.

    Raises:
        UsageError: an example there has other claims or aspects.
    """
    wanted = {one.query_id: one for one in made}
    lines = () if before is None else before.lines
    there = {one.example.query_id: one.example for one in lines}
    others = [name for name, one in there.items() if _filled(one, wanted[name]) != wanted[name]]
    _refuse(f"prepare: -o {path}", "holds other claims or aspects", others, "Name another -o: replies are kept.")


def _filled(example: Example, other: Example) -> Example:
    """An example with another's claims and aspects where it has none."""
    claims, aspects = example.reference_claims, example.aspects
    return replace(
        example,
        reference_claims=other.reference_claims if claims is None else claims,
        aspects=other.aspects if aspects is None else aspects,
    )


def _no_set(verb: str, path: Path, error: DataError) -> UsageError:
    told = f"testset {verb}: -o {path}: it is there and holds no set ({error})."
    return UsageError(f"{told} It stays as it is. Name another file.")


def _own(line: SetLine, method: str, seed: int) -> bool:
    """Whether this command made a line, and nobody marked it since."""
    meta = line.curation
    made = _made(line, method) and meta.origin is not None and meta.origin.seed == seed
    return made and meta.state == "draft" and not meta.note


def _made(line: SetLine, method: str) -> bool:
    meta = line.curation
    return meta.origin is not None and meta.origin.method == method and not meta.by


def _hint(path: Path, method: str) -> str:
    more = f" --existing {path} keeps its questions from being written again." if method == METHOD else ""
    return f"Name another -o.{more}"


def _rejected(text: str) -> bool:
    """Whether a line is a question that a model's making rejected."""
    try:
        meta = json.loads(text)["meta"]
        return bool(meta["state"] == "rejected" and meta["origin"]["method"] == METHOD and not meta.get("by"))
    except (ValueError, LookupError, TypeError, AttributeError):
        return False


def _refuse(option: str, told: str, names: Sequence[str], hint: str) -> None:
    """Raises where there is a name."""
    if names:
        shown = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED:,} more" if len(names) > NAMED else "")
        raise UsageError(f"testset {option}: it is there and {told}: {shown}. It stays as it is. {hint}")
