"""The command line: one file for each command, and the code that commands share."""


def main() -> None:
    """Run the command line program.

    Nothing is imported before signals are answered, so that an interrupt is answered also while modules are imported.
    """
    from .signals import end_on_signals

    end_on_signals()
    from .app import run

    run()


__all__ = ["main"]
