"""The verbs about people's labels and about judges; see `verbs/registry.py`."""

from ragauge.verbs.registry import Verb, VerbGroup

GROUPS = (
    VerbGroup(
        command="label", help="Sample answers for people to label, import their labels.", panel="Sets and people"
    ),
    VerbGroup(command="judge", help="Check, calibrate and probe judges on your own data.", panel="Sets and people"),
)
PAGES = ("ragauge.labels.judges.page", "ragauge.labels.label.page")
VERBS = (
    Verb(
        function="ragauge.labels.label.verb:label_import",
        command="label import",
        help="Import human labels: the page's labels.jsonl, CSV, a file for judge check, or Label Studio JSON.\n\n"
        "Importing the same file twice changes nothing. A label counts in every run that has the same texts.",
        examples=("labels.jsonl", "ratings.csv --map value=verdict"),
        text="ragauge.labels.label.texts:describe_import",
    ),
    Verb(
        function="ragauge.labels.label.label_draw:label_draw",
        command="label draw",
        help="Sample answers of a run for people to label, and write a page for labeling them by keyboard, without a "
        "server.\n\nThe page saves labels.jsonl, which `ragauge label import` reads. Without -o, label the answers in "
        "`ragauge ui`. The draw is stored, and its labels correct the run's means.",
        examples=("latest -n 150 -o page.html", "latest --scheme uncertain"),
        text="ragauge.labels.label.texts:describe_draw",
    ),
    Verb(
        function="ragauge.labels.label.verb:label_plan",
        command="label plan",
        help="Plan how many labels you need for an interval of a given width, or to detect a difference between two "
        "runs.",
        examples=("latest --width 0.05", 'latest --detect "3 points"'),
        reads_only=True,
        text="ragauge.labels.label.texts:describe_label_plan",
    ),
    Verb(
        function="ragauge.labels.label.verb:label_transfer",
        command="label transfer",
        help="Estimate the share of supported answers in a run without labels, from the labels of another run.",
        examples=("main k12", "main k12 --json"),
        text="ragauge.labels.label.texts:describe_transfer",
    ),
    Verb(
        function="ragauge.labels.check.verb:check_judge",
        command="judge check",
        help="Measure how well a judge agrees with human labels, by question mode, and what it costs.\n\nThe error of "
        "its means is saved, and from then on included in the intervals of its scores.\n\nEach row has passages, an "
        "answer or claim, and a label: supported, contradicted or not_in_context; true or false; 1 or 0; a list of "
        "labels, one per annotator.",
        examples=("labelled.jsonl", "labelled.jsonl --judge openai:gpt-5-mini --max-cost 1"),
        run_as="ragauge.labels.check.command:check",
    ),
    Verb(
        function="ragauge.labels.calibrate.verb:calibrate_judge",
        command="judge calibrate",
        help="Fit a judge's probabilities to human labels; the file is a judge: --judge calibrated:judge.json.\n\nIt "
        "takes 50 labels, 10 of the rarer kind. The judge is unchanged unless held-out labels show that another is "
        "better by one standard error.",
        examples=("main -o judge.json", "labelled.jsonl -o judge.json --dry-run"),
        progress="asked",
        preview=(
            "ragauge.labels.calibrate.verb:estimate_calibration",
            "ragauge.labels.calibrate.verb:describe_estimate",
        ),
    ),
    Verb(
        function="ragauge.labels.probe.verb:probe_judge",
        command="judge probe",
        help="Test a judge for bias on your own examples.\n\nOrder, wording, repetition and forged verdicts must not "
        "change its verdicts; a wrong number, name, date, unit or negation, or another question's passages, must. Each "
        "example is also judged twice unchanged, so that the judge's own inconsistency does not count as bias.",
        examples=("latest --judge local", "labelled.jsonl --judge openai:gpt-5-mini"),
        outputs="Write the result: .html, .md, .json; repeatable.",
        result="ragauge.labels.probe.verb:ProbeResult",
        progress="probed",
        preview=("ragauge.labels.probe.verb:estimate_probes", "ragauge.labels.probe.verb:describe_estimate"),
    ),
    Verb(function="ragauge.labels.grades.verb:check_grades"),
    Verb(function="ragauge.labels.judges.verb:judge_history"),
)
