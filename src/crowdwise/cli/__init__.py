"""The command line: one file for each command, and the code that commands share."""


def main() -> None:
    """Run the command line program.

    Nothing is imported before signals are answered, so that an interrupt is answered also while modules are imported.
    """
    from .signals import end_on_signals

    end_on_signals()
    import gc

    # Importing makes many objects that stay: looking through them for garbage so often would take a tenth of the time.
    gc.set_threshold(50_000)
    from .app import run

    run()


__all__ = ["main"]
