"""Commands that are offered to a reader."""

from __future__ import annotations

import shlex

import pytest

from ragauge.core.errors import UsageError, mask_secrets
from ragauge.core.messages import format_command, name_store


def test_words_are_quoted_for_a_shell() -> None:
    """A shell reads the words back as they were given, whatever is in them."""
    words = ("evaluate", "it's k = 8", "-m", "recall@5,ndcg:gain=exp@10", "--judge", "openai:x,agree=openai:y")
    assert shlex.split(format_command(*words)) == ["ragauge", *words]
    assert format_command("show", "good") == "ragauge show good"


def test_the_store_is_named_within() -> None:
    """Commands about a store that is not the usual one name it, and others do not."""
    with name_store("sqlite:///other/x.db"):
        assert format_command("show", "good") == "ragauge show good --store sqlite:///other/x.db"
        with name_store(""):
            assert format_command("runs") == "ragauge runs --store sqlite:///other/x.db"
    assert format_command("show", "good") == "ragauge show good"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:s3cret@host:5432/db", "postgresql://me:***@host:5432/db"),
        ("postgresql+psycopg://me:a/b@c@host/db", "postgresql+psycopg://me:***@host/db"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("--store=postgresql://me:s3cret@host/db", "--store=postgresql://me:***@host/db"),
        ("sqlite:///here.db", "sqlite:///here.db"),
        ("mysql+pymysql://root:p@ss:w0rd@db.example/x", "mysql+pymysql://root:***@db.example/x"),
        ("redis://:s3cret@cache:6379/0", "redis://:***@cache:6379/0"),
        ("https://ghp_0123@git.example/a.git", "https://***@git.example/a.git"),
        ("ssh://git@git.example/a.git", "ssh://git@git.example/a.git"),
        ("https://x.example/@someone/post", "https://x.example/@someone/post"),
        (
            "postgresql://h/db?user=me&sslpassword=s3&sslmode=require",
            "postgresql://h/db?user=me&sslpassword=***&sslmode=require",
        ),
        ("https://h/ask?q={{query}}&api_key=s3&sig=a%2Fb#x", "https://h/ask?q={{query}}&api_key=***&sig=***#x"),
        ("http://u:s3@a/x and ftp://v:s4@b/y", "http://u:***@a/x and ftp://v:***@b/y"),
        ("openai-chat:a@http://h:80/v1,agree=openai-chat:b@http://h",) * 2,
    ],
)
def test_no_password_is_shown(url: str, shown: str) -> None:
    """A password in a URL, or a parameter named as a secret, reaches no error and no command that is printed."""
    assert mask_secrets(url) == shown
    assert str(UsageError(f"no such place: {url}")) == f"no such place: {shown}"
    with name_store(url):
        assert shown in format_command("runs").replace("'", "")
