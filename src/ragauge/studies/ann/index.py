"""What an index of vectors offers, the libraries there are, and how one is named on the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from inspect import signature
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

from ragauge.core.class_lookup import load_object
from ragauge.core.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from ragauge.studies.ann.exact import Ids, Mask, VectorMetric, Vectors

LIBRARIES: Mapping[str, tuple[str, str]] = {
    "hnswlib": ("ragauge.studies.ann.library_indexes", "HnswlibIndex"),
    "faiss-hnsw": ("ragauge.studies.ann.library_indexes", "FaissHnsw"),
    "faiss-ivf": ("ragauge.studies.ann.library_indexes", "FaissIvf"),
    "faiss-sq": ("ragauge.studies.ann.library_indexes", "FaissSq"),
    "faiss-pq": ("ragauge.studies.ann.library_indexes", "FaissPq"),
    "usearch": ("ragauge.studies.ann.library_indexes", "UsearchIndex"),
    "pgvector": ("ragauge.studies.ann.pgvector_index", "PgvectorIndex"),
    "pgvector-ivf": ("ragauge.studies.ann.pgvector_index", "PgvectorLists"),
    "null": ("ragauge.studies.ann.index", "NullIndex"),
}
GRAPH_GRID = {"M": (16, 32), "ef_construction": (100, 200), "ef_search": (16, 32, 64, 128, 256)}
PORTFOLIO = ((16, 128, 32), (32, 128, 32), (16, 128, 128), (64, 128, 128), (128, 256, 256))
GRAPH_LIMITS = {"M": (2, 1_024), "ef_construction": (1, 100_000), "ef_search": (1, 100_000)}
GRAPHS = ("hnswlib", "faiss-hnsw", "usearch", "pgvector")  # that take M, ef_construction and ef_search


class AnnIndex:
    """An index that is built once and searched at several settings."""

    defaults: ClassVar[Mapping[str, Any]] = {}  #: parameter -> its value where none is given.
    searched: ClassVar[tuple[str, ...]] = ()  #: those that may change without building anew.
    limits: ClassVar[Mapping[str, tuple[int, int]]] = {}  #: a whole number -> the least and the most it may be.
    choices: ClassVar[Mapping[str, Sequence[str]]] = {}  #: a word -> what it may be.
    filters: bool = False  #: whether a search takes a mask of what passes.
    in_process: ClassVar[bool] = True  #: whether the index lies in the memory of this process.

    def build(self, vectors: Vectors, metric: VectorMetric, **parameters: Any) -> None:
        """Indexes vectors of shape (n, d); ids are their rows."""
        raise NotImplementedError

    def find_misfit(self, parameters: Mapping[str, Any], shape: tuple[int, int]) -> str:
        """Why it cannot be built over vectors of shape (n, d); "" = it can."""
        del parameters, shape
        return ""

    def set_search_params(self, **parameters: Any) -> None:
        """Sets what may change without building anew."""

    def search(self, query: Any, k: int, passing: Mask | None = None) -> Any:
        """Ids of about the k nearest to a query of shape (d,), the nearest first.

        With a mask of shape (n,), of those that pass alone: only where `filters` is true.
        """
        raise NotImplementedError

    def measure_size(self) -> int | None:
        """Bytes of the index when it is written; None where it cannot be had."""
        return None

    def measure_imbalance(self) -> float | None:
        """How unevenly lists are filled, 1 = evenly; None where there are no lists."""
        return None

    def close(self) -> None:
        """Gives back what lies outside this process, such as a table; called once, after the last search."""


class NullIndex(AnnIndex):
    """Returns the first k rows without searching: its latency is what measuring costs."""

    def build(self, vectors: Vectors, metric: VectorMetric, **parameters: Any) -> None:  # noqa: D102 - as AnnIndex says
        import numpy as np

        del metric, parameters
        self._ids = np.arange(len(vectors))

    def search(self, query: Any, k: int, passing: Mask | None = None) -> Ids:  # noqa: D102 - as AnnIndex says
        del query, passing
        return self._ids[:k]


class NamedIndex(AnnIndex):
    """An object of the user with build(vectors, metric=…, **parameters) and search(query, k), or (query, k, filter)."""

    def __init__(self, made: Any) -> None:
        self._made = made() if isinstance(made, type) else made
        taken = signature(self._made.search).parameters.values()
        self.filters = len(taken) > 2 or any(parameter.kind is parameter.VAR_POSITIONAL for parameter in taken)

    def build(self, vectors: Vectors, metric: VectorMetric, **parameters: Any) -> None:  # noqa: D102 - as AnnIndex says
        self._made.build(vectors, metric=metric, **parameters)

    def search(self, query: Any, k: int, passing: Mask | None = None) -> Any:  # noqa: D102 - as AnnIndex says
        return self._made.search(query, k, passing) if self.filters else self._made.search(query, k)


def make_index(name: str) -> AnnIndex:
    """An index that is not built yet.

    Raises:
        UnknownName: no such library. MissingExtra: it is not installed.
        UsageError: module:name has no build and search.
    """
    if name in LIBRARIES:
        module, kind = LIBRARIES[name]
        index: AnnIndex = getattr(import_module(module), kind)()
        return index
    if ":" not in name:
        raise UnknownName("index library", name, LIBRARIES, "Or use module:name.")
    made = load_object(name)
    if not callable(getattr(made, "build", None)) or not callable(getattr(made, "search", None)):
        raise UsageError(
            f"{name}: an index needs build(vectors, metric, …) and search(query, k) or (query, k, filter)."
        )
    return NamedIndex(made)


def parse_grid(spec: str, *, portfolio: bool = False) -> list[dict[str, Any]]:
    """An index as it is named on the command line, lists of values multiplied: the parameters of each trial.

    A graph library of which no parameter is given starts with M, ef_construction and ef_search in 20 combinations.

    >>> parse_grid("faiss-hnsw:M=16:ef_search=16,32")[1]
    {'index': 'faiss-hnsw', 'M': 16, 'ef_construction': 200, 'ef_search': 32}

    Raises:
        UsageError: a parameter without value, or with one that the library cannot take.
        UnknownName: no such library or parameter.
    """
    spec, _, dsn = spec.partition(":dsn=")  # a URL has colons of its own: it stands last
    fields = spec.split(":")
    split_at = next((n for n, field_text in enumerate(fields) if "=" in field_text), len(fields))
    name, assignments = ":".join(fields[:split_at]), [field_text.partition("=") for field_text in fields[split_at:]]
    if not name or any(not sign or not values for _, sign, values in assignments):
        raise UsageError(f"{spec!r} is not an index. Use LIBRARY:param=value, such as hnswlib:M=16:ef_search=32,64.")
    if name == "pgvector" and any(key in ("lists", "probes") for key, _, _ in assignments):
        name = "pgvector-ivf"
    index = make_index(name)
    cases = {key.casefold(): key for key in index.defaults}  # pgvector writes m where others write M
    lists: dict[str, Sequence[Any]] = {
        cases.get(key.casefold(), key): [_parse_value(text) for text in values.split(",")]
        for key, _, values in assignments
    }
    if name in GRAPHS and not lists and not portfolio:
        lists = dict(GRAPH_GRID)
    lists |= {"dsn": [dsn]} if dsn else {}
    if not isinstance(index, NamedIndex):
        for key in lists:
            if key not in index.defaults:
                raise UnknownName(f"parameter of {name}", key, index.defaults)
    for key, values in lists.items():
        for value in values:
            _check_value(index, f"{name}: {key}", key, value)
    filled = {**{key: (value,) for key, value in index.defaults.items()}, **lists}
    if portfolio and name in GRAPHS:
        remaining = {key: values[0] for key, values in filled.items() if key not in GRAPH_GRID}
        return [{"index": name, "M": m, "ef_construction": c, "ef_search": s, **remaining} for m, c, s in PORTFOLIO]
    return [{"index": name, **dict(zip(filled, choice, strict=True))} for choice in product(*filled.values())]


def find_portfolio_index(parameters: Mapping[str, Any]) -> int | None:
    """The place of a graph's setting in the portfolio, 0 being the first; None where it is not of the portfolio."""
    setting = tuple(parameters.get(key) for key in GRAPH_GRID)
    return PORTFOLIO.index(setting) if parameters["index"] in GRAPHS and setting in PORTFOLIO else None


def get_series(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What settings of one portfolio share: the library, its other parameters, and the filter."""
    return {key: value for key, value in parameters.items() if key not in GRAPH_GRID}


def format_name(parameters: Mapping[str, Any]) -> str:
    """A trial's name: its index with the parameters in the order of the alphabet; of a dsn the host and database."""
    visible = {
        **parameters,
        "dsn": re.sub(r"^\w+://([^@/]*@)?", "", str(parameters.get("dsn") or "")).replace(":", ","),
    }
    ordered = sorted((key, value) for key, value in visible.items() if key != "index" and (key, value) != ("dsn", ""))
    return ":".join([str(parameters["index"]), *(f"{key}={value}" for key, value in ordered)])


def _check_value(index: AnnIndex, where: str, key: str, value: Any) -> None:
    """UsageError or UnknownName for a value that the library cannot take: some end the process instead of failing."""
    if key in index.choices and value not in index.choices[key]:
        raise UnknownName(f"value of {where}", str(value), index.choices[key])
    minimum, maximum = index.limits.get(key, (0, 0))
    if maximum and not (isinstance(value, int) and minimum <= value <= maximum):
        raise UsageError(f"{where} must be a whole number from {minimum} to {maximum:,}, got {value!r}.")


def _parse_value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
