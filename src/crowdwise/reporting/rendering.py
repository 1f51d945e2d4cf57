"""`render`: turns sections into one HTML page that needs no other file and no network."""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from ..errors import shortened
from .blocks import Section

_ASSETS: Final = Path(__file__).parent / "assets"
# The most characters of a text in the page.
_LONGEST_TEXT: Final = 5000


def render(title: str, heading: str, lead: str, sections: Sequence[Section]) -> str:
    """Return the whole page as HTML; all text that comes from data is escaped.

    Args:
        title: The title in the tab of the browser.
        heading: The heading of the page.
        lead: A sentence under the heading.
        sections: The sections of the page, from top to bottom.
    """
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_ASSETS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        # Sentences may have names in them. What is marked as safe, such as a chart, is whole.
        finalize=lambda value: shortened(value, _LONGEST_TEXT) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    scripts = [_vega(), (_ASSETS / "page.js").read_text(encoding="utf-8")]
    # With this policy the browser runs only these two scripts and loads nothing.
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
    """Return the JavaScript that draws charts (Vega, Vega-Lite and vega-embed); an installed package contains it."""
    import vl_convert

    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # in its stub the snippet is not optional
    return bundle.replace("</script", "<\\/script")


def _digest(script: str) -> str:
    """Return the hash that names a script in a content security policy."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
