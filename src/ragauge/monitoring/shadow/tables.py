"""What a candidate in the shadow of production may do, as sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragauge.core.messages import format_count, format_value
from ragauge.rendering.sections import Phrase, ReportSection, Tone, Wording

if TYPE_CHECKING:
    from ragauge.monitoring.shadow.compute import RetrievedDocuments, ShadowVerdict
    from ragauge.scores.results.comparison import MetricChange

RAMP_SHARES = (0.05, 0.25, 0.5, 1.0)  # shares of the requests that a candidate has one after another

TONES: dict[str, Tone] = {"cut over": "good", "ramp": "unsure", "stop": "bad"}


def build_shadow_sections(
    verdict: ShadowVerdict, documents: RetrievedDocuments | None = None, golden: MetricChange | None = None
) -> Iterator[ReportSection]:
    """The verdict and the rule that decided; what is retrieved, and what golden questions say of it."""
    move = f"ramp: send it {verdict.share:.0%} of the requests" if verdict.move == "ramp" else verdict.move
    steps = " and ".join(f"{share:.0%}" for share in RAMP_SHARES if share > verdict.share)
    nexts = f"Then {steps}, as long as its own traffic is no worse." if verdict.move == "ramp" else ""
    lead: list[Wording] = [Phrase(f"{move[0].upper()}{move[1:]}.", TONES[verdict.move]), f"{verdict.rule}."]
    lead += [nexts] if nexts else []
    if documents is not None:
        many, divergence_text = format_count(documents.n, "question"), format_value(documents.divergence)
        lead.append(
            f"{documents.overlap:.0%} of the top {documents.k} documents for {many} are the same; the JS divergence of "
            f"how often each document is retrieved is {divergence_text} (maximum 1)."
        )
    if golden is not None:
        reach = golden.difference.widest_interval
        within = f" [{reach.low:+.3f}, {reach.high:+.3f}]" if reach is not None else ""
        moved = "unknown" if golden.difference.mean is None else f"{golden.difference.mean:+.3f}"
        lead.append(f"{golden.metric} on {format_count(golden.difference.n, 'golden question')}: {moved}{within}.")
    yield ReportSection("Shadow", lead=tuple(lead))
