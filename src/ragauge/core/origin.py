"""Where this ragauge was installed from, and how to install it again: no package index is assumed to have it."""

from __future__ import annotations

import shlex
from functools import cache
from pathlib import Path

PACKAGE_NAME = "ragauge"


def build_install_command(extra: str = "", *flags: str) -> str:
    """The command that installs this ragauge again, from where it came.

    Args:
        extra: an optional part of it, such as "ui"; "" = none.
        flags: further words for pip.

    >>> build_install_command("ui").startswith("pip install ") and "[ui]" in build_install_command("ui")
    True
    """
    return " ".join(["pip install", *flags, shlex.quote(build_requirement(extra))])


def build_requirement(extra: str = "") -> str:
    """What pip takes for this ragauge: a folder, the address of a wheel or of a commit, or its name.

    Its name alone stands where pip found it by name, in an index or a folder of wheels.
    """
    location, extras = find_source(), f"[{extra}]" if extra else ""
    return f"{PACKAGE_NAME}{extras} @ {location}" if ":/" in location else f"{location}{extras}"


@cache
def find_source() -> str:
    """A path, a URL, or the name alone."""
    import json
    from importlib import metadata

    checkout = Path(__file__).parents[3]
    if (checkout / "pyproject.toml").is_file():
        return str(checkout)
    try:
        record = metadata.distribution(PACKAGE_NAME).read_text("direct_url.json")
        direct_url = json.loads(record) if record else {}
    except (metadata.PackageNotFoundError, ValueError):
        return PACKAGE_NAME
    url, version = direct_url.get("url", ""), direct_url.get("vcs_info", {})
    return f"git+{url}@{version['commit_id']}" if version.get("vcs") == "git" else url or PACKAGE_NAME
