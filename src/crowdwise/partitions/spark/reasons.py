"""Say in one line why Spark could not do something."""

from ...system import first_line


def reason(problem: BaseException) -> str:
    """Return the first line of an error of Spark; of an error in Java, that of Java, because Python's says nothing."""
    in_java = getattr(problem, "java_exception", None)
    return first_line(problem if in_java is None else RuntimeError(in_java.toString()))
