"""`crowdwise warm-up`: compile the kernels that other commands need, so that their first run need not wait for that."""

from . import options


def warm_up(
    methods: options.MethodKeys = None,
    quiet: options.Quiet = False,
) -> None:
    """Compile machine code in advance, for container images and clusters."""
    from ..reporting.warming import warm_up as compile_all
    from .terminal import Terminal

    terminal = Terminal(quiet)
    keys = None if methods is None else [key.strip() for key in methods.split(",")]

    def say(number: int, count: int, what: str) -> None:
        terminal.remark(f"Compiling for {what} ({number + 1} of {count}).")

    folder = compile_all(keys, progress=say)
    terminal.remark(f"Compiled for {'all methods' if keys is None else ', '.join(keys)}, and kept in {folder}.")
