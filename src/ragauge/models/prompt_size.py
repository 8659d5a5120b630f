"""How many tokens a text has at the least, whatever the tokenizer; a server that read fewer has cut it."""

from __future__ import annotations

import re

# characters of scripts that put no blanks between words: Thai and Lao, Burmese, Khmer, kana, Han
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
# what tokenizers do not join: words, as one token up to 24 characters (4 where nothing parts them), and marks that no
# letter follows, as many as stand in a row
PIECE = re.compile(
    rf"[{UNSPACED}]{{1,4}}|(?:[^\W_{UNSPACED}]|[^\x00-\x7f\s{UNSPACED}]){{1,24}}|[!-/:-@\[-`{{-~]+(?![^\W\d_])"
)
ASCII_PIECE = re.compile(r"[A-Za-z0-9]{1,24}|[!-/:-@\[-`{-~]+(?![A-Za-z])")  # the same, three times as fast
MIN_TOKENS = 64  # tokens of a text that is checked: what is judged never has fewer
MIN_LIMIT_TOKENS = 512  # tokens: where a server cuts without a word that it read fewer than a text can have
MIN_READ_SHARE = 0.85  # of the fewest tokens that a text can have
LIMIT_STEP_TOKENS, LIMIT_OFFSETS = (
    1_024,
    (0, 1, 2, 1_023),
)  # where servers cut: at a multiple, or half of one with a few tokens kept
CUT_HINT = "Raise num_ctx (Ollama: OLLAMA_CONTEXT_LENGTH) or the server's context length"


def count_fewest_tokens(text: str) -> int:
    """Tokens of a text by a tokenizer that knows every word: real ones need more. Blanks count nothing.

    >>> count_fewest_tokens("It lasts a day."), count_fewest_tokens(" " * 500 + "=" * 500), count_fewest_tokens("คุณภาพ")
    (5, 1, 2)
    """
    return len((ASCII_PIECE if text.isascii() else PIECE).findall(text))


def describe_cut(text: str, read: int) -> str:
    """That a server cut a text of which it says how many tokens it read, and what to do; "" where it read all.

    Args:
        text: what was sent, without what a server may leave out or add.
        read: tokens, those from its cache included.
    """
    fewest = count_fewest_tokens(text) if read < len(text) else 0
    if fewest < MIN_TOKENS or read >= MIN_READ_SHARE * fewest:
        return ""
    return f"the server read {read:,} of at least {fewest:,} tokens: it cut the prompt. {CUT_HINT}"


def can_be_cut(read: int) -> bool:
    """Whether a number of tokens looks like a limit; one in 256 does by chance."""
    return read >= MIN_LIMIT_TOKENS and read % LIMIT_STEP_TOKENS in LIMIT_OFFSETS
