"""Deletes what is kept of traces, of a user or of a tenant, and proves that nothing is left."""

from __future__ import annotations

import gzip
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ragauge.core.errors import UnknownName, UsageError
from ragauge.engine.label_questions import key_of
from ragauge.engine.request_stream import day_of as day_of_run
from ragauge.monitoring.intake import lines
from ragauge.monitoring.intake.otlp_decoder import attributes
from ragauge.monitoring.traffic.trace_assembly import day_of
from ragauge.readers.traces.spans import TRACE_ID
from ragauge.store.erasing import Held
from ragauge.store.inbox import DAY, Batch
from ragauge.store.store_access import Store
from ragauge.store.text_codec import pack_bytes


@dataclass(frozen=True, slots=True)
class Erasure:
    """What was deleted, or would be.

    Attributes:
        traces: how many.
        deleted: what -> how many of it.
        left: where anything of it is still found -> bytes or rows; {} = nowhere. Of a dry run nothing is looked for.
        files: files beside the store that hold any of it -> bytes; lines of .jsonl files were taken out.
        dry: nothing was deleted.
        unread: files beside the store that cannot be looked into -> why.
        missing: that the store keeps nothing of them, where files beside it still hold the name; "" else.
    """

    traces: int
    deleted: Mapping[str, int]
    left: Mapping[str, int] = field(default_factory=dict)
    files: Mapping[str, int] = field(default_factory=dict)
    dry: bool = False
    unread: Mapping[str, str] = field(default_factory=dict)
    missing: str = ""


def erase(store: Store, trace_ids: Collection[str], segments: Mapping[str, str], *, dry: bool = False) -> Erasure:
    """Deletes traces, and those whose segment or attribute has a value, from the whole store.

    Args:
        store: it.
        trace_ids: of traces, whole.
        segments: name such as user or tenant -> value: traces whose segment of that name has it, and those that came
            with an attribute so called (user, user.id, metadata.user), as far as raw batches are kept.
        dry: only say what would be deleted.

    Raises:
        UnknownName: a trace of which nothing is kept, and whose id is in no file beside the store.
        UsageError: nothing is asked for, or nothing is kept of a value, and it is in no file beside the store.
    """
    if not trace_ids and not segments:
        raise UsageError("whose data? Give --trace ID, --user NAME, --tenant NAME or --segment NAME=VALUE.")
    try:
        chosen = _chosen(store, trace_ids, segments)
    except UsageError as error:  # they may have been deleted before
        beside = store.erasing.names_beside([*trace_ids, *segments.values()])
        if not beside.files:
            raise
        return Erasure(0, {}, {}, beside.files, dry, beside.unread, str(error))
    linked = {number for number, batch in _raw(store) if _cut(batch, chosen) != batch.body}
    held = store.erasing.held(chosen, linked)
    if dry:
        counts = {"responses": len(held.items), "examples": len(held.example_nos), "raw batches": len(held.batches)}
        return Erasure(len(chosen), {what: n for what, n in counts.items() if n}, dry=True)
    deleted = dict(_deleted(store, held, segments))
    store.erasing.tidy()
    beside = store.erasing.files_beside(held)
    deleted |= {"lines of files beside the store": beside.lines} if beside.lines else {}
    left = {where: n for where, n in store.erasing.left(held).items() if n}
    return Erasure(len(chosen), deleted, left, beside.files, unread=beside.unread)


def forget_runs(store: Store, before: float) -> int:
    """Deletes runs of traffic whose day ended before a moment, with what no other run uses; returns how many.

    A baseline stays, and so does what somebody works on.

    Args:
        store: with the runs.
        before: seconds since 1970.
    """
    last, gone = day_of(before - DAY), 0
    for run in store.runs.list(filter={"kind": "traffic"}):
        if day_of_run(run) > last:
            continue
        with store.held(run.run_id) as mine, suppress(UsageError):  # a baseline
            if mine:
                store.runs.delete(run.run_id, replies=True)
                gone += 1
    return gone


def _deleted(store: Store, held: Held, segments: Mapping[str, str]) -> dict[str, int]:
    with store.transaction():  # batches that come meanwhile wait for it
        bodies = {
            number: pack_bytes(body) if (body := _cut(batch, held.trace_ids)) else None
            for number, batch in store.inbox.read(held.batches)
        }
        keys = {
            key
            for item in held.items
            for question in store.labels.questions()
            if (key := key_of(question, item)) is not None
        }
        returned = {
            name: left for name, body in store.returns.bodies() if (left := _records(body, held.trace_ids)) != body
        }
        deleted = store.erasing.erase(held, bodies, keys, returned)
        for value in segments.items():
            deleted |= store.monitors.forget(value)
            deleted["labels by them"] = store.labels.forget(value[1])
    return {what: n for what, n in deleted.items() if n}


