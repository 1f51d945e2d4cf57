"""For the documentation site: show the examples in docstrings as code, and options with their types and defaults.

mkdocstrings takes a docstring for Markdown, in which `>>>` is a quotation within a quotation within a quotation.
"""

from typing import Any

import griffe


class Doctests(griffe.Extension):  # type: ignore[misc]  # griffe is not installed where types are checked
    """Puts fences around the examples in docstrings."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Change the docstring of a module, a class or a function."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


class Options(griffe.Extension):  # type: ignore[misc]
    """Lists the options of `read_labels`, which takes them as `**options: Unpack[ReadKeywords]`."""

    def on_package(self, *, pkg: Any, **_: Any) -> None:
        """Change the parameters of `read_labels`."""
        function = pkg["reading.read_labels.read_labels"]
        options = pkg["crowd.read_options"]
        del function.parameters["options"]
        keywords = options["ReadKeywords"].all_members
        for name, field in options["ReadOptions"].members.items():
            if name in keywords:
                function.parameters.add(
                    griffe.Parameter(
                        name,
                        annotation=keywords[name].annotation,
                        kind=griffe.ParameterKind.keyword_only,
                        default="{}" if name == "storage" else field.value,
                    )
                )


def fenced(text: str) -> str:
    r"""Return a docstring with fences around its examples.

    >>> fenced("What it does.\n\n>>> 1 + 1\n2\n\nMore.").splitlines()
    ['What it does.', '', '```python', '>>> 1 + 1', '2', '```', '', 'More.']
    """
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        begins, ends = line.startswith(">>>") and not inside, inside and not line.strip()
        if begins or ends:
            lines.append("```python" if begins else "```")
            inside = begins
        lines.append(line)
    return "\n".join([*lines, "```"] if inside else lines)
