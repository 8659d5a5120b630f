"""The verbs about the parts of a system; see `verbs/registry.py`."""

from ragauge.verbs.registry import Verb, VerbGroup

GROUPS = (
    VerbGroup(
        command="component",
        help="Study one part of a system: chunking, embeddings or the vector index.",
        panel="Components",
    ),
    VerbGroup(
        command="study",
        help="List, show and delete stored studies, such as sweeps and chunking studies.",
        panel="Components",
    ),
)
PAGES = ("ragauge.studies.page",)
FILES = "Output: .md, .html, .json, .csv."
STUDY = "ragauge.studies.result:StudyResult"
VERBS = (
    Verb(
        function="ragauge.studies.sweep.verb:sweep",
        command="sweep",
        help="Try configurations of a system, drop clear losers early, and recommend one with its certainty.\n\nWhat "
        "is typed goes before the file. The same command goes on with a sweep that was stopped; wider parameters join.",
        examples=("-o sweep.html", "--system reference:docs --set golden.jsonl --preset top_k"),
        panel="Components",
        run_as="ragauge.studies.sweep.command:sweep",
    ),
    Verb(
        function="ragauge.studies.chunking.verb:chunking",
        command="component chunking",
        help="Say which way of cutting documents brings most of the evidence into the context.\n\nEvery chunker is a "
        "trial of a study. The same command goes on with a study that was stopped.",
        examples=(
            "set.jsonl --corpus docs/ --chunker token:size=200",
            "set.jsonl --corpus docs/ --chunker my_app:split",
        ),
        outputs=FILES,
        result=STUDY,
    ),
    Verb(
        function="ragauge.studies.embeddings.verb:embeddings",
        command="component embeddings",
        help="Say which embedder finds what is relevant, at what size and price; BM25 always runs too.\n\nEvery "
        "embedder, number of dimensions and precision is a trial of a study. Vectors are kept: the same command goes "
        "on with a study that was stopped, and embeds no text twice.",
        examples=("beir/ --corpus beir/ --embedder local", "set.jsonl --corpus docs/ --embedder my_app:embed"),
        outputs=FILES,
        result=STUDY,
    ),
    Verb(
        function="ragauge.studies.ann.verb:ann",
        command="component ann",
        help="Say what an approximate index of vectors misses, and how fast it is at what recall.\n\nEvery setting is "
        "a trial of a study. The same command goes on with a study that was stopped. `component ann check` asks an "
        "index of a study again.",
        examples=(
            "vectors.npy --queries queries.npy --index usearch",
            "vectors.parquet --holdout 500 --index hnswlib:M=16,32",
        ),
        outputs=FILES,
        result=STUDY,
    ),
    Verb(
        function="ragauge.studies.ann.verb:ann_check",
        command="component ann check",
        help="Ask an index again over the vectors as they are now. Exit 0: pass, 3: fail, 4: not enough queries to "
        "tell.\n\nFit for a schedule: the run is kept, and `ragauge runs` lists it.",
        examples=("ann-vectors --queries queries.npy", "ann-vectors --queries queries.npy -o ann.xml"),
        outputs="Write the verdict to a file: .xml (JUnit), .md or .json.",
        result="ragauge.gating.gate_result:GateResult",
    ),
    Verb(function="ragauge.studies.ann.verb:exact_neighbours"),
    Verb(
        function="ragauge.studies.verb:list_stored_studies",
        command="study list",
        help="List the stored studies, newest first.",
        examples=("", "--json"),
        public=False,
        reads_only=True,
        sections="ragauge.studies.tables:build_list_sections",
    ),
    Verb(
        function="ragauge.studies.verb:open_study",
        command="study show",
        help="Show a study: its trials, which may be the best, which to take.",
        examples=("chunking-questions", "embeddings-questions --base local --decide point"),
        run_as="ragauge.studies.command:show",
    ),
    Verb(
        function="ragauge.studies.verb:open_study",
        command="study export",
        help="Write one row per trial: parameters, measurements and means.",
        examples=("ann-vectors -o trials.csv", "ann-vectors -o trials.json"),
        run_as="ragauge.studies.command:write_study",
    ),
    Verb(
        function="ragauge.studies.verb:open_study",
        command="study report",
        help="Write a study's report.",
        examples=("ann-vectors -o study.html", "ann-vectors -o study.md"),
        run_as="ragauge.studies.command:write_study",
    ),
    Verb(
        function="ragauge.studies.verb:delete_study",
        command="study delete",
        help="Delete a study with the runs of its trials.",
        examples=("chunking-questions", "chunking-questions --yes"),
        public=False,
        run_as="ragauge.studies.command:delete",
    ),
)
