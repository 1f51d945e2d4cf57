"""What a command declares about its options: groups of them, which of a group it takes, and what each one needs.

An option that does nothing is refused. A command does not offer options that it has no use for (`Only`), and an option
says which others must be there for it to do something (`Needs`), or must not be (`NotWith`).
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Annotated, Any, Final, NamedTuple, get_args, get_origin

import typer

from ..errors import CallError


class Only:
    """Marks a group of which a command takes some options only.

    Args:
        names: The names of these options.
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
    """A parameter that stands for several options: its type, and the name of the option for each of its fields."""

    kind: Any
    options: Mapping[str, str]


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose groups of options are spread out, as Typer takes it, and that refuses useless options.

    A group is a parameter whose type is a `NamedTuple` of options. If the command has a parameter of its own with
    the name of an option of the group, the one of the group is called `<name>_column`: `--item` is an item in
    `crowdwise explain`, and `--item-column` the column of items. An option of a group that needs others is left out
    of a command that has none of them.
    """
    own = inspect.signature(command, eval_str=True).parameters
    spread: list[inspect.Parameter] = []
    groups: dict[str, _Group] = {}
    context = next((name for name, one in own.items() if one.annotation is typer.Context), None)
    if context is None:
        spread.append(inspect.Parameter(_CONTEXT, inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context))
    for name, parameter in own.items():
        kind, marks = _unmarked(parameter.annotation)
        if not hasattr(kind, "_fields"):
            spread.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        wanted = next((mark.names for mark in marks if isinstance(mark, Only)), kind._fields)
        fields = inspect.signature(kind, eval_str=True).parameters
        usable = [field for field in kind._fields if field in wanted and _can_be_used(fields[field], own)]
        groups[name] = _Group(kind, {field: f"{field}_column" if field in own else field for field in usable})
        for field, option in groups[name].options.items():
            spread.append(fields[field].replace(name=option, kind=inspect.Parameter.KEYWORD_ONLY))
    marked = {one.name: _unmarked(one.annotation)[1] for one in spread}

    @wraps(command)
    def run(**given: Any) -> None:
        _refuse_useless(given[context] if context is not None else given.pop(_CONTEXT), marked, given)
        made = {
            name: group.kind(**{field: given.pop(option) for field, option in group.options.items()})
            for name, group in groups.items()
        }
        command(**made, **given)

    run.__signature__ = inspect.Signature(spread)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in spread}
    return run


# The name of the parameter for the context of a command that does not ask for it.
_CONTEXT: Final = "the_context"


def _unmarked(annotation: Any) -> tuple[Any, Sequence[Any]]:
    """Return the type of a parameter, and what it is marked by."""
    if get_origin(annotation) is not Annotated:
        return annotation, ()
    kind, *marks = get_args(annotation)
    return kind, marks


def _can_be_used(option: inspect.Parameter, own: Mapping[str, Any]) -> bool:
    """Return whether a command has one of the options that an option of a group needs."""
    needs = [mark for mark in _unmarked(option.annotation)[1] if isinstance(mark, Needs)]
    return not needs or any(name.partition("=")[0] in own for name in needs[0].names)


def _refuse_useless(context: typer.Context, marked: Mapping[str, Sequence[Any]], values: Mapping[str, Any]) -> None:
    """Raise `CallError` if an option was given on the command line that does nothing beside the others."""
    spelled = {one.name: max(one.opts, key=len) for one in context.command.params}
    given = {name for name in values if _is_given(context, name)}
    for name in (one for one in marked if one in given):
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


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _is_there(needed: str, given: set[str], values: Mapping[str, Any]) -> bool:
    """Return whether an option that another one needs is given, with the value that it must have."""
    name, equals, value = needed.partition("=")
    return str(values[name]) == value if equals else name in given


def _names_storage(value: Any) -> bool:
    """Return whether the value of an option, or one of its values, is an address in a cloud storage."""
    from ..addresses import CLOUD, scheme_of

    values = value if isinstance(value, list) else [value]
    return any(scheme_of(str(one)) in CLOUD for one in values)
