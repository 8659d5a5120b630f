"""Run by Alembic: applies the versions on the connection that `upgrade.py` opened, inside its transaction."""

from __future__ import annotations

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=None,
    version_table=context.config.attributes["version_table"],
)
context.run_migrations()
