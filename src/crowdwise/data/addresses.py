"""Addresses of databases and cloud storages: which there are, and how they are shown without their secrets."""

import re
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import unquote

# Two letters at least, because one is a drive of Windows.
_ADDRESS: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+)://(.*)", re.DOTALL)
# Schemes that polars reads and writes.
CLOUD: Final = ("s3", "s3a", "gs", "gcs", "az", "azure", "adl", "abfs", "abfss", "hf", "http", "https")
_HIDDEN: Final = "***"


def scheme_of(source: Any) -> str:
    """Return the scheme of an address in lower case; nothing if this is a path, or no text at all.

    >>> scheme_of("S3://bucket/votes.csv"), scheme_of("votes.csv"), scheme_of("file:///votes.csv")
    ('s3', '', '')
    """
    found = _ADDRESS.fullmatch(source) if isinstance(source, str) else None
    scheme = found[1].lower() if found else ""
    return "" if scheme == "file" else scheme


def shown_address(address: str) -> str:
    """Return an address without the password in it, and without what follows a question mark, which may be a key.

    >>> shown_address("postgresql://ann:pass@host/db?password=pass"), shown_address("labels.csv")
    ('postgresql://ann:***@host/db?***', 'labels.csv')
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return address
    rest, question, _ = found[2].partition("?")
    rest, hash_, _ = rest.partition("#")
    before, at, host = rest.rpartition("@")
    if at and "/" not in before.partition(":")[0]:
        user, colon, _ = before.partition(":")
        rest = f"{user}{f':{_HIDDEN}' if colon else ''}@{host}"
    return f"{found[1]}://{rest}{f'?{_HIDDEN}' if question else ''}{hash_}"


def without_secrets(words: Sequence[str]) -> list[str]:
    """Return the words of a command without the passwords of addresses and the values of --storage.

    >>> without_secrets(["s3://b/v.csv", "--storage", "aws_secret_access_key=x", "--gold=https://a:b@c/d"])
    ['s3://b/v.csv', '--storage', 'aws_secret_access_key=***', '--gold=https://a:***@c/d']
    """
    shown = []
    for before, word in zip(["", *words], words, strict=False):
        option, equals, value = word.partition("=") if word.startswith("--") and "=" in word else ("", "", word)
        if "--storage" in (before, option):
            value = f"{value.partition('=')[0]}={_HIDDEN}"
        shown.append(f"{option}{equals}{shown_address(value)}")
    return shown


def without_password(text: str, address: str) -> str:
    """Return a text in which nothing of an address is left that `shown_address` hides, as it is or decoded."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return text
    text = text.replace(address, shown_address(address))
    rest, _, query = found[2].partition("?")
    secrets = [rest.rpartition("@")[0].partition(":")[2]]
    secrets += [value for one in query.split("&") if (value := one.partition("=")[2])] + ([query] if query else [])
    for secret in sorted({form for one in secrets for form in (one, unquote(one))}, key=len, reverse=True):
        if secret:
            text = text.replace(secret, _HIDDEN)
    return text
