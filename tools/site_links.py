"""What the site does with links to source files, which are in the repository only: it shows their text."""

import re
from typing import Any


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs with every page."""
    return re.sub(r"\[([^]]*)\]\(\.\./src/[^)]*\)", r"`\1`", markdown)
