"""Reads vectors: .npy, .fvecs, Parquet and the HDF5 of ann-benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import DataError, MissingExtra, UnknownName
from ragauge.studies.ann.exact import check_vectors, exact_neighbours

if TYPE_CHECKING:
    from ragauge.studies.ann.exact import Ids, Mask, VectorMetric, Vectors

FILE_ENDINGS = (".npy", ".fvecs", ".parquet", ".hdf5", ".h5")
N_VERIFIED_QUERIES = 50  # queries of an HDF5 whose neighbours are computed again
TOLERANCE = 1e-4  # relative, of distances that were written in float32


@dataclass(frozen=True, slots=True)
class VectorFile:
    """Vectors with what stands beside them."""

    vectors: Vectors  #: shape (n, d).
    queries: Vectors | None = None  #: shape (q, d), where the file has some.


def read_vectors(source: Any, metric: VectorMetric = "cosine", *, dataset: str = "train") -> VectorFile:
    """Vectors of a file, or an array as it is.

    Args:
        source: an array of shape (n, d), or a path.
        metric: by which the neighbours of an HDF5 are verified.
        dataset: of an HDF5: train or test.

    Raises:
        DataError: a file that cannot be read as it is, with the place; neighbours that are not the nearest.
        MissingExtra: h5py is not installed.
    """
    if not isinstance(source, str | Path):
        return VectorFile(check_vectors(source))
    path = Path(source)
    if not path.is_file():
        raise DataError("no such file.", source=str(path), hint=f"Use {', '.join(FILE_ENDINGS)}.")
    match path.suffix.lower():
        case ".npy":
            return VectorFile(check_vectors(_read_npy(path), str(path)))
        case ".fvecs":
            return VectorFile(check_vectors(_read_fvecs(path), str(path)))
        case ".parquet":
            return _read_parquet(path)
        case ".hdf5" | ".h5":
            return _read_hdf5(path, metric, dataset)
    raise DataError(
        f"{path.suffix!r} files are not supported.", source=str(path), hint=f"Use {', '.join(FILE_ENDINGS)}."
    )


def find_passing(source: Any, conditions: Mapping[str, str], dataset: str = "train") -> Mask:
    """Which vectors of a file have these values in its columns, all of them; shape (n,).

    A column is one of the Parquet file, a data set of the HDF5, or for vectors.npy and vectors.fvecs the array in
    vectors.COLUMN.npy. Numbers are compared as numbers, true and false as words, anything else as text.

    Raises:
        DataError: an array, which has no columns, or a column of another length than the vectors.
        UnknownName: no such column, or no vector has this value.
    """
    import numpy as np

    if not isinstance(source, str | Path):
        raise DataError("an array has no columns to filter on.", hint="Write both to a Parquet file.")
    masks = []
    for name, value in conditions.items():
        column = _read_column(Path(source), name, dataset)
        masks.append(_match_value(column, value))
        if not masks[-1].any():
            known_values = dict.fromkeys(_format_value(item) for item in column if item is not None)
            raise UnknownName(f"value of {name}", value, known_values, f"Use a value that occurs in {source}.")
    if len({len(item) for item in masks}) > 1:
        raise DataError(f"its columns have {', '.join(str(len(item)) for item in masks)} rows.", source=str(source))
    return np.asarray(np.logical_and.reduce(masks))


def _read_column(path: Path, name: str, dataset: str) -> Any:
    """The values of a column, shape (n,)."""
    import numpy as np
    import polars as pl

    match path.suffix.lower():
        case ".parquet":
            names = list(pl.read_parquet_schema(path))
            if name not in names:
                raise UnknownName(f"column of {path}", name, names)
            return pl.read_parquet(path, columns=[name])[name].to_numpy()
        case ".hdf5" | ".h5":
            import h5py

            with h5py.File(path, "r") as file:
                n = len(file[dataset])
                names = [item for item in file if file[item].shape == (n,)]
                if name not in names:
                    raise UnknownName(f"column of {path}", name, names, "A column has one entry per vector.")
                stored = file[name]
                return stored.asstr()[:] if stored.dtype.kind in "OS" else stored[:]
    column_file = path.with_suffix(f".{name}.npy")
    if not column_file.is_file():
        names = [item.name[len(path.stem) + 1 : -4] for item in path.parent.glob(f"{path.stem}.?*.npy")]
        hint = f"Put the columns of {path.name} in {column_file.name}, one array per column."
        raise UnknownName(f"column of {path}", name, [item for item in names if item], hint)
    return np.asarray(_read_npy(column_file))


def _match_value(column: Any, value: str) -> Mask:
    import numpy as np

    if column.dtype.kind in "iuf":
        try:
            return np.asarray(column == float(value))
        except ValueError:
            return np.zeros(len(column), dtype=bool)
    return np.fromiter(
        (item is not None and _format_value(item) == value for item in column), dtype=bool, count=len(column)
    )


def _format_value(value: Any) -> str:
    import numpy as np

    return str(value).lower() if isinstance(value, bool | np.bool_) else str(value)


def _read_npy(path: Path) -> Any:
    import numpy as np

    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise DataError(f"not a readable .npy: {error}.", source=str(path), hint="Write it with numpy.save.") from None


def _read_fvecs(path: Path) -> Any:
    """Rows of an int32, the dimensions, and as many float32."""
    import numpy as np

    raw = np.fromfile(path, dtype="<i4")
    if not len(raw) or raw[0] < 1:
        raise DataError("it does not start with the number of dimensions.", source=str(path))
    width = int(raw[0]) + 1
    n_rows = len(raw) // width
    rows = raw[: n_rows * width].reshape(n_rows, width)
    other = np.flatnonzero(rows[:, 0] != width - 1)
    if len(other):
        message = f"it has {rows[other[0], 0]} dimensions, but the rows before it have {width - 1}."
        raise DataError(message, source=str(path), line=int(other[0]), unit="row")
    if len(raw) % width or path.stat().st_size % 4:
        raise DataError("the last row is truncated.", source=str(path), line=n_rows, unit="row")
    return rows[:, 1:].view("<f4")


def _read_parquet(path: Path) -> VectorFile:
    """The first column of lists of numbers, or `embedding` or `vector`."""
    import numpy as np
    import polars as pl

    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"not a readable Parquet file: {str(error).splitlines()[0]}.", source=str(path)) from None
    lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List | pl.Array)]
    name = next((column_name for column_name in ("embedding", "vector") if column_name in lists), next(iter(lists), ""))
    if not name:
        raise DataError(f"it has no vector column (found: {', '.join(frame.columns)}).", source=str(path))
    column = frame[name]
    column = column.arr.to_list() if isinstance(column.dtype, pl.Array) else column
    lengths = column.list.len()
    if lengths.null_count() or lengths.n_unique() > 1:
        first = lengths[0]
        row = next(n for n, length in enumerate(lengths) if length is None or length != first)
        raise DataError(
            f"it has {lengths[row]} dimensions, but the first row has {first}.", source=str(path), line=row, unit="row"
        )
    values = np.asarray(column.explode().to_numpy(), dtype=np.float32).reshape(len(frame), -1)
    return VectorFile(check_vectors(values, str(path)))


def _read_hdf5(path: Path, metric: VectorMetric, dataset: str) -> VectorFile:
    try:
        import h5py
    except ImportError:
        raise MissingExtra("HDF5 of ann-benchmarks", "h5py", "ann") from None
    with h5py.File(path, "r") as file:
        if dataset not in file:
            raise DataError(f"it has no data set {dataset!r} (found: {', '.join(file)}).", source=str(path))
        if dataset != "train":
            return VectorFile(check_vectors(file[dataset][:], f"{path} {dataset}"))
        vectors = check_vectors(file["train"][:], f"{path} train")
        queries = check_vectors(file["test"][:], f"{path} test", vectors.shape[1]) if "test" in file else None
        if queries is not None and "neighbors" in file:
            _verify_neighbors(
                path, vectors, queries[:N_VERIFIED_QUERIES], file["neighbors"][:N_VERIFIED_QUERIES], metric
            )
    return VectorFile(vectors, queries)


def _verify_neighbors(path: Path, vectors: Vectors, queries: Vectors, neighbours: Ids, metric: VectorMetric) -> None:
    """DataError where the neighbours in the file are farther than the nearest by this metric."""
    from ragauge.studies.ann.exact import compute_distances_to

    k = min(10, neighbours.shape[1], len(vectors))
    _, nearest = exact_neighbours(vectors, queries, k, metric)
    for row, (ids, true) in enumerate(zip(neighbours[:, :k].astype(int), nearest, strict=True)):
        if (
            ids.min() < 0
            or ids.max() >= len(vectors)
            or (compute_distances_to(vectors, queries[row], ids, metric).max() > true[-1] + TOLERANCE * abs(true[-1]))
        ):
            message = f"the stored neighbors are not the {k} nearest by {metric}."
            raise DataError(message, source=f"{path} neighbors", line=row, unit="row", hint="Set --metric.")
