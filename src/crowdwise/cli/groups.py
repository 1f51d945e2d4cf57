"""What a command declares about its options: groups of them, which of a group it takes, and what each one needs.

An option that does nothing is refused. A command does not offer options that it has no use for (`Only`), and an option
says which others must be there for it to do something (`Needs`), or must not be (`NotWith`). Earlier and shorter
spellings (`Alias`) are accepted, and not listed. `Command` draws the help: panels in one order, and of some panels only
the names of the options (`Brief`).
"""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Annotated, Any, Final, NamedTuple, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from ..errors import CallError
from .advice import begin, configured, reads
from .streams import say
from .text import safe

# The panels of options, in the order of the help; the first one has no name of its own.
COLUMNS: Final = "Columns"
CLEANING: Final = "Cleaning"
TABLES: Final = "Tables and databases"
EXPORTS: Final = "Exports and logs"
GOLD: Final = "Gold and history"
DECISIONS: Final = "Decisions"
ENGINE: Final = "Engine"
OUTPUT: Final = "Output"
_PANELS: Final = (None, COLUMNS, CLEANING, TABLES, EXPORTS, GOLD, DECISIONS, ENGINE, OUTPUT)
# Options that every command has at the end of the first panel.
_LAST: Final = ("quiet", "as_json", "no_config")


class Only:
    """Marks a group of which a command takes some options only.

    Args:
        names: The names of these options.
    """

    def __init__(self, *names: str) -> None:
        self.names = names


class Brief:
    """Marks a group whose options in some panels the help of a command only names.

    Args:
        panels: The names of these panels.
    """

    def __init__(self, *panels: str) -> None:
        self.panels = panels


class Alias:
    """Marks an option that has other spellings, which are accepted where no other option of the command has them.

    Args:
        names: These spellings, such as "--item".
    """

    def __init__(self, *names: str) -> None:
        self.names = names


class Needs:
    """Marks an option that does nothing unless one of others is given.

    Args:
        names: The names of the others; "name=value" if it must have this value.
    """

    def __init__(self, *names: str) -> None:
        self.names = names


class NotWith:
    """Marks an option that does nothing if another one is given.

    Args:
        name: The name of the other one.
        reason: The end of the message, after the name of the option.
    """

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason


# Marks an option that is for classes alone.
FOR_CLASSES: Final = NotWith("numeric", "is for classes, and with --numeric labels are numbers: leave one of them out.")


