"""Version 2: the tables as the schema modules define them.

From the first release on, stores of this version are in use: a change of the tables then needs a second version that
makes it, and this one a copy of the tables as they are now.
"""

from __future__ import annotations

from alembic import op

from ragauge.store import (  # noqa: F401 - each adds its tables
    job_schema,
    label_schema,
    monitor_schema,
    page_schema,
    study_schema,
    traffic_schema,
    verdict_schema,
)
from ragauge.store.schema import metadata

revision = "2"
down_revision = None


def upgrade() -> None:
    """Makes the tables."""
    metadata.create_all(op.get_bind(), checkfirst=False)
