"""What is done with traces: how long they are waited for, which are kept, who judges them."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ragauge.core.config.config_loader import DEFAULT_FILE, read_config
from ragauge.core.config.monitor import MonitorSection, RedactSection, WaitSection
from ragauge.core.errors import UsageError
from ragauge.monitoring.intake.redaction import Redaction
from ragauge.readers.traces.normalize import UNION
from ragauge.store.inbox import DAY_S, ReadDelay


@dataclass(frozen=True)
class Policy:
    """What is done with traces."""

    rate: float = 1.0  #: share of the traces that the judge is asked about, in (0, 1].
    #: segment -> how many a day of each of its values are judged, whatever the rate.
    at_least: Mapping[str, int] = field(default_factory=dict)
    always: frozenset[str] = frozenset()  #: what is judged every time: error, empty_retrieval, thumbs_down.
    #: US dollars a day that the judge may spend; the rate is lowered to keep it. None = no bound.
    max_cost: float | None = None
    salt: str = "ragauge"  #: of the draw; who has the same draws the same.
    #: name -> field of the trace that responses are grouped by, such as metadata.tenant.
    segments: Mapping[str, str] = field(default_factory=dict)
    passages: str = UNION  #: which steps of a trace found its passages: union, last or span:NAME.
    without_retrieval: bool = False  #: requests in which nothing was searched are read too.
    judge: str = "local"  #: who is asked.
    metrics: tuple[str, ...] = ("production",)  #: what is computed.
    redaction: Redaction = field(default_factory=Redaction)  #: what is taken out before anything is kept.
    patience: ReadDelay = field(default_factory=ReadDelay)  #: how long a trace waits for more.
    signals: frozenset[str] = frozenset()  #: names of the gauges that are kept.
    #: traces count for the day on which they began by their own clocks, not for that of their arrival.
    dated: bool = False
    keep_raw: float = 7 * DAY_S  #: seconds that raw batches are kept.
    keep_traces: float = 90 * DAY_S  #: seconds that what is known of a trace is kept.
    #: seconds that runs of traffic are kept from the end of their day; None = they stay.
    keep_runs: float | None = None

    def draw(self, trace_id: str) -> float:
        """A number in [0, 1) that is the trace's own: every worker draws the same, and so does a trace sent again."""
        digest = hashlib.sha256(f"{self.salt} {trace_id}".encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:7], "big") / (1 << 56)


def read_policy(config: Path | None) -> Policy:
    """The policy of a configuration file's section monitor; without a file or section, everything is kept.

    Args:
        config: the file; None = ragauge.yaml where there is one.

    Raises:
        DataError: the file is not there, or there are mistakes in it.
        UsageError: the environment variable of a key is not set.
    """
    if config is None and not Path(DEFAULT_FILE).is_file():
        return Policy()
    section = read_config(config or DEFAULT_FILE).checked().monitor
    return Policy() if section is None else _build_policy(section)


def _build_policy(section: MonitorSection) -> Policy:
    sample = section.sample
    return Policy(
        rate=sample.rate,
        at_least=dict(sample.at_least),
        always=frozenset(sample.always),
        max_cost=sample.max_cost,
        segments=dict(section.segments),
        passages=section.passages,
        without_retrieval=section.without_retrieval,
        judge=section.judge,
        metrics=section.metrics,
        signals=frozenset(
            {
                *section.signals,
                *(monitor_section.signal for monitor_section in section.monitors if monitor_section.signal is not None),
            }
        ),
        redaction=_build_redaction(section.redact),
        patience=_build_patience(section.wait),
        keep_raw=section.keep.raw.total_seconds(),
        keep_traces=section.keep.traces.total_seconds(),
        keep_runs=None if section.keep.runs is None else section.keep.runs.total_seconds(),
    )


def _build_patience(section: WaitSection) -> ReadDelay:
    return ReadDelay(section.ended.total_seconds(), section.quiet.total_seconds())


def _build_redaction(section: RedactSection) -> Redaction:
    key = section.key or secrets.token_hex()
    if key.startswith("$"):
        key = os.environ.get(key[1:], "")
        if not key:
            raise UsageError(f"monitor.redact.key: the environment variable {str(section.key)[1:]} is not set.")
    return Redaction(section.attributes, section.patterns, key)
