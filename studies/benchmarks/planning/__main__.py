"""Measures what asking for labels by different strategies brings, and writes docs/studies/planning.md.

python -m studies.benchmarks.planning

The crowds are in the folder that CROWDWISE_DATA names. It takes about 20 minutes on two processors.
"""

import os
import sys
from pathlib import Path

from .measuring import measure
from .page import DOCS, write_page

if __name__ == "__main__":
    folder = Path(os.environ.get("CROWDWISE_DATA", ""))
    if not (folder / "paper").is_dir():
        sys.exit("Set CROWDWISE_DATA to the folder that holds paper/, extra/ and judges/.")
    write_page(measure(folder))
    print(f"Wrote {DOCS / 'planning.md'}")
