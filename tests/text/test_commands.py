"""Commands that are offered to a reader."""

from __future__ import annotations

import shlex

import pytest

from ragauge.text.messages import command, speaking_of, without_password


def test_words_are_quoted_for_a_shell() -> None:
    """A shell reads the words back as they were given, whatever is in them."""
    words = ("evaluate", "it's k = 8", "-m", "recall@5,ndcg:gain=exp@10", "--judge", "openai:x,agree=openai:y")
    assert shlex.split(command(*words)) == ["ragauge", *words]
    assert command("show", "good") == "ragauge show good"


def test_the_store_is_named_within() -> None:
    """Commands about a store that is not the usual one name it, and others do not."""
    with speaking_of("sqlite:///other/x.db"):
        assert command("show", "good") == "ragauge show good --store sqlite:///other/x.db"
        with speaking_of(""):
            assert command("runs") == "ragauge runs --store sqlite:///other/x.db"
    assert command("show", "good") == "ragauge show good"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:s3cret@host:5432/db", "postgresql://me:***@host:5432/db"),
        ("postgresql+psycopg://me:a/b@c@host/db", "postgresql+psycopg://me:***@host/db"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("--store=postgresql://me:s3cret@host/db", "--store=postgresql://me:***@host/db"),
        ("sqlite:///here.db", "sqlite:///here.db"),
        ("openai-chat:a@http://h:80/v1,agree=openai-chat:b@http://h", ) * 2,
    ],
)
def test_no_password_is_shown(url: str, shown: str) -> None:
    """A password in a store's URL never reaches a command that is printed."""
    assert without_password(url) == shown
    with speaking_of(url):
        assert shown in command("runs").replace("'", "")
