"""The commands that the manifests declare: a verb is imported when its command is run or asked for its help."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ragauge.core.errors import UsageError
from ragauge.verbs.registry import Verb, VerbGroup, list_commands, load

RENAMED_COMMANDS = {  # as typed before -> as typed now
    "ann": "component ann",
    "cache": "store cache",
    "chunking": "component chunking",
    "delete": "runs delete",
    "embeddings": "component embeddings",
    "export": "runs export",
    "log": "runs log",
    "log note": "runs note",
    "thresholds": "report RUN --thresholds METRIC",
    "validate": "doctor FILE",
}
OWN_COMMAND = ""  # name, within a group, of the command that has the group's own words


class CommandGroup(TyperGroup):
    """The commands that stand below a path; "" is the path of all.

    Where the path is that of a verb too, such as `component ann`, it is meant unless a command of the group follows.
    """

    def __init__(self, path: str = "", **settings: Any) -> None:
        entry = list_commands().get(path)
        self.path = path
        self.default = entry.default if isinstance(entry, VerbGroup) else ""
        self.has_own_command = isinstance(entry, Verb)
        if self.has_own_command:
            settings["context_settings"] = {"ignore_unknown_options": True, "help_option_names": []}
        super().__init__(**settings)
        for child, declared in list_commands().items():
            parent, _, name = child.rpartition(" ")
            if child and parent == path:
                panel, is_hidden = declared.panel or None, not path and not declared.panel
                summary = declared.help.split("\n\n")[0]
                self.add_command(TyperCommand(name, help=summary, rich_help_panel=panel, hidden=is_hidden))
        self._is_listing = False

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command; None for a name that is none."""
        listed = super().get_command(ctx, cmd_name)
        if not listed or self._is_listing:
            return listed
        return load_command(f"{self.path} {cmd_name}".strip())

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Without a command the default one is meant, where the group has one."""
        if self.has_own_command and (not args or args[0] not in self.commands):
            args = [OWN_COMMAND, *(args or ["--help"])]
        elif self.default and (not args or (args[0].startswith("-") and args[0] != "--help")):
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is typed, which opens stores to read them where it changes none.

        Raises:
            UsageError: it has another name now.
        """
        if self.has_own_command and args[0] == OWN_COMMAND:
            return OWN_COMMAND, load_verb_command(self.path), args[1:]
        for words in (args[:2], args[:1]):
            if not self.path and (new_name := RENAMED_COMMANDS.get(" ".join(words))):
                raise UsageError(f"ragauge {' '.join(words)} is now: ragauge {new_name}")
        resolved = super().resolve_command(ctx, args)
        declared = list_commands().get(f"{self.path} {resolved[0]}".strip())
        if isinstance(declared, Verb) and declared.reads_only:
            from ragauge.store.store_access import open_read_only

            ctx.with_resource(open_read_only())
        return resolved

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Lists the commands by what their declarations say."""
        self._is_listing = True
        super().format_help(ctx, formatter)


def load_command(path: str) -> Any:
    """The command itself, or the group, with its examples.

    Args:
        path: as it is typed behind `ragauge`.
    """
    declared = list_commands()[path]
    if not any(child.startswith(f"{path} ") for child in list_commands()):
        return load_verb_command(path)
    group = CommandGroup(
        path,
        name=path.rpartition(" ")[2],
        help=declared.help,
        no_args_is_help=not isinstance(declared, Verb),
        rich_markup_mode="rich",
    )
    group.epilog = format_examples(path)
    return group


def load_verb_command(path: str) -> Any:
    """The command of a verb, with its examples."""
    from ragauge.verbs.command_builder import build_command

    verb = list_commands()[path]
    if not isinstance(verb, Verb):
        raise TypeError(f"{path} is a group of commands.")
    function = load(verb.run_as) if verb.run_as else build_command(verb)
    alone = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
    alone.command(help=verb.help, context_settings={"help_option_names": ["--help"]})(function)
    command: Any = typer.main.get_command(alone)
    command.name, command.epilog = path.rpartition(" ")[2], format_examples(path)
    return command


def format_examples(path: str) -> str:
    """The end of a command's help: its two examples, or of a group the first of each of its first two commands."""
    declared = list_commands()[path]
    if isinstance(declared, Verb):
        examples = [f"{path} {example}" for example in declared.examples]
    else:
        below = ((child, verb) for child, verb in list_commands().items() if child.startswith(f"{path} "))
        examples = [f"{child} {verb.examples[0]}" for child, verb in below if isinstance(verb, Verb)][:2]
    return "\n".join(("Examples:", *(f"ragauge {example.strip()}" for example in examples)))
