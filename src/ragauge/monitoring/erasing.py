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
from ragauge.engine.label_questions import build_key
from ragauge.engine.request_stream import get_traffic_day as day_of_run
from ragauge.monitoring.intake import body_parser
from ragauge.monitoring.intake.otlp_decoder import decode_attributes
from ragauge.monitoring.traffic.trace_assembly import format_day
from ragauge.readers.traces.spans import TRACE_ID
from ragauge.store.erasing import StoredTraces
from ragauge.store.inbox import DAY_S, Batch
from ragauge.store.store_access import Store
from ragauge.store.text_codec import pack_bytes


@dataclass(frozen=True, slots=True)
class Erasure:
    """What was deleted, or would be."""

    traces: int  #: how many.
    deleted: Mapping[str, int]  #: what -> how many of it.
    #: where anything of it is still found -> bytes or rows; {} = nowhere. Of a dry run nothing is looked for.
    left: Mapping[str, int] = field(default_factory=dict)
    #: files beside the store that hold any of it -> bytes; lines of .jsonl files were taken out.
    files: Mapping[str, int] = field(default_factory=dict)
    dry: bool = False  #: nothing was deleted.
    #: files beside the store that cannot be looked into -> why.
    unread: Mapping[str, str] = field(default_factory=dict)
    missing: str = ""  #: that the store keeps nothing of them, where files beside it still hold the name; "" else.


def erase_traces(
    store: Store, trace_ids: Collection[str], segments: Mapping[str, str], *, dry: bool = False
) -> Erasure:
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
        raise UsageError(
            "no data to delete is specified. Give --trace ID, --user NAME, --tenant NAME or --segment NAME=VALUE."
        )
    try:
        selected_ids = _select_traces(store, trace_ids, segments)
    except UsageError as error:  # they may have been deleted before
        nearby_files = store.erasing.find_names_in_files([*trace_ids, *segments.values()])
        if not nearby_files.files:
            raise
        return Erasure(0, {}, {}, nearby_files.files, dry, nearby_files.unread, str(error))
    linked = {number for number, batch in _iterate_batches(store) if _remove_traces(batch, selected_ids) != batch.body}
    stored = store.erasing.find_stored_traces(selected_ids, linked)
    if dry:
        counts = {
            "responses": len(stored.items),
            "examples": len(stored.example_nos),
            "raw batches": len(stored.batches),
        }
        return Erasure(len(selected_ids), {what: n for what, n in counts.items() if n}, dry=True)
    deleted = dict(_delete_stored(store, stored, segments))
    store.erasing.rewrite_file()
    nearby_files = store.erasing.remove_from_files(stored)
    deleted |= {"lines of files beside the store": nearby_files.lines} if nearby_files.lines else {}
    remaining = {where: n for where, n in store.erasing.count_remaining(stored).items() if n}
    return Erasure(len(selected_ids), deleted, remaining, nearby_files.files, unread=nearby_files.unread)


def delete_old_runs(store: Store, before: float) -> int:
    """Deletes runs of traffic whose day ended before a moment, with what no other run uses; returns how many.

    A baseline stays, and so does what somebody works on.

    Args:
        store: with the runs.
        before: seconds since 1970.
    """
    last, gone = format_day(before - DAY_S), 0
    for run in store.runs.list(filter={"kind": "traffic"}):
        if day_of_run(run) > last:
            continue
        with store.lock_run(run.run_id) as is_locked, suppress(UsageError):  # a baseline
            if is_locked:
                store.runs.delete(run.run_id, replies=True)
                gone += 1
    return gone


def _delete_stored(store: Store, stored: StoredTraces, segments: Mapping[str, str]) -> dict[str, int]:
    with store.transaction():  # batches that come meanwhile wait for it
        bodies = {
            number: pack_bytes(body) if (body := _remove_traces(batch, stored.trace_ids)) else None
            for number, batch in store.inbox.read(stored.batches)
        }
        keys = {
            key
            for item in stored.items
            for question in store.labels.questions()
            if (key := build_key(question, item)) is not None
        }
        returned = {
            name: remaining
            for name, body in store.returns.list_bodies()
            if (remaining := _remove_results(body, stored.trace_ids)) != body
        }
        deleted = store.erasing.erase_traces(stored, bodies, keys, returned)
        for value in segments.items():
            deleted |= store.monitors.delete_segment(value)
            deleted["labels by them"] = store.labels.delete_annotator(value[1])
    return {what: n for what, n in deleted.items() if n}


def _select_traces(store: Store, trace_ids: Collection[str], segments: Mapping[str, str]) -> set[str]:
    """The traces that are asked for."""
    selected_ids = set[str]()
    valid_ids = {*store.erasing.iter_trace_ids()} if trace_ids or segments else set()
    for trace_id in trace_ids:
        if trace_id not in valid_ids and not store.erasing.find_stored_traces([trace_id]).items:
            raise UnknownName("trace", trace_id, valid_ids)
        selected_ids.add(trace_id)
    for name, value in segments.items():
        matches = {_find_trace_id(query_id, valid_ids) for query_id in store.erasing.list_ids_by_segment(name, value)}
        needle = value.encode()
        for _, batch in _iterate_batches(store):
            if needle in batch.body or json.dumps(value).encode()[1:-1] in batch.body:
                matches |= set(_find_by_value(batch, name, value))
        if not matches:
            raise UsageError(
                f"no data is stored for {name} {value}: no response has this segment, and no raw batch has this "
                "attribute. List the traces with ragauge monitor traces, and delete one with --trace ID. "
                "monitor.segments defines the segments."
            )
        selected_ids |= matches
    return selected_ids