def _chosen(store: Store, trace_ids: Collection[str], segments: Mapping[str, str]) -> set[str]:
    """The traces that are asked for."""
    chosen = set[str]()
    known = {*store.erasing.traces()} if trace_ids or segments else set()
    for trace_id in trace_ids:
        if trace_id not in known and not store.erasing.held([trace_id]).items:
            raise UnknownName("trace", trace_id, known)
        chosen.add(trace_id)
    for name, value in segments.items():
        found = {_trace_of(one, known) for one in store.erasing.of_segment(name, value)}
        needle = value.encode()
        for _, batch in _raw(store):
            if needle in batch.body or json.dumps(value).encode()[1:-1] in batch.body:
                found |= set(_with_value(batch, name, value))
        if not found:
            raise UsageError(
                f"nothing is kept of {name} {value}: no response has such a segment, and no raw batch such an "
                "attribute. ragauge monitor traces lists what came; --trace ID takes one. Segments are named under "
                "monitor.segments."
            )
        chosen |= found
    return chosen


def _trace_of(query_id: str, known: Collection[str]) -> str:
    before = query_id.partition(":")[0]  # of one of several turns
    return before if before in known or TRACE_ID.fullmatch(before) else query_id


def _raw(store: Store) -> Iterator[tuple[int, Batch]]:
    return store.inbox.read(store.inbox.numbers())


def _with_value(batch: Batch, name: str, value: str) -> Iterator[str]:
    """Traces of a batch that have a value under an attribute of a name."""
    if batch.signal == "responses":
        for line in batch.body.split(b"\n"):
            row = json.loads(line)
            if _says(row, name, value):
                yield lines.id_of(row, line)
        return
    for resource, item in _items(batch):
        said = {**attributes(resource.attributes), **attributes(item.attributes)}
        said |= {f"events.{n}": attributes(one.attributes) for n, one in enumerate(getattr(item, "events", ()))}
        if item.trace_id and _says(said, name, value):
            yield item.trace_id.hex()


def _says(said: Any, name: str, value: str, way: tuple[str, ...] = ()) -> bool:
    """Whether a value stands under a name, at any depth; names are joined by dots, and a text may be JSON."""
    if isinstance(said, str) and said[:1] in ("{", "[") and value in said:
        try:
            said = json.loads(said)
        except (ValueError, RecursionError):
            return False
    if isinstance(said, Mapping):
        return any(_says(one, name, value, (*way, *str(key).split("."))) for key, one in said.items())
    if isinstance(said, list):
        return any(_says(one, name, value, way) for one in said)
    return name in way and said is not None and str(said) == value


def _items(batch: Batch) -> Iterator[tuple[Any, Any]]:
    """Spans or log records of a batch, each with its resource."""
    if batch.signal == "traces":
        for resource in ExportTraceServiceRequest.FromString(batch.body).resource_spans:
            for scope in resource.scope_spans:
                yield from ((resource.resource, span) for span in scope.spans)
    else:
        for logs in ExportLogsServiceRequest.FromString(batch.body).resource_logs:
            for records in logs.scope_logs:
                yield from ((logs.resource, record) for record in records.log_records)


def _cut(batch: Batch, trace_ids: Collection[str]) -> bytes:
    """What is left of a batch without some traces, and without spans that judge them; b"" = nothing."""
    if batch.signal == "responses":
        kept = [line for line in batch.body.split(b"\n") if lines.id_of(json.loads(line), line) not in trace_ids]
        return b"\n".join(kept)
    ids = {bytes.fromhex(one) for one in trace_ids if TRACE_ID.fullmatch(one)}
    if not any(one in batch.body for one in ids):
        return batch.body
    spans = batch.signal == "traces"
    request = (ExportTraceServiceRequest if spans else ExportLogsServiceRequest).FromString(batch.body)
    by_resource, by_scope, items = (
        ("resource_spans", "scope_spans", "spans") if spans else ("resource_logs", "scope_logs", "log_records")
    )
    return _without(request, (by_resource, by_scope, items), ids)


def _without(request: Any, names: tuple[str, str, str], ids: Collection[bytes]) -> bytes:
    """A request without the items of some traces, and what holds none then; b"" where nothing is left."""
    by_resource, by_scope, items = names
    resources = getattr(request, by_resource)
    for resource in list(resources):
        scopes = getattr(resource, by_scope)
        for scope in list(scopes):
            listed = getattr(scope, items)
            for item in list(listed):
                if item.trace_id in ids or any(link.trace_id in ids for link in getattr(item, "links", ())):
                    listed.remove(item)
            if not listed:
                scopes.remove(scope)
        if not scopes:
            resources.remove(resource)
    return request.SerializeToString() if resources else b""


def _records(body: bytes, trace_ids: Collection[str]) -> bytes | None:
    """What is left of results on their way without those of some traces; None = nothing."""
    ids = {bytes.fromhex(one) for one in trace_ids if TRACE_ID.fullmatch(one)}
    plain = gzip.decompress(body)
    if not any(one in plain for one in ids):
        return body
    left = _without(ExportLogsServiceRequest.FromString(plain), ("resource_logs", "scope_logs", "log_records"), ids)
    return gzip.compress(left, mtime=0) if left else None
