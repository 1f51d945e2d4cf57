"""The page: gather the sections, fill the template, write one file that needs nothing else."""

import base64
import hashlib
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

from ..analysis.explanation import require_same
from ..data.labels import Labels, shares
from ..data.reading import read_truth
from ..data.writing import check_page, write_text
from ..errors import require_extra
from ..methods.mv import MajorityVote
from ..results.convergence import Convergence
from ..results.learned import Learned
from ..results.result import Result

_HERE = Path(__file__).parent / "assets"


def report(
    labels: Labels,
    result: Result,
    truth: Any = None,
    path: str | PathLike[str] = "report.html",
    *,
    command: str | None = None,
) -> None:
    """Write a page about a crowd and what a method found, for people who would rather look than read.

    It is one file that loads nothing, opens in any browser, follows light and dark, and prints. Needs the extra
    `report`: pip install 'crowdwise[report]'.

    Args:
        labels: What the workers said.
        result: What a method found from them.
        truth: True labels, if some are known: a path, a table, or a mapping from item to class.
        path: Where to write it; ends in .html.
        command: How to make it again, for the last section; the Python call if None.

    >>> import tempfile
    >>> import crowdwise as cw
    >>> crowd = cw.simulate(50, 10, seed=1)
    >>> path = Path(tempfile.mkdtemp()) / "report.html"
    >>> report(crowd.labels, cw.BWA().fit(crowd.labels), crowd.truth, path)
    >>> path.read_text(encoding="utf-8").startswith("<!doctype html>")
    True
    """
    require_extra("report", "A report")
    check_page(path)
    require_same(result, labels)
    known = None if truth is None else read_truth(truth)
    call = f"cw.report(labels, cw.{result.method!r}.fit(labels){'' if truth is None else ', truth'})"
    write_text(path, render("report.html.j2", gather(labels, result, known, command or call)))


def gather(labels: Labels, result: Result, truth: Any, command: str) -> dict[str, Any]:
    """All sections, by name."""
    from .sections.classes import classes  # these need the extra
    from .sections.crowd import glance
    from .sections.items import items
    from .sections.provenance import provenance
    from .sections.truth import truth as against_truth
    from .sections.workers import workers

    # Built here because `MajorityVote` refuses votes that name several classes; shares are well defined.
    votes = Result.build(
        MajorityVote(), labels, shares(labels), "weight", convergence=Convergence(0, True, 0.0), workers=Learned()
    )
    return {
        "crowd": glance(labels, result, votes),
        "classes": classes(labels, result),
        "workers": workers(labels, result),
        "items": items(labels, result),
        "truth": None if truth is None else against_truth(labels, result, votes, truth),
        "made": provenance(result.method, labels, command),
        "scale": result.scale,
        "converged": result.convergence.converged,
        "ending": str(result.convergence),
    }


def render(template: str, content: dict[str, Any]) -> str:
    """Fill a template of this package; whatever comes from data is escaped."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    scripts = [_vega(), (_HERE / "page.js").read_text(encoding="utf-8")]
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
    return environment.get_template(template).render(
        content,
        policy=policy,
        scripts=[Markup(script) for script in scripts],
        style=Markup((_HERE / "style.css").read_text(encoding="utf-8")),
    )


@cache
def _vega() -> str:
    """Vega, Vega-Lite and their embedding as one script, from the package, not from a network."""
    import vl_convert

    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub forgets that the snippet is optional
    return bundle.replace("</script", "<\\/script")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
