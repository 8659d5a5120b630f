#!/usr/bin/env bash
# Installs ragauge into an environment of its own: the job's python and what is installed there stay as they are, so
# that the system finds its own packages. Tells the next steps where the command is.
#
#   RAGAUGE_PYTHON   interpreter that the environment is made with
#   RAGAUGE_PACKAGE  what pip installs
#   RAGAUGE_HOME     folder of the environment; made anew
set -euo pipefail

"$RAGAUGE_PYTHON" -m venv --clear "$RAGAUGE_HOME"
commands=$RAGAUGE_HOME/bin
if [[ -d $RAGAUGE_HOME/Scripts ]]; then     # Windows
    commands=$RAGAUGE_HOME/Scripts
fi
"$commands/python" -m pip install --quiet "$RAGAUGE_PACKAGE"
printf 'command=%s\n' "$commands/ragauge" >> "$GITHUB_OUTPUT"
