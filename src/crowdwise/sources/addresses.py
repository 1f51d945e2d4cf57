"""Addresses of databases and cloud storages: which there are, and how they are shown without their secrets."""

import os
import re
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import unquote

from ..errors import HIDDEN, CallError, is_address, without_secrets

# Two letters at least, because one is a drive of Windows.
_ADDRESS: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+)://(.*)", re.DOTALL)
# Schemes that polars reads and writes.
CLOUD: Final = ("s3", "s3a", "gs", "gcs", "az", "azure", "adl", "abfs", "abfss", "hf", "http", "https")
# Shorter parts of a password may be in any word of a message.
_SHORTEST_PART: Final = 3


def scheme_of(source: Any) -> str:
    """Return the scheme of an address in lower case; nothing if this is a path, or no text at all.

    >>> scheme_of("S3://bucket/votes.csv"), scheme_of("votes.csv"), scheme_of("file:///votes.csv")
    ('s3', '', '')
    """
    found = _ADDRESS.fullmatch(source) if isinstance(source, str) else None
    scheme = found[1].lower() if found else ""
    return "" if scheme == "file" else scheme


def require_no_address(path: Any, what: str) -> None:
    """Raise `CallError` if this is an address, or looks like one, where only a path will do; it is not repeated.

    Args:
        path: The path.
        what: What is to be there, for the message.
    """
    if isinstance(path, os.PathLike):
        path = os.fspath(path)
    if is_address(path):
        raise CallError(f"{what} is on this machine, and what is given is an address: name a path.")


def shown_address(address: str) -> str:
    """Return an address without its secrets; the whole text is the address.

    >>> shown_address("postgresql://ann:pass@host/db?password=pass"), shown_address("labels.csv")
    ('postgresql://ann:***@host/db?***', 'labels.csv')
    """
    return without_secrets(address, whole=True)


def shown_words(words: Sequence[str]) -> list[str]:
    """Return the words of a command without the secrets of addresses and the values of --storage.

    >>> shown_words(["s3://b/v.csv", "--storage", "aws_secret_access_key=x", "--gold=https://a:b@c/d"])
    ['s3://b/v.csv', '--storage', 'aws_secret_access_key=***', '--gold=https://a:***@c/d']
    """
    shown = []
    for before, word in zip(["", *words], words, strict=False):
        option, equals, value = word.partition("=") if word.startswith("--") and "=" in word else ("", "", word)
        if "--storage" in (before, option):
            value = f"{value.partition('=')[0]}={HIDDEN}"
        shown.append(f"{option}{equals}{shown_address(value)}")
    return shown


def without_password(text: str, address: str) -> str:
    """Return a text in which nothing of an address is left that `shown_address` hides, as it is, decoded or in parts.

    A library that takes an unsound address apart may name a part of the password as the host.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return without_secrets(text)
    text = text.replace(address, shown_address(address))
    rest = found[2]
    # Where the password ends and the query begins is not clear if the password has an @ or a ? in it.
    passwords = [rest[: one.start()].partition(":")[2] for one in re.finditer("@", rest)]
    queries = [rest[one.end() :] for one in re.finditer(r"\?", rest)]
    secrets = [*passwords, *queries, *(one.partition("=")[2] for query in queries for one in query.split("&"))]
    secrets += [part for one in passwords[:1] for part in re.split(r"[/?#]", one) if len(part) >= _SHORTEST_PART]
    for secret in sorted({form for one in secrets for form in (one, unquote(one))}, key=len, reverse=True):
        if secret:
            text = text.replace(secret, HIDDEN)
    return without_secrets(text)
