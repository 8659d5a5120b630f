"""Texts that a log cut off: previews in place of what the system saw."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

ELLIPSES = ("…", "...", "[…]", "[...]", "[truncated]", "(truncated)")
MIN_DIFFERENT_TEXTS = 5  # different texts that look cut; fewer may end so by themselves
MAX_LENGTH_GAP_CHARS = 5  # characters between the lengths of texts that were cut at one length
MIN_CUT_SHARE = 0.9  # share of the cut texts that have nearly one length, or of all texts where lengths differ
MIN_ALIKE_SHARE = 0.5  # share of all texts, where they were cut at one length and none is longer


@dataclass(slots=True)
class Previews:
    """Counts texts that look cut off.

    They are previews where at least five different ones end in an ellipsis, and either those are at least 90 % of all,
    or at least half of all, nearly all of one length, and no text is longer.

    >>> seen = Previews()
    >>> seen.count_texts(f"{n} is a number that …" for n in range(6))
    >>> seen.describe_cut().partition(":")[0]
    '6 of 6 passages look truncated, like previews in logs'
    """

    count: int = 0
    longest: int = 0
    lengths: dict[int, int] = field(default_factory=dict)  # of those that look cut -> how many
    different: set[str] = field(default_factory=set)  # as many as are needed to be sure

    def count_texts(self, texts: Iterable[str | None]) -> None:
        """Counts texts; what was not recorded is none."""
        for text in texts:
            if not text:
                continue
            self.count += 1
            length = len(text)
            self.longest = max(self.longest, length)
            if text[-20:].rstrip().endswith(ELLIPSES):
                self.lengths[length] = self.lengths.get(length, 0) + 1
                if len(self.different) < MIN_DIFFERENT_TEXTS:
                    self.different.add(text)

    def describe_cut(self, source: str = "") -> str:
        """What to say of them; "" where the texts look whole.

        Args:
            source: what they are passages of, such as " of the first 100 responses"; "" = of all.
        """
        cut = sum(self.lengths.values())
        if len(self.different) < MIN_DIFFERENT_TEXTS:
            return ""
        longest = max(self.lengths)
        near = {length: n for length, n in self.lengths.items() if length >= longest - MAX_LENGTH_GAP_CHARS}
        is_one_length = sum(near.values()) >= MIN_CUT_SHARE * cut
        if not (
            cut >= MIN_CUT_SHARE * self.count
            or (is_one_length and cut >= MIN_ALIKE_SHARE * self.count and self.longest <= longest)
        ):
            return ""
        shortest = min(near if is_one_length else self.lengths)
        lengths_text = f"{longest:,}" if shortest == longest else f"{shortest:,} to {longest:,}"
        return (
            f"{cut:,} of {self.count:,} passages{source} look truncated, like previews in logs: they end in an "
            f"ellipsis after {lengths_text} characters. Support cannot be judged from them: claims from the rest "
            "count as unsupported. Record full texts."
        )
