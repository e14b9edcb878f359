"""A report's page as an outline: heads, paragraphs, lists, tables and pictures in words.

The page is the one source: whatever it says is in the outline, of every kind of release and in every language. So the
report as text and as JSON has the same content.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html.parser import HTMLParser
from textwrap import wrap
from typing import Any, Literal

WIDTH = 80
"""The columns of a terminal that a text is set for."""
_HEADS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4}
_BLOCKS = ("p", "li", "dt", "dd", "figcaption", "caption", "footer", *_HEADS)
_UNSHOWN = ("style", "title", "svg", "nav")
_AGAIN = "if-narrow"
"""What a page shows once more, on a phone only."""

Form = Literal["head", "paragraph", "item", "term", "table", "picture"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One piece of a page."""

    form: Form
    """What it is."""
    text: str = ""
    """Its words."""
    about: str = ""
    """Of a term: what the words are about."""
    level: int = 0
    """Of a head: 1 for the page's, 2 for a section's, and so on."""
    rows: tuple[tuple[str, ...], ...] = ()
    """Of a table: its cells."""

    def to_json(self) -> dict[str, Any]:
        """What the block says."""
        if self.form == "table":
            return {"form": "table", "rows": [list(row) for row in self.rows]}
        more = {"about": self.about} if self.about else {"level": self.level} if self.level else {}
        return {"form": self.form, "text": self.text, **more}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A whole page."""

    language: str
    """The language it speaks."""
    blocks: tuple[Block, ...]
    """Its pieces in order."""

    @classmethod
    def of(cls, page: str) -> Outline:
        r"""The outline of a page that sfumato made.

        >>> Outline.of("<html lang='en'><h2>Risk</h2><p>1 in <b>5</b></p>").text()
        'Risk\n----\n\n1 in 5'
        """
        reader = _Reader()
        reader.feed(page)
        reader.close()
        return cls(language=reader.language, blocks=tuple(reader.blocks))

    def text(self) -> str:
        """As plain text in lines of 80 columns; a table too wide for that stands row by row."""
        return "\n\n".join(part for part in map(_shown, self._runs()) if part)

    def to_json(self) -> dict[str, Any]:
        """Section by section."""
        sections: list[dict[str, Any]] = [{"title": "", "level": 1, "blocks": []}]
        for block in self.blocks:
            if block.form == "head" and block.level <= 2:
                sections.append({"title": block.text, "level": block.level, "blocks": []})
            else:
                sections[-1]["blocks"].append(block.to_json())
        return {
            "language": self.language,
            "sections": [section for section in sections if section["title"] or section["blocks"]],
        }

    def _runs(self) -> Iterable[list[Block]]:
        """Blocks that stand together: the items of a list, terms with their words, or one block alone."""
        run: list[Block] = []
        for block in self.blocks:
            if run and not (block.form == run[-1].form and block.form in ("item", "term")):
                yield run
                run = []
            run.append(block)
        if run:
            yield run


def _shown(run: list[Block]) -> str:
    """One run as lines."""
    first = run[0]
    if first.form == "head":
        mark = "=" if first.level == 1 else "-"
        line = "" if first.level > 2 else "\n" + mark * min(len(first.text), WIDTH)
        return first.text + line
    if first.form == "item":
        return "\n".join(_wrapped(block.text, first="- ") for block in run)
    if first.form == "term":
        return "\n".join(_wrapped(f"{block.about}: {block.text}", hang=2) for block in run)
    if first.form == "table":
        return _table(first.rows)
    return _wrapped(f"[{first.text}]" if first.form == "picture" else first.text)


def _wrapped(text: str, *, first: str = "", hang: int | None = None) -> str:
    return "\n".join(wrap(text, WIDTH, initial_indent=first, subsequent_indent=" " * (hang or len(first))))


def _table(rows: tuple[tuple[str, ...], ...]) -> str:
    """Cells in columns where they fit, and else every row as a line of its own."""
    most = max(map(len, rows), default=0)
    widths = [max(len(row[at]) if at < len(row) else 0 for row in rows) for at in range(most)]
    if sum(widths) + 2 * (most - 1) <= WIDTH:
        return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=False)).rstrip() for row in rows)
    return "\n".join(_wrapped("; ".join(cell for cell in row if cell), first="- ") for row in rows)


class _Reader(HTMLParser):
    """Reads a page into blocks."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.language = "en"
        self.blocks: list[Block] = []
        self._tag, self._silent, self._depth, self._term = "p", "", 0, ""
        self._words: list[str] = []
        self._rows: list[list[str]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a block, a row or a cell; of a picture keep the words."""
        given = dict(attrs)
        if self._silent:
            self._depth += tag == self._silent
            return
        self.language = given.get("lang") or self.language
        if given.get("role") == "img":
            self._end()
            self.blocks.append(Block(form="picture", text=_flat(given.get("aria-label") or "")))
        if tag in _UNSHOWN or given.get("aria-hidden") == "true" or given.get("class") == _AGAIN:
            self._silent, self._depth = tag, 1
        elif tag in ("br", "div"):
            self._words.append(" ")
        elif tag == "table":
            self._end()
            self._rows = []
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        elif tag in _BLOCKS and self._rows is None:
            self._end()
            self._tag = tag

    def handle_endtag(self, tag: str) -> None:
        """End a block, a row or a cell."""
        if self._silent:
            self._depth -= tag == self._silent
            self._silent = self._silent if self._depth else ""
        elif tag in ("td", "th") and self._rows:
            self._rows[-1].append(self._taken())
        elif tag == "table" and self._rows is not None:
            self.blocks.append(Block(form="table", rows=tuple(tuple(row) for row in self._rows if any(row))))
            self._rows = None
        elif tag in _BLOCKS and self._rows is None:
            self._end()

    def handle_data(self, data: str) -> None:
        """Keep the words of what is open."""
        if not self._silent:
            self._words.append(data)

    def close(self) -> None:
        """End whatever is open."""
        super().close()
        self._end()

    def _taken(self) -> str:
        text = _flat("".join(self._words))
        self._words.clear()
        return text

    def _end(self) -> None:
        """What was read since the last block becomes one."""
        text, tag, self._tag = self._taken(), self._tag, "p"
        if tag == "dt":
            self._term = text
        elif tag == "dd" and self._term:
            self.blocks.append(Block(form="term", text=text, about=self._term))
        elif text:
            form: Form = "head" if tag in _HEADS else "item" if tag == "li" else "paragraph"
            self.blocks.append(Block(form=form, text=text, level=_HEADS.get(tag, 0)))


def _flat(text: str) -> str:
    """Words with single blanks; a blank where no line may break stays one."""
    return " ".join(text.split())
