"""A run on its way into the store: read once, checked, hashed and packed into a temporary file.

Nothing touches the database meanwhile, so a slow or failing source holds no lock and leaves nothing half-loaded, and
what identifies the run is known before the first row is written.
"""

from __future__ import annotations

import hashlib
import json
import struct
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any

from ragauge.core.codec import encode_json
from ragauge.core.errors import DataError
from ragauge.core.example import Example
from ragauge.core.identity import to_canonical_json, to_json_value
from ragauge.core.response import NO_RESPONSE_REASON, Response
from ragauge.store.text_codec import hash_text, pack_text, unpack_text

Record = tuple[Example, Response | None]
MAX_MEMORY_BYTES = 1_000_000  # bytes of a spool that stay out of the disk
MAX_REMEMBERED_HASHES = 8_000  # texts and examples known to be in the spool already; older ones are written again

# query_key, repeat, weight, absent, has groups, has example, lengths of query_id, groups, example, body; hashes, texts
HEADER = struct.Struct("<qqd???QQQQQQ")
TEXT_LENGTH = struct.Struct("<Q")
NO_TEXT = bytes(32)


@dataclass(frozen=True, slots=True)
class PackedResponse:
    """One response with its example, ready for the tables."""

    example_sha: bytes  #: hash of the example.
    query_key: int  #: hash of the question.
    groups: bytes | None  #: packed segments and cluster; None when there are none.
    example: bytes | None  #: packed example; None when it stands earlier in the spool.
    query_id: str  #: identity within the run.
    repeat: int  #: which answer.
    weight: float  #: how many real requests it stands for.
    absent: bool  #: the run holds no response.
    body: bytes  #: packed response without the passages' texts.
    shas: tuple[bytes, ...]  #: hash of each passage's text, of passages then candidates; b"" = no text.
    #: (hash, UTF-8) of those texts that do not stand earlier in the spool; packed where the store lacks them.
    texts: tuple[tuple[bytes, bytes], ...]


class Packer:
    """Packs responses one after another, each text and example once as far as is remembered."""

    def __init__(self) -> None:
        self._texts: dict[bytes, None] = {}
        self._examples: dict[bytes, None] = {}

    def pack_response(self, example: Example, response: Response | None) -> tuple[PackedResponse, str]:
        """One response with its example; and the text of its body, which tells responses apart.

        Raises:
            DataError: a response to another query than its example's, or a number that is not finite.
        """
        query_id = example.query_id
        if response is not None and response.query_id != query_id:
            raise DataError(f"the response to {response.query_id!r} is paired with the example {query_id!r}.")
        try:
            example_text = encode_json(example)
            stored_response = response or Response(query_id, passages=(), missing={"answer": NO_RESPONSE_REASON})
            body_text, texts = _split_texts(stored_response)
        except DataError as error:
            raise DataError(f"query {query_id!r}: {error}") from None
        example_sha = hashlib.sha256(example_text.encode("utf-8", "surrogatepass")).digest()
        shas = tuple(b"" if raw is None else hashlib.sha256(raw).digest() for raw in texts)
        new = {
            sha: raw
            for sha, raw in zip(shas, texts, strict=True)
            if raw is not None and _remember_new(self._texts, sha)
        }
        return PackedResponse(
            example_sha=example_sha,
            query_key=compute_query_key(example.query),
            groups=pack_groups(example),
            example=pack_text(example_text) if _remember_new(self._examples, example_sha) else None,
            query_id=query_id,
            repeat=stored_response.repeat,
            weight=float(stored_response.weight),
            absent=response is None,
            body=pack_text(body_text),
            shas=shas,
            texts=tuple(new.items()),
        ), body_text


