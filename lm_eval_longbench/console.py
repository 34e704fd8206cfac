"""Print, and warn once, so that nothing in a file or a server's words commands the terminal.

All that the command line prints goes through here. Control characters become text such as \\x1b;
files that are written keep what they hold.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import IO, TYPE_CHECKING

from lm_eval_longbench.secrets import without_keys

if TYPE_CHECKING:
    from rich.table import Table

# C0 without tab and line feed, DEL and C1; what turns the direction of writing; halves of surrogate
# pairs, which stand for bytes of file names that are no UTF-8, and which no terminal takes.
_ODD = "\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_IN_TEXT = re.compile(f"[{_ODD}]")
_IN_LINE = re.compile(f"[{_ODD}\t\n\u2028\u2029]")
# Columns of text that no table needs.
_WIDE = 1000


def _code(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def escaped(text: str) -> str:
    """Return a text of any number of lines with its control characters written out."""
    return _IN_TEXT.sub(_code, text)


def escaped_line(text: str) -> str:
    """Return a text that is no more than one line, its tabs and line feeds written out, too."""
    return _IN_LINE.sub(_code, text)


def escaped_json(text: str) -> str:
    """Return JSON of the same value without control characters: they can stand in texts only."""
    return _IN_TEXT.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def take_every_text(streams: Iterable[IO[str]]) -> None:
    """Let streams take what their encoding lacks, so that no print of anybody ends a run.

    ASCII becomes UTF-8, as `typer.echo` has it; other encodings get escapes.
    """
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            errors = "backslashreplace" if stream.errors == "strict" else stream.errors
            is_ascii = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(encoding="utf-8" if is_ascii else None, errors=errors)


def say(text: str, end: str = "\n") -> None:
    """Print a text of one or more lines."""
    import typer

    typer.echo(escaped(text) + end, nl=False)


def say_line(text: str) -> None:
    """Print one line, whatever the text."""
    import typer

    typer.echo(escaped_line(text))


def say_json(text: str, end: str = "\n") -> None:
    """Print JSON."""
    import typer

    typer.echo(escaped_json(text) + end, nl=False)


def warn(text: str) -> None:
    """Print one line on standard error, without keys."""
    import typer

    typer.echo(escaped_line(without_keys(text)), err=True)


def fail(text: str) -> None:
    """Print what ended the work on standard error, without keys; red where there is red."""
    from rich.console import Console

    console = Console(stderr=True, soft_wrap=True, markup=False, highlight=False, emoji=False)
    console.print(escaped(without_keys(text)), style="red")


@contextlib.contextmanager
def working(text: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal that something is under way; yield what changes the line that says so."""
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(escaped_line(text))) as status:
        yield lambda text: status.update(Text(escaped_line(text)))


def say_table(table: Table, width: int | None = None, file: IO[str] | None = None) -> None:
    """Print a table, its cells as they are and not as markup; control characters are escaped in it.

    A width of None is as many columns of text as it needs, for rich would cut figures off. It goes
    to a `file` if there is one.
    """
    from rich.console import Console
    from rich.text import Text

    for column in table.columns:
        for number, cell in enumerate(column._cells):  # there is no public way to change one
            if isinstance(cell, str):
                column._cells[number] = escaped_line(cell)
            elif isinstance(cell, Text) and _IN_TEXT.search(cell.plain):
                column._cells[number] = Text(escaped(cell.plain))
    if isinstance(table.title, str):
        table.title = escaped_line(table.title)
    plain = partial(Console, file=file, markup=False, highlight=False, emoji=False)
    if width is None:
        width = max(Console().width, plain(width=_WIDE).measure(table).maximum)
    plain(width=width).print(table, crop=False)


def table_of(
    rows: Sequence[Mapping[str, str]],
    texts: int = 1,
    title: str | None = None,
    *,
    total: bool = False,
) -> Table:
    """Return a table of rows, each by the names of its columns.

    Args:
        rows: of it.
        texts: how many columns are texts; those right of them are numbers.
        title: its heading.
        total: whether the last row is about all others.
    """
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE, padding=(0, 1, 0, 0))
    names = list(dict.fromkeys(name for row in rows for name in row))
    for number, name in enumerate(names):
        table.add_column(name, justify="left" if number < texts else "right", no_wrap=True)
    for number, row in enumerate(rows):
        if total and number == len(rows) - 1:
            table.add_section()
        table.add_row(*(row.get(name, "") for name in names))
    return table


class LogFormatter(logging.Formatter):
    """Log lines without control characters."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, or the lines, of a record."""
        return escaped(super().format(record))


# ---------------------------------------------------------------------- warnings

_said: set[str] = set()


def first_time(key: str) -> bool:
    """Return True the first time a key is asked about, False ever after."""
    is_first = key not in _said
    _said.add(key)
    return is_first


def warn_once(logger: logging.Logger, key: str, message: str) -> None:
    """Log a warning unless one with this `key` was logged: many tasks may meet one cause."""
    if first_time(key):
        logger.warning(message)


def forget() -> None:
    """Forget what was said: for tests, each of which sees the warnings of a fresh process."""
    _said.clear()