class _Group(NamedTuple):
    """A parameter that stands for several options: its type, and the name of the parameter for each of its fields."""

    kind: Any
    options: Mapping[str, str]


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose groups of options are spread out, as Typer takes it, and that refuses useless options.

    A group is a parameter whose type is a `NamedTuple` of options. An option of a group that needs others is left out
    of a command that has none of them.
    """
    own = inspect.signature(command, eval_str=True).parameters
    spread: list[inspect.Parameter] = []
    groups: dict[str, _Group] = {}
    brief: tuple[str, ...] = ()
    context = next((name for name, one in own.items() if one.annotation is typer.Context), None)
    if context is None:
        spread.append(inspect.Parameter(_CONTEXT, inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context))
    for name, parameter in own.items():
        kind, marks = _unmarked(parameter.annotation)
        if not hasattr(kind, "_fields"):
            spread.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        wanted = next((mark.names for mark in marks if isinstance(mark, Only)), kind._fields)
        brief = next((mark.panels for mark in marks if isinstance(mark, Brief)), brief)
        fields = inspect.signature(kind, eval_str=True).parameters
        usable = [field for field in kind._fields if field in wanted and _can_be_used(fields[field], own)]
        groups[name] = _Group(kind, {field: f"{field}_of_{name}" if field in own else field for field in usable})
        for field, option in groups[name].options.items():
            spread.append(fields[field].replace(name=option, kind=inspect.Parameter.KEYWORD_ONLY))
    takes_config = any("worker" in group.options for group in groups.values()) and command.__name__ != "init"
    if takes_config:
        spread.append(
            inspect.Parameter(_NO_CONFIG, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_NoConfig)
        )
    from_groups = {option for group in groups.values() for option in group.options.values()}
    spread.sort(key=lambda one: _position(one, from_groups))
    marked = {one.name: _unmarked(one.annotation)[1] for one in spread}

    @wraps(command)
    def run(**given: Any) -> None:
        running = given[context] if context is not None else given.pop(_CONTEXT)
        given.pop(_NO_CONFIG, None)
        begin(running)
        _say_what_is_configured(running, given)
        _refuse_useless(running, marked, given)
        made = {
            name: group.kind(**{field: given.pop(option) for field, option in group.options.items()})
            for name, group in groups.items()
        }
        if takes_config:
            reads(next(one for one in made.values() if hasattr(one, "arguments")).arguments())
        command(**made, **given)

    run.__signature__ = inspect.Signature(spread)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in spread}
    # Where a command has a parameter called as a field, as `explain` has `item`, the short form would be ambiguous.
    clear = {name: marks for name, marks in marked.items() if "_of_" not in name}
    aliases = {name: mark.names for name, marks in clear.items() for mark in marks if isinstance(mark, Alias)}
    vars(run).update(aliases=aliases, brief=brief, takes_config=takes_config)
    return run


def flags_of(group: Any) -> dict[str, str]:
    """Return the option of each field of a group, as it is typed: {"item": "--item-column", ...}."""
    flags = {}
    for name, field in inspect.signature(group, eval_str=True).parameters.items():
        option = _option(field)
        # In Annotated, Typer has the first spelling as the default until it makes the option.
        typed = [str(option.default), *(option.param_decls or ())]
        flags[name] = typed[0] if typed[0].startswith("--") else f"--{name}".replace("_", "-")
    return flags


class Command(TyperCommand):
    """A command that accepts the aliases of its options, and whose help shows no types of Python."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Return the context of a command, with what `crowdwise.toml` says as defaults of its options."""
        if getattr(self.callback, "takes_config", False) and not extra.get("resilient_parsing"):
            from .config import is_ignored, read_config

            if not is_ignored(args):
                said = read_config()
                # By option and not by parameter: the `item` of `explain` is an item, and no column.
                keys = {one.name: max(one.opts, key=len).removeprefix("--") for one in self.params}
                extra["default_map"] = {name: said[key] for name, key in keys.items() if name and key in said}
        return super().make_context(info_name, args, parent, **extra)

    def make_parser(self, ctx: Any) -> Any:
        """Return the parser, which takes an alias for the option that it stands for."""
        parser = super().make_parser(ctx)
        aliases: dict[str, tuple[str, ...]] = getattr(self.callback, "aliases", {})
        for param in self.get_params(ctx):
            for alias in aliases.get(param.name, ()):
                parser._long_opt.setdefault(alias, parser._long_opt[max(param.opts, key=len)])
        return parser

    def get_usage(self, ctx: Any) -> str:
        """Return the first line of the help, such as "Usage: crowdwise explain [OPTIONS] FILES..."."""
        return super().get_usage(ctx).replace("{", "").replace("}", "")

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help. Panels that the command marks as `Brief` are one line with the names of their options."""
        brief = getattr(self.callback, "brief", ())
        named = [one for one in self.get_params(ctx) if getattr(one, "rich_help_panel", None) in brief]
        if named:
            names = ", ".join(max(one.opts, key=len) for one in named)
            self.epilog = f"More options for reading, which `crowdwise aggregate --help` explains: {names}."
        _without_types(self, ctx)
        try:
            for one in named:
                vars(one)["hidden"] = True
            super().format_help(ctx, formatter)
        finally:
            for one in named:
                vars(one)["hidden"] = False


class CommandGroup(TyperGroup):
    """A group of commands whose help shows no types of Python."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        _without_types(self, ctx)
        super().format_help(ctx, formatter)


def _without_types(command: TyperCommand | TyperGroup, ctx: Any) -> None:
    """Let the help show a word such as FILE for the value of each option, and nothing for flags and arguments."""
    for one in command.get_params(ctx):
        word = {int: "N", float: "NUMBER"}.get(type(one.default), "TEXT") if one.metavar is None else one.metavar
        no_word = getattr(one, "is_flag", False) or one.param_type_name == "argument"
        vars(one)["display_type_rich"] = partial(_word, "" if no_word else word)


def _word(word: str, ctx: Any) -> str:
    return word