class Spool:
    """Packed responses in a temporary file, and the hashes of them all."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=MAX_MEMORY_BYTES)  # noqa: SIM115 - closed by close()
        self._packer = Packer()
        self._sum = 0
        self._example_shas = bytearray()
        self.n = 0
        self.n_absent = 0
        self.n_pending = 0

    def read_records(self, records: Iterable[Record], *, finished: bool = True) -> None:
        """Reads every record.

        Args:
            records: example and response.
            finished: a response of None is one that will not come; otherwise it is pending, and left out.

        Raises:
            DataError: a response to another query than its example's, or a number that is not finite.
        """
        for example, response in records:
            if response is None and not finished:
                self.n_pending += 1
                continue
            packed, body = self._packer.pack_response(example, response)
            self._add_hashes(packed, body)
            _write_packed(self._file, packed)
            self.n += 1
            self.n_absent += packed.absent

    def read(self) -> Iterator[PackedResponse]:
        """The packed responses, in order."""
        self._file.seek(0)
        while head := self._file.read(HEADER.size):
            yield _read_packed(self._file, HEADER.unpack(head))

    @property
    def content_hash(self) -> bytes:
        """Hash of every example and response; their order does not matter."""
        return self._sum.to_bytes(64, "big")

    @property
    def set_version(self) -> str:
        """The version that `EvalSet` gives these examples."""
        shas = memoryview(self._example_shas)
        hasher = hashlib.sha256()
        previous = b""
        # the canonical JSON of the list of distinct hashes, a piece at a time: whole, it takes 300 bytes an example
        for offset in sorted(range(0, len(shas), 32), key=lambda offset: bytes(shas[offset : offset + 32])):
            sha = bytes(shas[offset : offset + 32])
            if sha != previous:
                hasher.update(f'{"," if previous else "["}"{sha.hex()}"'.encode())
            previous = sha
        hasher.update(b"]" if previous else b"[]")
        return hasher.hexdigest()[:16]

    def close(self) -> None:
        """Removes the file."""
        self._file.close()

    def _add_hashes(self, packed: PackedResponse, body: str) -> None:
        self._example_shas += packed.example_sha
        record = [packed.example_sha.hex(), body, [sha.hex() for sha in packed.shas], packed.absent]
        digest = hashlib.sha256(to_canonical_json(record).encode("utf-8", "surrogatepass")).digest()
        # a sum, so that the order of the file does not matter and memory stays flat
        self._sum = (self._sum + int.from_bytes(digest, "big")) % (1 << 512)


def _remember_new(remembered: dict[bytes, None], sha: bytes) -> bool:
    """Whether this is not in the spool yet, as far as is remembered; remembers it."""
    if sha in remembered:
        return False
    remembered[sha] = None
    if len(remembered) > MAX_REMEMBERED_HASHES:
        del remembered[next(iter(remembered))]
    return True


def _split_texts(response: Response) -> tuple[str, list[bytes | None]]:
    """The encoded response without its passages' texts, and those texts in UTF-8: of passages, then of candidates."""
    content = to_json_value(response)
    passages = [*content.get("passages", ()), *content.get("candidates", ())]
    texts: list[str | None] = [passage.pop("text", None) for passage in passages]
    try:
        body = to_canonical_json(content)
    except (ValueError, TypeError):
        encode_json(response)  # says what is wrong with it
        raise
    return body, [None if text is None else text.encode("utf-8", "surrogatepass") for text in texts]


def compute_query_key(query: str) -> int:
    """64 bits of the question's hash."""
    return int.from_bytes(hash_text(query)[:8], "big", signed=True)


def pack_groups(example: Example) -> bytes | None:
    """What reports group and filter by, packed: segments, cluster and tags; None when there are none."""
    all_groups = {"segments": dict(example.segments), "cluster": example.cluster, "tags": sorted(example.tags)}
    groups = {name: group for name, group in all_groups.items() if group or group == ""}
    return pack_text(to_canonical_json(groups)) if groups else None


def iter_group_values(packed: bytes) -> Iterator[tuple[str, str]]:
    """Name and value of each segment in what `pack_groups` packed; of each tag "" and itself."""
    groups = json.loads(unpack_text(packed))
    yield from ((name, str(value)) for name, value in groups.get("segments", {}).items())
    yield from (("", tag) for tag in groups.get("tags", ()))


def _write_packed(file: IO[bytes], packed: PackedResponse) -> None:
    query_id = packed.query_id.encode("utf-8", "surrogatepass")
    groups, example = packed.groups or b"", packed.example or b""
    file.write(
        HEADER.pack(
            packed.query_key,
            packed.repeat,
            packed.weight,
            packed.absent,
            packed.groups is not None,
            packed.example is not None,
            len(query_id),
            len(groups),
            len(example),
            len(packed.body),
            len(packed.shas),
            len(packed.texts),
        )
    )
    # a text that is not recorded has no hash: 32 zero bytes stand for it
    file.write(b"".join((packed.example_sha, query_id, groups, example, packed.body)))
    file.write(b"".join(sha or NO_TEXT for sha in packed.shas))
    for sha, text in packed.texts:
        file.write(sha + TEXT_LENGTH.pack(len(text)))
        file.write(text)


def _read_packed(file: IO[bytes], head: tuple[Any, ...]) -> PackedResponse:
    query_key, repeat, weight, absent, has_groups, has_example, *sizes, n_shas, n_texts = head
    example_sha = file.read(32)
    query_id, groups, example, body = (file.read(size) for size in sizes)
    shas = (file.read(32) for _ in range(n_shas))
    return PackedResponse(
        example_sha=example_sha,
        query_key=query_key,
        groups=groups if has_groups else None,
        example=example if has_example else None,
        query_id=query_id.decode("utf-8", "surrogatepass"),
        repeat=repeat,
        weight=weight,
        absent=absent,
        body=body,
        shas=tuple(b"" if sha == NO_TEXT else sha for sha in shas),
        texts=tuple(
            (file.read(32), file.read(TEXT_LENGTH.unpack(file.read(TEXT_LENGTH.size))[0])) for _ in range(n_texts)
        ),
    )
