"""Measures, by language, how the embedder's cosine of unrelated sentences is spread, and writes it beside the judge.

    python bench/language_scales.py FOLDER            # reads treebanks below FOLDER, writes judges/cosine_scales.json
    python bench/language_scales.py FOLDER --check    # exit 1 where the file is not what they give

FOLDER holds clones of the treebanks below (Universal Dependencies, CC BY-SA); no text of them is kept. Two sentences of
a treebank are taken for unrelated: of 600 drawn, hardly any two have a topic in common.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ragauge.judges.similarity import SCALES_FILE
from ragauge.models.embedders.base import WordLlamaEmbedder

TREEBANKS = {
    "ar": "Arabic-PUD",
    "de": "German-PUD",
    "el": "Greek-GUD",
    "en": "English-PUD",
    "es": "Spanish-PUD",
    "fa": "Persian-Seraji",
    "fr": "French-PUD",
    "he": "Hebrew-IAHLTwiki",
    "hi": "Hindi-PUD",
    "it": "Italian-PUD",
    "ja": "Japanese-GSD",
    "ko": "Korean-PUD",
    "nl": "Dutch-Alpino",
    "pl": "Polish-PUD",
    "pt": "Portuguese-PUD",
    "ro": "Romanian-RRT",
    "ru": "Russian-PUD",
    "sv": "Swedish-PUD",
    "th": "Thai-PUD",
    "tr": "Turkish-PUD",
    "uk": "Ukrainian-ParlaMint",
    "vi": "Vietnamese-VTB",
    "zh": "Chinese-PUD",
}
DRAWN = 600  # sentences of a language
SHORTEST = 20  # characters of one
SEED = 1
APART = 0.1  # mean cosine of unrelated sentences up to which they need no other center than zero
SENTENCE = "# text = "
TOLERANCE = 0.002


def sentences(folder: Path) -> list[str]:
    """Sentences drawn from the development and test parts of a treebank."""
    files = [*folder.glob("*-ud-dev.conllu"), *folder.glob("*-ud-test.conllu")]
    lines = (line for file in sorted(files) for line in file.read_text(encoding="utf-8").splitlines())
    found = [line.removeprefix(SENTENCE).strip() for line in lines if line.startswith(SENTENCE)]
    found = [sentence for sentence in found if len(sentence) >= SHORTEST]
    if len(found) < DRAWN:
        sys.exit(f"{folder}: expected at least {DRAWN} sentences, found {len(found)}. Clone the treebank there.")
    return random.Random(SEED).sample(found, DRAWN)


def scale(texts: list[str]) -> dict[str, Any]:
    """Mean vector of the sentences, and the spread of the cosines of any two of them once it is taken away."""
    vectors = np.asarray(WordLlamaEmbedder().embed(texts), dtype=np.float64)
    pairs = np.triu_indices(len(vectors), 1)
    raw = (vectors @ vectors.T)[pairs]
    center = vectors.mean(axis=0) if raw.mean() > APART else np.zeros(vectors.shape[1])
    moved = vectors - center
    moved /= np.linalg.norm(moved, axis=1, keepdims=True)
    return {
        "center": [round(float(value), 4) for value in center] if center.any() else [],
        "spread": round(float((moved @ moved.T)[pairs].std()), 4),
        "unrelated": round(float(raw.mean()), 4),
    }


def written(scales: dict[str, Any]) -> str:
    """The file: a language a line."""
    rows = ",\n".join(f" {json.dumps(language)}: {json.dumps(row)}" for language, row in sorted(scales.items()))
    return f"{{\n{rows}\n}}\n"


def main() -> None:
    """Measures and prints, and writes or checks."""
    folder, kept = Path(sys.argv[1]), {}
    scales = {language: scale(sentences(folder / f"UD_{name}")) for language, name in TREEBANKS.items()}
    for language, row in sorted(scales.items()):
        print(f"{language}  unrelated {row['unrelated']:.2f}  spread once centered {row['spread']:.3f}")
    if "--check" not in sys.argv[2:]:
        SCALES_FILE.write_text(written(scales), encoding="utf-8")
        return
    kept = json.loads(SCALES_FILE.read_text(encoding="utf-8"))
    wrong = [
        language
        for language in {**kept, **scales}
        if language not in kept
        or language not in scales
        or not np.allclose(kept[language]["center"], scales[language]["center"], atol=TOLERANCE)
        or abs(kept[language]["spread"] - scales[language]["spread"]) > TOLERANCE
    ]
    if wrong:
        sys.exit(f"{SCALES_FILE.name} is not what the treebanks give; run it anew: {', '.join(sorted(wrong))}")


if __name__ == "__main__":
    main()
