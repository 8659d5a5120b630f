"""What `rg.evaluate` of three lines loads and runs of the package: modules, functions, and the files that they are in.

python bench/evaluate_imports.py          # a file of three lines, the local judge, the default metrics
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import Any

LINES = [
    {
        "query": f"Who wrote book {n}?",
        "answer": f"Ada wrote book {n}.",
        "references": [f"Ada wrote book {n}."],
        "passages": [{"doc_id": f"d{n}", "text": f"Book {n} was written by Ada in 1912."}],
        "relevant": [f"d{n}"],
    }
    for n in range(3)
]


def main() -> None:
    """Prints both counts beside what is asked."""
    import ragauge as rg

    package = str(Path(rg.__file__).parent)
    ran: set[tuple[str, str]] = set()

    def called(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        function = code.co_flags & CO_OPTIMIZED and not code.co_name.startswith("<")  # no class body, no expression
        if event == "call" and function and code.co_filename.startswith(package):
            ran.add((code.co_filename, code.co_qualname))

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "three.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in LINES), encoding="utf-8")
        threading.setprofile(called)
        sys.setprofile(called)
        try:
            rg.evaluate(path, store=f"sqlite:///{folder}/three.db")
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type] # None ends it
    loaded = sorted(name for name in sys.modules if name.partition(".")[0] == "ragauge")
    files = {file for file, _ in ran}
    print(f"modules loaded: {len(loaded)} (asked: at most 300)")
    print(f"functions run: {len(ran):,} in {len(files)} files (asked: at most 600 in 130)")
    if "--list" in sys.argv:
        run = {Path(file).relative_to(package).with_suffix("").as_posix().replace("/", ".") for file in files}
        print("loaded and never run:", *(one for one in loaded if one.removeprefix("ragauge.") not in run), sep="\n  ")


if __name__ == "__main__":
    main()
