"""Connections to a model's server, in groups: a pool looks at all its connections twice a call."""

from __future__ import annotations

from itertools import count
from typing import Any
from urllib.request import getproxies

MAX_CONNECTIONS, MAX_IDLE = 1_000, 100
GROUPS = 8  # pools: of 64 connections in one pool, looking at them took a fifth of a call's processor time


def build_limits(library: Any) -> Any:
    """The limits of a client's own pool.

    Args:
        library: httpx or httpx2.
    """
    return library.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_IDLE)


def group_connections(library: Any) -> dict[str, Any]:
    """The mounts of a client whose calls take turns with several pools.

    Proxies that the environment names for a scheme or a host go before them; where it names one for every address,
    there are no mounts.

    Args:
        library: httpx or httpx2.
    """
    if "all" in getproxies():
        return {}

    class GroupedTransport(library.AsyncBaseTransport):  # type: ignore[misc]
        """Pools that take turns."""

        def __init__(self) -> None:
            share = library.Limits(
                max_connections=MAX_CONNECTIONS // GROUPS, max_keepalive_connections=-(-MAX_IDLE // GROUPS)
            )
            self._pools = [library.AsyncHTTPTransport(limits=share) for _ in range(GROUPS)]
            self._turn = count()

        async def handle_async_request(self, request: Any) -> Any:
            return await self._pools[next(self._turn) % GROUPS].handle_async_request(request)

        async def aclose(self) -> None:
            for pool in self._pools:
                await pool.aclose()

    return {"all://": GroupedTransport()}
