"""From sections to one file of HTML that needs nothing else: no other file, no network."""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from .blocks import Section

_ASSETS: Final = Path(__file__).parent / "assets"


def render(title: str, heading: str, lead: str, sections: Sequence[Section]) -> str:
    """The whole page as HTML; whatever comes from data is escaped.

    Args:
        title: What the browser's tab shows.
        heading: The heading of the page.
        lead: A sentence under the heading.
        sections: What the page shows, from top to bottom.
    """
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_ASSETS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    scripts = [_vega(), (_ASSETS / "page.js").read_text(encoding="utf-8")]
    # The browser runs these two scripts and no other, and lets nothing be loaded.
    policy = "; ".join(
        [
            "default-src 'none'",
            "script-src " + " ".join(f"'sha256-{_digest(script)}'" for script in scripts),
            "style-src 'unsafe-inline'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return environment.get_template("page.html.j2").render(
        title=title,
        heading=heading,
        lead=lead,
        sections=sections,
        policy=policy,
        # Only our own scripts and style are exempt from escaping.
        scripts=[Markup(script) for script in scripts],
        style=Markup((_ASSETS / "style.css").read_text(encoding="utf-8")),
    )


@cache
def _vega() -> str:
    """Vega, Vega-Lite and their embedding as one script, from the package, not from a network."""
    import vl_convert

    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub forgets that the snippet is optional
    return bundle.replace("</script", "<\\/script")


def _digest(script: str) -> str:
    """The hash by which a security policy names a script."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
