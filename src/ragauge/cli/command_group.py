"""Groups of commands that import a command when it is run or asked for its help, not when all are listed."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ragauge.cli.commands import COMMANDS, DEFAULT_COMMANDS, PANELS, READ_ONLY_COMMANDS, RENAMED_COMMANDS
from ragauge.core.errors import UsageError

EXAMPLES = Path(__file__).with_name("examples.txt")  # two lines a command: what follows `ragauge`


class CommandGroup(TyperGroup):
    """The commands of the table that stand below a path; "" is the path of all."""

    def __init__(self, path: str = "", **settings: Any) -> None:
        super().__init__(**settings)
        self.path = path
        panels = {name: panel for panel, names in PANELS.items() for name in names}
        for child, entry in COMMANDS.items():
            parent, _, name = child.rpartition(" ")
            if parent == path:
                is_hidden = not path and child not in panels
                listed = TyperCommand(name, help=entry.help, rich_help_panel=panels.get(child), hidden=is_hidden)
                self.add_command(listed)
        self._is_listing = False

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command; None for a name that is none."""
        row = super().get_command(ctx, cmd_name)
        return row if not row or (self._is_listing and row.help) else load_command(f"{self.path} {cmd_name}".strip())

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Without a command the default one is meant, where the group has one."""
        default = DEFAULT_COMMANDS.get(self.path)
        if default and (not args or (args[0].startswith("-") and args[0] != "--help")):
            args = [default, *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is typed, which opens stores to read them where it changes none.

        Raises:
            UsageError: it has another name now.
        """
        for words in (args[:2], args[:1]):
            if not self.path and (new_name := RENAMED_COMMANDS.get(" ".join(words))):
                raise UsageError(f"ragauge {' '.join(words)} is now: ragauge {new_name}")
        resolved = super().resolve_command(ctx, args)
        name, command, remaining = resolved
        within = next((word for word in remaining if word in getattr(command, "commands", ())), "")
        if " ".join(filter(None, (self.path, name, within))) in READ_ONLY_COMMANDS:
            from ragauge.store.store_access import open_read_only

            ctx.with_resource(open_read_only())
        return resolved

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Lists the commands by what the table says of them."""
        self._is_listing = True
        super().format_help(ctx, formatter)


def load_command(path: str) -> Any:
    """The command itself, from its module, with its examples.

    Args:
        path: as it is typed behind `ragauge`.
    """
    entry = COMMANDS[path]
    name = path.rpartition(" ")[2]
    if not entry.module:
        command: Any = CommandGroup(path, name=name, help=entry.help, no_args_is_help=True, rich_markup_mode="rich")
    else:
        loaded = getattr(importlib.import_module(entry.module), entry.name)
        if entry.name == "app":
            command = typer.main.get_group(loaded)
        else:
            alone = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
            alone.command()(loaded)
            command = typer.main.get_command(alone)
    command.name = name
    _add_examples(command, path)
    return command


def _add_examples(command: Any, path: str) -> None:
    """Ends the help of a command, and of those within it, with examples."""
    if examples := find_examples(path):
        command.epilog = "\n".join(("Examples:", *(f"ragauge {example}" for example in examples)))
    for name, child in getattr(command, "commands", {}).items():
        child.epilog = command.epilog
        _add_examples(child, f"{path} {name}")


def find_examples(path: str) -> list[str]:
    """The two examples of a command; of a group the first of each of its first two commands."""
    lines = EXAMPLES.read_text(encoding="utf-8").splitlines()
    examples = [line for line in lines if f"{line} ".startswith(f"{path} ")]
    return examples if len(examples) == 2 else examples[:4:2]
