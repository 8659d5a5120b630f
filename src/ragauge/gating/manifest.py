"""The verb that holds a run to rules; see `verbs/registry.py`."""

from ragauge.verbs.registry import Verb

VERBS = (
    Verb(
        function="ragauge.gating.verb:gate",
        command="gate",
        help="Check a run against the rules in ragauge.yaml. Exit 0: pass, 3: fail, 4: not enough data; 1 and 2 are "
        "errors.\n\nNo judge is called. ragauge docs gates explains how each verdict is reached and what to do about "
        "it.",
        examples=("latest --baseline main", "latest --baseline main --explain"),
        panel="Compare and gate",
        reads_only=True,
        run_as="ragauge.gating.command:gate",
    ),
)
