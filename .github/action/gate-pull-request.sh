#!/usr/bin/env bash
# Holds the checked-out commit to the rules of ragauge.yaml, against the commit that it branched off from.
#
# The system answers the eval set at both commits (the baseline's answers are kept in the store and not asked for
# again), both are evaluated alike, and the gate decides. Exit code: 0 pass, 3 fail, 4 not enough data, else an error.
#
#   RAGAUGE_SYSTEM     command that answers the eval set and writes RAGAUGE_RESPONSES; run at the root of each commit
#   RAGAUGE_RESPONSES  the file that it writes, relative to that root
#   RAGAUGE_SET        eval set, relative to the root; that of the checked-out commit serves both. Empty: the questions
#                      stand in the responses
#   RAGAUGE_BASE       what is merged into; origin/main by default
#   RAGAUGE_CONFIG     file with the section gate; ragauge.yaml by default
#   RAGAUGE_METRICS    metrics to measure; the default preset when empty
#   RAGAUGE_JUDGE      local by default
#   RAGAUGE_STORE      URL of the store; .ragauge/ragauge.db here by default
#   RAGAUGE_OUTPUT     folder of the reports; ragauge-gate by default
set -euo pipefail

: "${RAGAUGE_SYSTEM:?is not set: the command that answers the eval set}"
: "${RAGAUGE_RESPONSES:?is not set: the file that RAGAUGE_SYSTEM writes}"
root=$PWD
config=${RAGAUGE_CONFIG:-ragauge.yaml}
output=${RAGAUGE_OUTPUT:-ragauge-gate}
export RAGAUGE_STORE=${RAGAUGE_STORE:-sqlite:///$root/.ragauge/ragauge.db}
if [[ -n ${RAGAUGE_SET:-} && $RAGAUGE_SET != /* ]]; then
    export RAGAUGE_SET=$root/$RAGAUGE_SET
fi
mkdir -p "$root/.ragauge"

there=""
finish() {     # whatever happened: nothing is left behind, and the verdict is told
    local code=$?
    if [[ -n $there ]]; then
        git worktree remove --force "$there/base" > /dev/null 2>&1 || true
        rm -rf "$there"
    fi
    if [[ -n ${GITHUB_OUTPUT:-} ]]; then
        case $code in
            0) verdict=pass ;;
            3) verdict=fail ;;
            4) verdict=not_enough_data ;;
            *) verdict=error ;;
        esac
        printf 'verdict=%s\n' "$verdict" >> "$GITHUB_OUTPUT"
    fi
}
trap finish EXIT

into=${RAGAUGE_BASE:-origin/main}
head=$(git rev-parse HEAD)
if ! base=$(git merge-base "$into" HEAD 2> /dev/null); then
    echo "ragauge: no commit that $into and HEAD come from is here. Check out the whole history (actions/checkout with" \
        "fetch-depth: 0), or name what is merged into (RAGAUGE_BASE; the action's input base)." >&2
    exit 1
fi

if [[ -n ${RAGAUGE_SET:-} ]]; then
    ragauge validate "$config" --set "$RAGAUGE_SET"
else
    ragauge validate "$config"
fi

how=(--judge "${RAGAUGE_JUDGE:-local}" --quiet)
if [[ -n ${RAGAUGE_METRICS:-} ]]; then
    how+=(--metrics "$RAGAUGE_METRICS")
fi

evaluate() {     # DIRECTORY NAME: answers the eval set there, and evaluates the answers
    local files=()
    if [[ -n ${RAGAUGE_SET:-} ]]; then
        files+=("$RAGAUGE_SET")
    fi
    echo "ragauge: answering the eval set at $2"
    (cd "$1" && bash -euo pipefail -c "$RAGAUGE_SYSTEM")
    files+=("$1/$RAGAUGE_RESPONSES")
    ragauge evaluate "${files[@]}" --name "$2" "${how[@]}" > /dev/null
}

head_run=commit-${head:0:12}
base_run=commit-${base:0:12}

if ragauge show "$base_run" > /dev/null 2>&1; then
    echo "ragauge: the answers at $base_run are in the store"
    ragauge evaluate "$base_run" "${how[@]}" > /dev/null
else
    there=$(mktemp -d)
    git worktree add --quiet --detach "$there/base" "$base"
    evaluate "$there/base" "$base_run"
fi
evaluate "$root" "$head_run"

mkdir -p "$output"
ragauge report "$head_run" --baseline "$base_run" -o "$output/report.html"
code=0
ragauge gate "$head_run" --baseline "$base_run" --config "$config" \
    -o "$output/gate.xml" -o "$output/gate.md" -o "$output/gate.json" || code=$?

if [[ -n ${GITHUB_OUTPUT:-} && -f $output/gate.md ]]; then
    printf 'output=%s\n' "$output" >> "$GITHUB_OUTPUT"
fi
exit "$code"
