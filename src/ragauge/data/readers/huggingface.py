"""Hugging Face data sets, by their shape: `column_names` and rows that are dictionaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragauge.data.readers.rows import Rows
from ragauge.data.readers.table import cell
from ragauge.errors import UsageError


def reads(source: object) -> bool:
    """Whether the object is a data set (streamed ones have no `__getitem__`), or several splits of one."""
    return hasattr(source, "column_names") and (hasattr(source, "__getitem__") or hasattr(source, "__iter__"))


def read(source: Any, split: str | None = None) -> Rows:
    """The rows, from 1; of several splits the one named, else test, else the only one."""
    if isinstance(source, Mapping):
        name = split or ("test" if "test" in source else next(iter(source)) if len(source) == 1 else "")
        if name not in source:
            known = ", ".join(source)
            raise UsageError(f"the data set has the splits {known}; got {split!r}. Choose one with split=NAME.")
        source = source[name]
    # a data set may be set to give NumPy values
    rows = ({key: cell(value) for key, value in row.items()} for row in source)
    return Rows("dataset", enumerate(rows, 1), unit="row", cells=True)
