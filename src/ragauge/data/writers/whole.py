"""Files that are there whole or not at all."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from ragauge.errors import DataError


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A name beside the file to write under; it takes the file's place when the block ends without an error."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    except OSError as error:
        if error.filename not in (None, str(part), str(path)):      # of a file that is read while this one is written
            raise
        problem = f"cannot be written: {error.strerror or error}."
        raise DataError(problem, source=str(path), hint="Is there such a folder, and may you write to it?") from None
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def written(path: Path) -> Iterator[TextIO]:
    """A UTF-8 text file, packed where its name ends in .gz."""
    with replaced(path) as part, (
        gzip.open(part, "wt", encoding="utf-8", newline="")
        if path.suffix == ".gz"
        else part.open("w", encoding="utf-8", newline="")
    ) as file:
        yield file
