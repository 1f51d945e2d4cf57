"""Addresses of databases and cloud storages: what one is, and how it is shown without its secrets."""

import re
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import unquote

# The schemes that polars reads and writes.
WEB: Final = ("http", "https")
CLOUD: Final = ("s3", "s3a", "gs", "gcs", "az", "azure", "adl", "abfs", "abfss", "hf", *WEB)
# Two letters at least, because one is a drive of Windows.
_ADDRESS: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+)://(.*)", re.DOTALL)
# Where an address begins: a scheme of two letters or more (one is a drive of Windows), a colon and slashes; one slash
# and a backslash are slips. The schemes of databases are known without slashes too, and two slashes without a scheme.
_ADDRESS_START: Final = re.compile(
    r"""(?:[a-z][a-z0-9+.-]{1,30}+:)+[/\\]+
      | (?:jdbc:)?(?:postgres|postgresql|mysql|mariadb|oracle:thin|redshift|snowflake|mongodb|redis)(?:\+\w+)?:(?=\S*@)
      | (?<![\w:/])//(?=\S*@)""",
    re.IGNORECASE | re.VERBOSE,
)
# A name that says that its value is a secret, as in password=..., AccountKey=... or X-Amz-Signature=...; and the value.
_KEYED: Final = re.compile(
    r"""((?: password|passwd|passphrase|pwd|secret|token|signature|credential|\bsig
          | (?:access|account|api|private|shared)[_-]?key )[\w.-]*\s*=\s*)
        (\\?'(?:[^'\\]|\\.)*' | \\?"(?:[^"\\]|\\.)*" | [^\s'"]\S*)""",
    re.IGNORECASE | re.VERBOSE,
)
# The end of a sentence or of a quotation, which belongs to no address before it.
_PUNCTUATION: Final = re.compile(r"""["'`)\]}>,.;:!]*$""")
# Only these have a secret before the @ without a colon: az and abfss have the name of a container there.
_TOKEN_SCHEMES: Final = (*WEB, "ftp")
# What stands for a secret.
HIDDEN: Final = "***"
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


def is_address(text: object) -> bool:
    """Return whether this looks like an address, sound or with a slip in it, and not like a path.

    >>> is_address("s3://bucket/votes.csv"), is_address(" postgresql:/host"), is_address("votes.csv")
    (True, True, False)
    """
    return isinstance(text, str) and _ADDRESS_START.match(text.lstrip()) is not None


def without_secrets(text: str, *, whole: bool = False) -> str:
    """Return a text in which the passwords, keys and signatures of addresses are hidden.

    Hidden are: what is between user and host, however many special characters it has; what follows a question mark,
    which may be a signature; and the values of names such as password= and AccountKey=.

    Args:
        text: The text, such as a message.
        whole: Whether all of the text is one address, which may have spaces in it.

    >>> without_secrets("postgresql://ann:a/b?c#d@host/db cannot be read, nor can host=h password=x")
    'postgresql://ann:***@host/db cannot be read, nor can host=h password=***'
    >>> without_secrets("There is no file 'https://host/votes.csv?sig=abc'.")
    "There is no file 'https://host/votes.csv?***'."
    """
    shown, left = [], text
    # A name may have millions of characters: it is searched only where there can be a scheme, which is short.
    while (":" in left or "//" in left) and (found := _ADDRESS_START.search(left)) is not None:
        shown.append(left[: found.end()])
        left = left[found.end() :]
        size = len(left) if whole else len(left.split(None, 1)[0]) if left[:1].strip() else 0
        # A password with spaces in it: the user's colon is there, and the @ comes later.
        if "@" not in left[:size] and "@" in left[size:] and _password_without_host(left[:size]):
            size = len(left) - len(left[size:].partition("@")[2])
            size += len(left[size:].split(None, 1)[0]) if left[size : size + 1].strip() else 0
        shown.append(_without_credentials(found[0].lower(), left[:size]))
        left = left[size:]
    return _KEYED.sub(_without_value, "".join([*shown, left]))


def _without_value(found: re.Match[str]) -> str:
    """Return a name and no value, for `_KEYED`."""
    quoted_value = found[2].lstrip("\\")[:1] in ("'", '"')
    return f"{found[1]}{HIDDEN}{'' if quoted_value else _end_of(found[2])}"


def _password_without_host(rest: str) -> bool:
    """Return whether what follows the scheme of an address is a user and a password alone, and no host and port."""
    name, colon, more = re.split(r"[/?#]", rest, maxsplit=1)[0].partition(":")
    port = more.rstrip("\"'`)]}>,.;:!")
    return bool(colon and port) and not port.isdigit() and not name.startswith("[")


def _without_credentials(scheme: str, rest: str) -> str:
    """Return what follows the scheme of an address, without password and query."""
    end = _end_of(rest)
    rest = rest[: len(rest) - len(end)]
    before, at, host = rest.rpartition("@")
    user, colon, _ = before.partition(":")
    if at and not re.search(r"[/?#\\]", user):
        if colon:
            rest = f"{user}:{HIDDEN}@{host}"
        elif scheme.partition(":")[0] in _TOKEN_SCHEMES:
            rest = f"{HIDDEN}@{host}"
    elif not at and _password_without_host(rest):
        rest = f"{rest.partition(':')[0]}:{HIDDEN}"
    path, question, query = rest.partition("?")
    return f"{path}?{HIDDEN}{end}" if question and query else f"{rest}{end}"


def _end_of(text: str) -> str:
    """Return the punctuation at the end of a text, such as a quote and a full stop."""
    found = _PUNCTUATION.search(text)
    return found[0] if found else ""


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
