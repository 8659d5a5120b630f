"""The verb that serves the dashboard; see `verbs/registry.py`."""

from ragauge.verbs.registry import Verb

VERBS = (
    Verb(
        function="ragauge.dashboard.serve:ui",
        command="ui",
        help="Serve a dashboard of the store: runs, reports, examples, comparisons. Press Ctrl-C to stop it.\n\nOnly "
        "this machine can read them, unless --host says otherwise, which needs a token. --export writes files "
        "instead.",
        examples=("", "--export pages --run main --limit 20"),
        panel="Production",
        run_as="ragauge.dashboard.command:ui",
    ),
)
