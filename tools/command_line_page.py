"""The page about the command line, made of the commands themselves."""

from typing import Any

import typer

from crowdwise.cli.app import app


def command_line_page() -> str:
    """Return the page: a section for each command, and a table of options for each of its panels."""
    about = "Written by `make generated` from the commands. `crowdwise COMMAND --help` shows the same."
    lines = ["# Command line", "", about, ""]
    commands = _leaves(typer.main.get_command(app), "crowdwise")
    lines += ["| command | what it does |", "|---|---|"]
    lines += [f"| [`{name}`](#{_anchor(name)}) | {_text(command.help)} |" for name, command in commands]
    for name, command in commands:
        lines += ["", f"## {name}", "", _text(command.help), *_usage(name, command), *_options(command)]
    return "\n".join([*lines, ""])


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


def _options(command: Any) -> list[str]:
    """Return a table for each panel of options."""
    panels: dict[str, list[Any]] = {}
    for one in command.params:
        if one.param_type_name == "option" and not one.hidden and one.name != "help":
            panels.setdefault(getattr(one, "rich_help_panel", None) or "Options", []).append(one)
    lines: list[str] = []
    for panel, options in sorted(panels.items(), key=lambda item: item[0] != "Options"):
        lines += ["", f"| {panel} | |", "|---|---|"]
        lines += [f"| {_names(one)} | {_text(one.help)}{_default(one)} |" for one in options]
    return lines


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
