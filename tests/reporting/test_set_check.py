"""What a check of a set says of its gold documents."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.testsets.test_freshness import _check, _corpus

from ragauge.core.curation import Anchor, Curation
from ragauge.core.example import Example, Relevant
from ragauge.testsets.check.tables import _format_share, build_freshness_sections
from ragauge.testsets.set_file import SetFile, build_line


@given(st.integers(1, 3_000), st.integers(0, 3_000))
def test_a_share_is_written_on_its_side_of_the_limit(n: int, k: int) -> None:
    """The number printed is 0.9 or more where, and only where, the share is; two decimals where these will do."""
    value = min(k, n) / n
    assert (float(_format_share(value, None, 0.9)) >= 0.9) is (value >= 0.9)
    assert [_format_share(value, None, 0.9) for value in (43 / 48, 0.93)] == ["0.896", "0.93"]


def test_why_a_document_counts_as_alive_that_its_example_cannot_find() -> None:
    """Of a document under another name a quote is found, a whole document without a lock is not: the note says so."""
    texts = _corpus(3)
    end = texts["d0"].index(".", 200) + 1
    quoted = Curation(anchors=(Anchor("d0", 0, end, texts["d0"][:end]),))
    relevant = (Relevant(("d0",)),)
    found = SetFile(
        "set",
        (
            build_line(Example("quote", "Which?", relevant=relevant), quoted),
            build_line(Example("whole", "What?", relevant=relevant), Curation()),
        ),
    )
    now = {f"new/{name}": text for name, text in texts.items()}
    fresh = _check(found, now, None, quoted=False)
    assert fresh.counts == {"moved": 1, "unwinnable": 1}
    notes = " ".join(map(str, next(iter(build_freshness_sections(fresh))).notes))
    assert "1 of the 1 unwinnable examples labels a document that no longer exists under its name" in notes
    assert "Without a lock, it is unknown" in notes
    locked = next(iter(build_freshness_sections(_check(found, now, texts, quoted=False))))
    assert "unwinnable" not in " ".join(map(str, locked.notes))
