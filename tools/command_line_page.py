"""The page about the command line, made of the commands themselves."""

from collections import Counter
from typing import Any, Final

import typer

from crowdwise.cli.app import app
from crowdwise.cli.options import Reading

# An option that is the same in so many commands is described once.
_SHARED: Final = 3
_ABOUT: Final = (
    "Options that mean the same in several commands are described once, at the end. `crowdwise COMMAND --help` "
    "shows the options of one command. This page is made from the commands by `make generated`."
)


def command_line_page() -> str:
    """Return the page: a section for each command with its own options, and two for those that several share."""
    commands = _leaves(typer.main.get_command(app), "crowdwise")
    uses = Counter(_row(one) for _, command in commands for _, one in _panels(command))
    shared = {row for row, count in uses.items() if count >= _SHARED}
    together = [(panel, one) for _, command in commands for panel, one in _panels(command) if _row(one) in shared]
    reading = {_row(one): (panel, one) for panel, one in together if one.name in Reading._fields}
    others = {row: (panel, one) for panel, one in together if (row := _row(one)) not in reading}
    lines = ["# Command line", "", _ABOUT, "", "| command | what it does |", "|---|---|"]
    lines += [f"| [`{name}`](#{_anchor(name)}) | {_text(command.help)} |" for name, command in commands]
    for name, command in commands:
        own = [(panel, one) for panel, one in _panels(command) if _row(one) not in shared]
        lines += ["", f"## {name}", "", _text(command.help), *_usage(name, command), *_tables(own)]
        lines += _also({_row(one): one for _, one in _panels(command)}, reading, others)
    lines += ["", "## Options for reading labels", *_tables(list(reading.values()))]
    lines += ["", "## Shared options", *_tables(list(others.values()))]
    return "\n".join([*lines, ""])


def _also(options: dict[str, Any], reading: dict[str, Any], others: dict[str, Any]) -> list[str]:
    """Return a sentence about the options of a command that are described at the end of the page, if it has any."""
    read = [row for row in reading if row in options]
    missing = [_long_name(one) for row, (_, one) in reading.items() if row not in options]
    parts = []
    if read and len(missing) < len(read):
        but = f" but {_listed(missing)}" if missing else ""
        parts.append(f"all [options for reading labels](#options-for-reading-labels){but}")
    elif read:
        names = _listed([_long_name(options[row]) for row in read])
        parts.append(f"of the [options for reading labels](#options-for-reading-labels) {names}")
    further = [_long_name(options[row]) for row in others if row in options]
    if further:
        parts.append(f"of the [shared options](#shared-options) {_listed(further)}")
    return ["", f"Also {'; '.join(parts)}."] if parts else []


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _leaves(command: Any, name: str) -> list[tuple[str, Any]]:
    """Return all commands that have no commands of their own, with their whole names."""
    if not hasattr(command, "commands"):
        return [(name, command)]
    return [leaf for part, one in command.commands.items() if not one.hidden for leaf in _leaves(one, f"{name} {part}")]


def _usage(name: str, command: Any) -> list[str]:
    arguments = [f"{one.metavar or one.name.upper()}{'...' * (one.nargs != 1)}" for one in _arguments(command)]
    return ["", f"    {name} {' '.join(['[OPTIONS]', *arguments])}"]


def _arguments(command: Any) -> list[Any]:
    return [one for one in command.params if one.param_type_name == "argument"]


def _panels(command: Any) -> list[tuple[str, Any]]:
    """Return the options of a command that are not hidden, each with the name of its panel."""
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    return [(getattr(one, "rich_help_panel", None) or "Options", one) for one in options if one.name != "help"]


def _row(option: Any) -> str:
    """Return the row of a table that describes an option."""
    return f"| {_names(option)} | {_text(option.help)}{_default(option)} |"


def _tables(options: list[tuple[str, Any]]) -> list[str]:
    """Return a table for each panel, of options with the names of their panels."""
    panels: dict[str, list[str]] = {}
    for panel, one in options:
        panels.setdefault(panel, []).append(_row(one))
    lines: list[str] = []
    for panel, rows in sorted(panels.items(), key=lambda item: item[0] != "Options"):
        lines += ["", f"| {panel} | |", "|---|---|", *rows]
    return lines


def _long_name(option: Any) -> str:
    """Return the name of an option that begins with two hyphens."""
    return next((name for name in option.opts if name.startswith("--")), str(option.opts[0]))


def _names(option: Any) -> str:
    """Return the names of an option, the long one first, and what it takes."""
    names = sorted((*option.opts, *option.secondary_opts), key=lambda name: not name.startswith("--"))
    metavar = "" if option.is_flag else f" {option.metavar or option.name.upper()}"
    return ", ".join([f"`{names[0]}{metavar}`", *(f"`{name}`" for name in names[1:])]).replace("|", "\\|")


def _default(option: Any) -> str:
    shown = option.show_default and option.default not in (None, False, True, (), [])
    return f" Default: {option.default}." if shown and not callable(option.default) else ""


def _text(text: str | None) -> str:
    """Return a text in one line that cannot break a table."""
    return " ".join((text or "").split()).replace("|", "\\|").replace("<", "&lt;")


def _anchor(name: str) -> str:
    return name.replace(" ", "-")
