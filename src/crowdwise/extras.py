"""What only some installations have."""

from importlib.util import find_spec

from .errors import CallError


def require_report(what: str) -> None:
    """Refuse to make `what` where the extra `report` is not installed."""
    missing = [name for name in ("altair", "jinja2", "vl_convert") if find_spec(name) is None]
    if missing:
        raise CallError(f"{what} needs {', '.join(missing)}: pip install 'crowdwise[report]'")
