"""Reads vectors: .npy, .fvecs, Parquet and the HDF5 of ann-benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import DataError, MissingExtra, UnknownName
from ragauge.studies.ann.exact import checked, exact_neighbours

if TYPE_CHECKING:
    from ragauge.studies.ann.exact import Ids, Mask, VectorMetric, Vectors

FORMS = (".npy", ".fvecs", ".parquet", ".hdf5", ".h5")
VERIFIED = 50  # queries of an HDF5 whose neighbours are computed again
TOLERANCE = 1e-4  # relative, of distances that were written in float32


@dataclass(frozen=True, slots=True)
class VectorFile:
    """Vectors with what stands beside them.

    Attributes:
        vectors: shape (n, d).
        queries: shape (q, d), where the file has some.
    """

    vectors: Vectors
    queries: Vectors | None = None


def read_vectors(source: Any, metric: VectorMetric = "cosine", *, part: str = "train") -> VectorFile:
    """Vectors of a file, or an array as it is.

    Args:
        source: an array of shape (n, d), or a path.
        metric: by which the neighbours of an HDF5 are verified.
        part: of an HDF5: train or test.

    Raises:
        DataError: a file that cannot be read as it is, with the place; neighbours that are not the nearest.
        MissingExtra: h5py is not installed.
    """
    if not isinstance(source, str | Path):
        return VectorFile(checked(source))
    path = Path(source)
    if not path.is_file():
        raise DataError("there is no such file.", source=str(path), hint=f"Give a file {', '.join(FORMS)}.")
    match path.suffix.lower():
        case ".npy":
            return VectorFile(checked(_npy(path), str(path)))
        case ".fvecs":
            return VectorFile(checked(_fvecs(path), str(path)))
        case ".parquet":
            return _parquet(path)
        case ".hdf5" | ".h5":
            return _hdf5(path, metric, part)
    raise DataError(f"the ending {path.suffix!r} is not known.", source=str(path), hint=f"Give {', '.join(FORMS)}.")


def passing_where(source: Any, conditions: Mapping[str, str], part: str = "train") -> Mask:
    """Which vectors of a file have these values in its columns, all of them; shape (n,).

    A column is one of the Parquet file, a data set of the HDF5, or for vectors.npy and vectors.fvecs the array in
    vectors.COLUMN.npy. Numbers are compared as numbers, true and false as words, anything else as text.

    Raises:
        DataError: an array, which has no columns, or a column of another length than the vectors.
        UnknownName: no such column, or no vector has this value.
    """
    import numpy as np

    if not isinstance(source, str | Path):
        raise DataError("an array has no columns to filter by.", hint="Write it with its columns to a Parquet file.")
    found = []
    for name, value in conditions.items():
        column = _column(Path(source), name, part)
        found.append(_has(column, value))
        if not found[-1].any():
            known = dict.fromkeys(_told(one) for one in column if one is not None)
            raise UnknownName(f"value of {name}", value, known, f"--filter names one that is in {source}.")
    if len({len(one) for one in found}) > 1:
        raise DataError(f"its columns have {', '.join(str(len(one)) for one in found)} rows.", source=str(source))
    return np.asarray(np.logical_and.reduce(found))


def _column(path: Path, name: str, part: str) -> Any:
    """The values of a column, shape (n,)."""
    import numpy as np
    import polars as pl

    match path.suffix.lower():
        case ".parquet":
            known = list(pl.read_parquet_schema(path))
            if name not in known:
                raise UnknownName(f"column of {path}", name, known)
            return pl.read_parquet(path, columns=[name])[name].to_numpy()
        case ".hdf5" | ".h5":
            import h5py

            with h5py.File(path, "r") as file:
                n = len(file[part])
                known = [one for one in file if file[one].shape == (n,)]
                if name not in known:
                    raise UnknownName(f"column of {path}", name, known, "A data set as long as the vectors is one.")
                held = file[name]
                return held.asstr()[:] if held.dtype.kind in "OS" else held[:]
    beside = path.with_suffix(f".{name}.npy")
    if not beside.is_file():
        known = [one.name[len(path.stem) + 1 : -4] for one in path.parent.glob(f"{path.stem}.?*.npy")]
        hint = f"A column of {path.name} is an array in {beside.name}."
        raise UnknownName(f"column of {path}", name, [one for one in known if one], hint)
    return np.asarray(_npy(beside))


def _has(column: Any, value: str) -> Mask:
    import numpy as np

    if column.dtype.kind in "iuf":
        try:
            return np.asarray(column == float(value))
        except ValueError:
            return np.zeros(len(column), dtype=bool)
    return np.fromiter((one is not None and _told(one) == value for one in column), dtype=bool, count=len(column))


def _told(value: Any) -> str:
    import numpy as np

    return str(value).lower() if isinstance(value, bool | np.bool_) else str(value)


def _npy(path: Path) -> Any:
    import numpy as np

    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise DataError(f"not a readable .npy: {error}.", source=str(path), hint="Write it with numpy.save.") from None


def _fvecs(path: Path) -> Any:
    """Rows of an int32, the dimensions, and as many float32."""
    import numpy as np

    raw = np.fromfile(path, dtype="<i4")
    if not len(raw) or raw[0] < 1:
        raise DataError("it does not begin with a number of dimensions.", source=str(path))
    width = int(raw[0]) + 1
    whole = len(raw) // width
    rows = raw[: whole * width].reshape(whole, width)
    other = np.flatnonzero(rows[:, 0] != width - 1)
    if len(other):
        told = f"{rows[other[0], 0]} dimensions, where the rows before have {width - 1}."
        raise DataError(told, source=str(path), line=int(other[0]), unit="row")
    if len(raw) % width or path.stat().st_size % 4:
        raise DataError("the last row is cut off.", source=str(path), line=whole, unit="row")
    return rows[:, 1:].view("<f4")


def _parquet(path: Path) -> VectorFile:
    """The first column of lists of numbers, or `embedding` or `vector`."""
    import numpy as np
    import polars as pl

    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"not a readable Parquet file: {str(error).splitlines()[0]}.", source=str(path)) from None
    lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List | pl.Array)]
    name = next((one for one in ("embedding", "vector") if one in lists), next(iter(lists), ""))
    if not name:
        raise DataError(f"no column of vectors (found: {', '.join(frame.columns)}).", source=str(path))
    column = frame[name]
    column = column.arr.to_list() if isinstance(column.dtype, pl.Array) else column
    lengths = column.list.len()
    if lengths.null_count() or lengths.n_unique() > 1:
        first = lengths[0]
        row = next(n for n, length in enumerate(lengths) if length is None or length != first)
        raise DataError(
            f"{lengths[row]} dimensions, where the first row has {first}.", source=str(path), line=row, unit="row"
        )
    values = np.asarray(column.explode().to_numpy(), dtype=np.float32).reshape(len(frame), -1)
    return VectorFile(checked(values, str(path)))


def _hdf5(path: Path, metric: VectorMetric, part: str) -> VectorFile:
    try:
        import h5py
    except ImportError:
        raise MissingExtra("HDF5 of ann-benchmarks", "h5py", "ann") from None
    with h5py.File(path, "r") as file:
        if part not in file:
            raise DataError(f"no data set {part!r} (found: {', '.join(file)}).", source=str(path))
        if part != "train":
            return VectorFile(checked(file[part][:], f"{path} {part}"))
        vectors = checked(file["train"][:], f"{path} train")
        queries = checked(file["test"][:], f"{path} test", vectors.shape[1]) if "test" in file else None
        if queries is not None and "neighbors" in file:
            _verify(path, vectors, queries[:VERIFIED], file["neighbors"][:VERIFIED], metric)
    return VectorFile(vectors, queries)


def _verify(path: Path, vectors: Vectors, queries: Vectors, neighbours: Ids, metric: VectorMetric) -> None:
    """DataError where the neighbours in the file are farther than the nearest by this metric."""
    from ragauge.studies.ann.exact import distances_to

    k = min(10, neighbours.shape[1], len(vectors))
    _, nearest = exact_neighbours(vectors, queries, k, metric)
    for row, (ids, true) in enumerate(zip(neighbours[:, :k].astype(int), nearest, strict=True)):
        if (
            ids.min() < 0
            or ids.max() >= len(vectors)
            or (distances_to(vectors, queries[row], ids, metric).max() > true[-1] + TOLERANCE * abs(true[-1]))
        ):
            told = f"its neighbours are not the {k} nearest by {metric}."
            raise DataError(told, source=f"{path} neighbors", line=row, unit="row", hint="Give the file's --metric.")
