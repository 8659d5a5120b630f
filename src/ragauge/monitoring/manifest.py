"""The verbs about production; see `verbs/registry.py`."""

from ragauge.verbs.registry import Verb, VerbGroup

GROUPS = (
    VerbGroup(
        command="monitor",
        help="Ingest production traces, score them, and alert when quality drops.",
        panel="Production",
    ),
)
PAGES = ("ragauge.monitoring.page",)
FILES = "Output file: .html, .md or .json."
VERBS = (
    Verb(
        function="ragauge.monitoring.service:serve_monitor",
        command="monitor serve",
        help="Receive traces over OTLP/HTTP and serve the dashboard. Ctrl-C stops it without losing data.\n\nOnly this "
        "machine can connect unless you set --host, which requires a token.",
        examples=("", "--config ragauge.yaml --tail traces.jsonl"),
        public=False,
        run_as="ragauge.monitoring.command:serve",
    ),
    Verb(
        function="ragauge.monitoring.plan.verb:monitor_plan",
        command="monitor plan",
        help="Estimate how long it takes to detect drops of 5, 10 and 20 %, and the daily judge cost, by sampling "
        "rate.",
        examples=("latest", "--mean 0.9 --deviation 0.2 --requests 2000"),
        outputs=FILES,
        result="ragauge.monitoring.plan.verb:MonitorPlanResult",
    ),
    Verb(
        function="ragauge.monitoring.traffic.verb:find_trace",
        command="monitor trace",
        help="Show the status of a trace: the run it is scored in, or why it is not scored.",
        examples=("4bf92f3577b34da6a3ce929d0e0e4736", "q17 --json"),
        public=False,
        reads_only=True,
    ),
    Verb(
        function="ragauge.monitoring.traffic.verb:list_traces",
        command="monitor traces",
        help="List the newest traces with their outcome, arrival time and question.",
        examples=("", "--outcome failed --limit 50"),
        public=False,
        reads_only=True,
    ),
    Verb(
        function="ragauge.monitoring.traffic.verb:build_monitor_status",
        command="monitor status",
        help="Show ingested traffic, trace outcomes by project, the state of each monitor and the false-alarm budget.",
        examples=("", "--json"),
        public=False,
        reads_only=True,
    ),
    Verb(
        function="ragauge.monitoring.replay.verb:monitor_replay",
        command="monitor replay",
        help="Replay the stored traffic: show which alerts the configured monitors would have raised, and why.",
        examples=("", "--since 2026-01-01 -o replay.html"),
        outputs=FILES,
        result="ragauge.monitoring.replay.verb:ReplayResult",
    ),
    Verb(
        function="ragauge.monitoring.drift.verb:monitor_drift",
        command="monitor drift",
        help="Show whether recent questions and passages differ from earlier ones, and how the last day differs.",
        examples=("", "--day 2026-01-31 --to golden.jsonl"),
        public=False,
        outputs=FILES,
        result="ragauge.monitoring.drift.verb:DriftResult",
    ),
    Verb(
        function="ragauge.monitoring.drift.verb:monitor_mark",
        command="monitor mark",
        help="Mark days on which production was good or bad; drift learns normal ranges from them.",
        examples=("good --from 2026-01-01 --until 2026-01-14", 'bad --from 2026-01-20 --why "half an index"'),
        public=False,
    ),
    Verb(
        function="ragauge.monitoring.alerts.verb:list_alerts",
        command="monitor alerts",
        help="List the alerts with their state and resolution, or show one in full.",
        examples=("", "3f2a"),
        public=False,
        run_as="ragauge.monitoring.command:alerts",
    ),
    Verb(
        function="ragauge.monitoring.shadow.verb:monitor_shadow",
        command="monitor shadow",
        help="Ask a challenger questions from production, and report whether to cut over, ramp or stop.",
        examples=('new_app:answer --like "shop 2026-01-31"', "new_app:answer --like production --golden golden.jsonl"),
        public=False,
        outputs=FILES,
        result="ragauge.monitoring.shadow.verb:ShadowResult",
    ),
    Verb(
        function="ragauge.monitoring.alerts.verb:resolve_alert",
        command="monitor resolve",
        help="Acknowledge an alert, or mark it as a false alarm.",
        examples=("3f2a", "3f2a --as false_alarm"),
        public=False,
        text="ragauge.monitoring.alerts.verb:describe_resolution",
    ),
    Verb(
        function="ragauge.monitoring.erasing:erase_traces",
        command="runs delete",
        help="Delete a run, or all data of a trace, a user or a tenant, and verify that it is gone.",
        examples=("first", "--user anna --dry-run"),
        public=False,
        run_as="ragauge.monitoring.command:delete",
    ),
)
