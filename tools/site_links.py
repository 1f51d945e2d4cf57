"""What the site does with links to files that are in the repository only, and with addresses elsewhere."""

import re
from typing import Any, Final

# What a browser would load by itself.
_LOADED: Final = re.compile(
    r"""<(?:script|img|iframe|source|video|audio)[^>]*\ssrc=["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|<link(?![^>]*rel=["']?canonical)[^>]*\shref=["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|url\(["']?((?:https?:)?//[^"')]+)"""
)


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Called by mkdocs with every page: links to source files become their names, studies are found after the rest."""
    if page.file.src_uri.startswith(("studies/", "contributing/")):
        page.meta.setdefault("search", {"boost": 0.3})
    return re.sub(r"\[([^]]*)\]\((?:\.\./)+src/[^)]*\)", r"`\1`", markdown)


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    """Called by mkdocs with the HTML of every page."""
    require_own(output, page.file.src_uri)
    return output


def require_own(html: str, name: str) -> None:
    """Raise an error if a page loads something from another server: the site works offline."""
    found = _LOADED.search(html)
    if found:
        raise ValueError(f"{name} loads {next(filter(None, found.groups()))}")
