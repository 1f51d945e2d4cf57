"""`for_this_command`: the options that a message names, as they are typed in the command that runs.

Messages of the library name an option as in Python and as on the command line: "missing= (--missing)". On the command
line the second is enough. Where the command that runs has no such option, a command that has it is named as well.
"""

import re
from collections.abc import Callable, Iterable
from types import UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

# "missing= (--missing)", 'engine="disk" (--engine disk)', "budget (--budget)", "missing= in Python or --missing on ..."
_VALUE: Final = r"""(?:"[^"]*"|'[^']*'|\[[^]]*\]|[\w.+-]*)"""
_IN_BRACKETS: Final = re.compile(
    rf"\b(?P<name>\w+)(?P<value>={_VALUE})?(?: of cw\.\w+)? \((?P<option>--(?P<spelled>[a-z-]+)[^()]*)\)"
)
_ONLY_IN_PYTHON: Final = re.compile(r" \(\w+=(?: or \w+=)? in Python\)| \(cw\.\w+\)")
_EITHER: Final = re.compile(r"\S+(?:\([^()]*\))? in Python or (--[a-z-]+) on the command line")
# An argument of Python at the beginning, with its value: "budget=0 is not a whole number".
_GIVEN: Final = re.compile(r"\A(\w+)=(?=\S+ (?:is|has to) )")
# The labels of an example, in a command that a message advises.
_EXAMPLE: Final = re.compile(r"(crowdwise (?!rank)[a-z]+) labels\.csv")
# An option, or a command in backquotes, in which options are those of that command.
_OPTION: Final = re.compile(r"`[^`]*`|(?<![\w-])--[a-z][a-z-]*")
# The same, with what may be the value of the option.
_WITH_VALUE: Final = re.compile(
    rf"(?P<option>{_OPTION.pattern})(?P<value> (?:'[^']*'|\w+=\.\.\.|[^\s;:()']*[^\s;,:()'.]))?"
)
# What is a value of any option; words are values where the option has them as choices.
_IS_VALUE: Final = re.compile(r" (?:'.*'|[A-Z]{2,}|\d\S*|[\w-]+=\S+|\S+,\S+)")


class _Running:
    """The command that runs; in a process there is one at a time."""

    context: Any = None
    configured: frozenset[str] = frozenset()
    arguments: str | None = None


def begin(context: Any) -> None:
    """Remember the command that runs, by its context; None for none."""
    _Running.context, _Running.configured, _Running.arguments = context, frozenset(), None


def reads(arguments: str) -> None:
    """Remember how the command that runs reads its labels: files and options, as another command would take them."""
    _Running.arguments = arguments


def at_the_end(call: Callable[[], object]) -> None:
    """Call a function when the command that runs ends, whether it fails or not; at once if none runs."""
    if _Running.context is None:
        call()
    else:
        _Running.context.call_on_close(call)


def configured(flags: Iterable[str]) -> None:
    """Remember which options of the command that runs are from `crowdwise.toml`."""
    _Running.configured = frozenset(flags)


def origin_of(message: str) -> str:
    """Return the end of an error message that says which of the options that it names are from `crowdwise.toml`."""
    named = sorted(set(_OPTION.findall(message)) & _Running.configured)
    return f" ({', '.join(named)}: from crowdwise.toml, which --no-config ignores.)" if named else ""


def for_this_command(message: str) -> str:
    """Return a message in which options are named as in the command that runs.

    >>> for_this_command('Name it with item= in Python or --item-column on the command line.')
    'Name it with --item-column.'
    >>> for_this_command('Use engine="disk" (--engine disk), or name another file (--decisions).')
    'Use --engine disk, or name another file (--decisions).'
    """
    arguments = _Running.arguments
    if arguments is not None:
        message = _EXAMPLE.sub(lambda found: f"{found[1]} {arguments}", message)
    message = _ONLY_IN_PYTHON.sub("", _GIVEN.sub(_as_option, message))
    if "--" not in message:
        return message
    message = _ONLY_IN_PYTHON.sub("", _EITHER.sub(r"\1", _IN_BRACKETS.sub(_typed, message)))
    return message if _Running.context is None else _WITH_VALUE.sub(_placed, message)


def _as_option(found: re.Match[str]) -> str:
    """Return an argument of Python as the option of that name, such as `--review-top` for `top`, if there is one."""
    name, context = found[1].replace("_", "-"), _Running.context
    options = [] if context is None else sorted(_options(context.command, context), key=len)
    meant = next((one for one in options if one == f"--{name}" or one.endswith(f"-{name}")), None)
    return found[0] if meant is None else f"{meant} "


def _typed(found: re.Match[str]) -> str:
    """Return the option in brackets alone if the words before it are the same option in Python."""
    is_same = found["value"] is not None or found["name"].replace("_", "-") == found["spelled"]
    return found["option"] if is_same else found[0]


def _placed(found: re.Match[str]) -> str:
    """Return an option as it is; with a command that has it, if the one that runs does not."""
    option, value, context = found["option"], found["value"] or "", _Running.context
    if option.startswith("`") or option in _options(context.command, context):
        return found[0]
    home = next(iter(commands_with(option, context)), None)
    if home is None:
        return found[0]
    after = ""
    if not (_IS_VALUE.fullmatch(value) or value[1:] in _choices(option, home, context)):
        value, after = "", value
    of, message, end = f"of `crowdwise {home}`", found.string, found.end()
    is_alone = message[found.start() - 1 : found.start()] == "(" and message[end : end + 1] == ")"
    return f"{option}{value} {of if is_alone and not after else f'({of})'}{after}"


def commands_with(option: str, context: Any) -> list[str]:
    """Return the commands that have an option."""
    others = getattr(context.find_root().command, "commands", {})
    return [name for name, command in others.items() if option in _options(command, context)]


def _choices(option: str, name: str, context: Any) -> set[str]:
    """Return the words that an option of a command takes; empty if it takes others, or nothing."""
    (found,) = (one for one in context.find_root().command.commands[name].params if option in one.opts)
    kinds = [found.type_descriptor.annotation]
    kinds += get_args(kinds[0]) if get_origin(kinds[0]) in (Union, UnionType) else ()
    return {choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)}


def _options(command: Any, context: Any) -> set[str]:
    """Return how the options of a command are typed."""
    return {opt for one in command.get_params(context) for opt in one.opts}