# The option that every command has that reads labels.
_NO_CONFIG: Final = "no_config"
_NoConfig = Annotated[bool, typer.Option("--no-config", help="Ignore crowdwise.toml in this folder.")]
# The name of the parameter for the context of a command that does not ask for it.
_CONTEXT: Final = "the_context"


def _unmarked(annotation: Any) -> tuple[Any, Sequence[Any]]:
    """Return the type of a parameter, and what it is marked by."""
    if get_origin(annotation) is not Annotated:
        return annotation, ()
    kind, *marks = get_args(annotation)
    return kind, marks


def _option(parameter: inspect.Parameter) -> Any:
    """Return what a parameter says about its option; None if it says nothing."""
    return next((mark for mark in _unmarked(parameter.annotation)[1] if hasattr(mark, "param_decls")), None)


def _position(parameter: inspect.Parameter, from_groups: set[str]) -> tuple[int, bool, bool]:
    """Return where an option is in the help: by panel, and in a panel those of the command itself first."""
    panel = getattr(_option(parameter), "rich_help_panel", None)
    place = _PANELS.index(panel) if panel in _PANELS else len(_PANELS)
    return place, parameter.name in _LAST, parameter.name in from_groups


def _can_be_used(option: inspect.Parameter, own: Mapping[str, Any]) -> bool:
    """Return whether a command has one of the options that an option of a group needs."""
    needs = [mark for mark in _unmarked(option.annotation)[1] if isinstance(mark, Needs)]
    return not needs or any(name.partition("=")[0] in own for name in needs[0].names)


def _refuse_useless(context: typer.Context, marked: Mapping[str, Sequence[Any]], values: Mapping[str, Any]) -> None:
    """Raise `CallError` if an option was given on the command line that does nothing beside the others."""
    spelled = _spelled(context)
    given = {name for name in values if _source(context, name) != "DEFAULT"}
    for name in (one for one in marked if one in given and _source(context, one) != _CONFIGURED):
        for mark in marked[name]:
            if isinstance(mark, NotWith) and mark.name in given:
                raise CallError(f"{spelled[name]} {mark.reason}")
        for mark in marked[name]:
            if isinstance(mark, Needs):
                needs = [one for one in mark.names if one.partition("=")[0] in values]
                if not any(_is_there(one, given, values) for one in needs):
                    words = [f"{spelled[one.partition('=')[0]]} {one.partition('=')[2]}".rstrip() for one in needs]
                    raise CallError(f"{spelled[name]} does nothing without {' or '.join(words)}.")
    if "storage" in given and not any(_names_storage(value) for value in values.values()):
        raise CallError(f"{spelled['storage']} does nothing here: no input and no output is in a cloud storage.")


def _spelled(context: typer.Context) -> dict[str, str]:
    """Return how the options of a command are typed, by their names."""
    return {one.name: max(one.opts, key=len) for one in context.command.params}


def _source(context: typer.Context, name: str) -> str:
    source = context.get_parameter_source(name)
    return "DEFAULT" if source is None else source.name


# Where Typer says that the value of an option is from, if `crowdwise.toml` has it.
_CONFIGURED: Final = "DEFAULT_MAP"


def _say_what_is_configured(context: typer.Context, values: Mapping[str, Any]) -> None:
    """Print which options are from `crowdwise.toml`, in a line on standard error."""
    spelled = _spelled(context)
    used = {spelled[name]: value for name, value in values.items() if _source(context, name) == _CONFIGURED}
    if used:
        from .config import said_of

        configured(used)
        if not values.get("quiet"):
            say(safe(said_of({flag.removeprefix("--"): value for flag, value in used.items()})), sys.stderr)


def _is_there(needed: str, given: set[str], values: Mapping[str, Any]) -> bool:
    """Return whether an option that another one needs is given, with the value that it must have."""
    name, equals, value = needed.partition("=")
    return str(values[name]) == value if equals else name in given


def _names_storage(value: Any) -> bool:
    """Return whether the value of an option, or one of its values, is an address in a cloud storage."""
    from ..addresses import CLOUD, scheme_of

    values = value if isinstance(value, list) else [value]
    return any(scheme_of(str(one)) in CLOUD for one in values)