def _find_trace_id(query_id: str, valid_ids: Collection[str]) -> str:
    prefix = query_id.partition(":")[0]  # of one of several turns
    return prefix if prefix in valid_ids or TRACE_ID.fullmatch(prefix) else query_id


def _iterate_batches(store: Store) -> Iterator[tuple[int, Batch]]:
    return store.inbox.read(store.inbox.list_numbers())


def _find_by_value(batch: Batch, name: str, value: str) -> Iterator[str]:
    """Traces of a batch that have a value under an attribute of a name."""
    if batch.signal == "responses":
        for line in batch.body.split(b"\n"):
            row = json.loads(line)
            if _has_value(row, name, value):
                yield body_parser.get_row_id(row, line)
        return
    for resource, item in _iterate_items(batch):
        attribute_values = {**decode_attributes(resource.attributes), **decode_attributes(item.attributes)}
        attribute_values |= {
            f"events.{n}": decode_attributes(event.attributes) for n, event in enumerate(getattr(item, "events", ()))
        }
        if item.trace_id and _has_value(attribute_values, name, value):
            yield item.trace_id.hex()


def _has_value(content: Any, name: str, value: str, way: tuple[str, ...] = ()) -> bool:
    """Whether a value stands under a name, at any depth; names are joined by dots, and a text may be JSON."""
    if isinstance(content, str) and content[:1] in ("{", "[") and value in content:
        try:
            content = json.loads(content)
        except (ValueError, RecursionError):
            return False
    if isinstance(content, Mapping):
        return any(_has_value(child, name, value, (*way, *str(key).split("."))) for key, child in content.items())
    if isinstance(content, list):
        return any(_has_value(child, name, value, way) for child in content)
    return name in way and content is not None and str(content) == value


def _iterate_items(batch: Batch) -> Iterator[tuple[Any, Any]]:
    """Spans or log records of a batch, each with its resource."""
    if batch.signal == "traces":
        for resource in ExportTraceServiceRequest.FromString(batch.body).resource_spans:
            for scope in resource.scope_spans:
                yield from ((resource.resource, span) for span in scope.spans)
    else:
        for logs in ExportLogsServiceRequest.FromString(batch.body).resource_logs:
            for records in logs.scope_logs:
                yield from ((logs.resource, record) for record in records.log_records)


def _remove_traces(batch: Batch, trace_ids: Collection[str]) -> bytes:
    """What is left of a batch without some traces, and without spans that judge them; b"" = nothing."""
    if batch.signal == "responses":
        remaining = [
            line for line in batch.body.split(b"\n") if body_parser.get_row_id(json.loads(line), line) not in trace_ids
        ]
        return b"\n".join(remaining)
    ids = {bytes.fromhex(trace_id) for trace_id in trace_ids if TRACE_ID.fullmatch(trace_id)}
    if not any(trace_id in batch.body for trace_id in ids):
        return batch.body
    spans = batch.signal == "traces"
    request = (ExportTraceServiceRequest if spans else ExportLogsServiceRequest).FromString(batch.body)
    by_resource, by_scope, items = (
        ("resource_spans", "scope_spans", "spans") if spans else ("resource_logs", "scope_logs", "log_records")
    )
    return _remove_items(request, (by_resource, by_scope, items), ids)


def _remove_items(request: Any, names: tuple[str, str, str], ids: Collection[bytes]) -> bytes:
    """A request without the items of some traces, and what holds none then; b"" where nothing is left."""
    by_resource, by_scope, items = names
    resources = getattr(request, by_resource)
    for resource in list(resources):
        scopes = getattr(resource, by_scope)
        for scope in list(scopes):
            item_list = getattr(scope, items)
            for item in list(item_list):
                if item.trace_id in ids or any(link.trace_id in ids for link in getattr(item, "links", ())):
                    item_list.remove(item)
            if not item_list:
                scopes.remove(scope)
        if not scopes:
            resources.remove(resource)
    return request.SerializeToString() if resources else b""


def _remove_results(body: bytes, trace_ids: Collection[str]) -> bytes | None:
    """What is left of results on their way without those of some traces; None = nothing."""
    ids = {bytes.fromhex(trace_id) for trace_id in trace_ids if TRACE_ID.fullmatch(trace_id)}
    unpacked = gzip.decompress(body)
    if not any(trace_id in unpacked for trace_id in ids):
        return body
    remaining = _remove_items(
        ExportLogsServiceRequest.FromString(unpacked), ("resource_logs", "scope_logs", "log_records"), ids
    )
    return gzip.compress(remaining, mtime=0) if remaining else None
