"""A span with a flood of attributes is left out before time is spent on them, and takes no other span with it."""

from __future__ import annotations

import json

import pytest
from tests.monitoring.conftest import attributes, span, traces

from ragauge.monitoring.intake import otlp
from ragauge.monitoring.intake.intake import Form


@pytest.mark.parametrize("form", ["json", "protobuf"])
def test_a_flood_of_attributes_is_left_out(form: Form) -> None:
    """Of two spans the one with too many attributes is rejected with its reason, the other is kept, in both forms."""
    many = span(attributes=attributes(**{f"k{n}": "v" for n in range(otlp.MAX_ATTRIBUTES + 1)}))
    body = json.dumps(traces(many, span("12" * 8, attributes=attributes(k="v")))).encode()
    if form == "protobuf":
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(otlp, "MAX_ATTRIBUTES", 10**9)
            body = otlp.parse_request(otlp.TRACES, "json", body).message.SerializeToString()
    parsed = otlp.parse_request(otlp.TRACES, form, body)
    assert (parsed.kept, parsed.left.n) == (1, 1)
    assert parsed.left.first == "it has 10,001 attributes; the maximum is 10,000"
