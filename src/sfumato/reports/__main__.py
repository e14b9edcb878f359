"""Compile the templates of all pages ahead: ``python -m sfumato.reports``, once after installing.

Without it the first release compiles those that it needs.
"""

from __future__ import annotations

from sfumato.reports.pages import environment


def main() -> None:
    """Loading a template keeps its compiled form."""
    jinja_environment = environment()
    for name in jinja_environment.list_templates(extensions=["j2"]):
        jinja_environment.get_template(name)


if __name__ == "__main__":
    main()
