"""Groups of options: a parameter of a command that stands for several options, so that commands do not repeat them."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose groups of options are spread out, as Typer takes it.

    A group is a parameter whose type is a `NamedTuple` of options. If the command has a parameter of its own with
    the name of an option of the group, the one of the group is called `<name>_column`: `--item` is an item in
    `crowdwise explain`, and `--item-column` the column of items.
    """
    own = inspect.signature(command, eval_str=True).parameters
    groups = {name: one.annotation for name, one in own.items() if hasattr(one.annotation, "_fields")}
    names = {
        group: {field: f"{field}_column" if field in own else field for field in kind._fields}
        for group, kind in groups.items()
    }
    spread: list[inspect.Parameter] = []
    for name, parameter in own.items():
        if name not in groups:
            spread.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        for field, option in inspect.signature(groups[name], eval_str=True).parameters.items():
            spread.append(option.replace(name=names[name][field], kind=inspect.Parameter.KEYWORD_ONLY))

    @wraps(command)
    def run(**given: Any) -> None:
        made = {
            group: kind(**{field: given.pop(option) for field, option in names[group].items()})
            for group, kind in groups.items()
        }
        command(**made, **given)

    signature = inspect.Signature(spread)
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in spread}
    return run
