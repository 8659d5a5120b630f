"""HTTP/1.1 for many small requests to one place, over asyncio's own connections.

A judge makes thousands of calls, each one short request and one short reply. The library's own transport looks at every
connection of its pool at every call, asks the system three times a call whether a connection is still there, and reads
and writes in pieces: half of a call's CPU. Here a request is one write, a reply is read whole, and a connection that
ended says so by itself.
"""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections import deque
from typing import Any, NamedTuple, cast

import httpx2

IDLE = 5.0     # seconds after which a connection is not used again: the other side may have forgotten it
LONGEST_HEAD = 64 * 1024     # bytes of status line and headers
READ_AT_ONCE = 16 * 1024     # bytes: most replies are smaller
STAGGER = 0.25     # seconds before the next address of a host is tried beside the first (RFC 8305)
BLANK = b"\r\n\r\n"
Place = tuple[str, str, int]     # scheme, host, port


class Head(NamedTuple):
    """Status line and headers of a response."""

    status: int
    headers: list[tuple[bytes, bytes]]
    http_1_0: bool

    def last(self, name: bytes) -> bytes:
        """The last value of a header, in lower case; b"" where it is absent."""
        return next((value.lower() for key, value in reversed(self.headers) if key.lower() == name), b"")


class DirectTransport(httpx2.AsyncBaseTransport):
    """A transport without a bound of its own: who calls it bounds the calls under way. It knows no proxies.

    A call that is cancelled closes its connection. Nothing is sent twice: a connection that breaks is an error.
    """

    def __init__(self, verify: ssl.SSLContext | None = None) -> None:
        """A transport.

        Args:
            verify: how servers are verified; None = as the library does, made when it is first needed.
        """
        self._verify = verify
        self._idle: dict[Place, deque[_HttpConnection]] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request, and reads the whole response.

        Raises:
            httpx2.TransportError: it cannot be sent, or what comes back is broken or no HTTP/1.1.
        """
        sent = _written(request)
        url = request.url
        place = (url.scheme, url.host, url.port or (443 if url.scheme == "https" else 80))
        connection = self._free(place) or await self._connected(place, request)
        try:
            head, body = await connection.exchange(sent, has_body=request.method != "HEAD")
        except _Broken as error:
            connection.close()
            kind = httpx2.RemoteProtocolError if error.protocol else httpx2.ReadError
            raise kind(str(error), request=request) from error.__cause__
        except BaseException:
            connection.close()
            raise
        if connection.reusable:
            self._idle.setdefault(place, deque()).append(connection)
        else:
            connection.close()
        return httpx2.Response(head.status, headers=head.headers, stream=httpx2.ByteStream(body), request=request)

    async def aclose(self) -> None:
        """Closes the connections that are free."""
        for idle in self._idle.values():
            for connection in idle:
                connection.close()
        self._idle.clear()
        await asyncio.sleep(0)     # they are closed by the loop's next turn

    def _free(self, place: Place) -> _HttpConnection | None:
        """The connection that was used last, if that is not long ago: the others are older."""
        idle = self._idle.get(place)
        while idle:
            connection = idle.pop()
            if connection.fresh():
                return connection
            connection.close()
        return None

    async def _connected(self, place: Place, request: httpx2.Request) -> _HttpConnection:
        scheme, host, port = place
        secure = None
        if scheme == "https":
            self._verify = self._verify or httpx2.create_ssl_context()
            secure = self._verify
        elif scheme != "http":
            raise httpx2.UnsupportedProtocol(f"{request.url} is neither http nor https", request=request)
        loop = asyncio.get_running_loop()
        # asyncio's own loops know it, uvloop's does not. A race that is cancelled loses the socket that it connected:
        # it is left to end. Of one address there is nothing to race.
        race = isinstance(loop, asyncio.BaseEventLoop) and not _is_address(host)
        stagger: dict[str, Any] = {"happy_eyeballs_delay": STAGGER} if race else {}
        connecting = asyncio.ensure_future(loop.create_connection(_HttpConnection, host, port, ssl=secure, **stagger))
        try:
            return (await (asyncio.shield(connecting) if race else connecting))[1]
        except asyncio.CancelledError:
            connecting.add_done_callback(_given_up)     # it may be there already; a race goes on to its end
            raise
        except (OSError, ssl.SSLError) as error:
            raise httpx2.ConnectError(str(error), request=request) from error


class _Broken(Exception):  # noqa: N818 - what happened; told as the library's errors
    """A response that does not come, or is none."""

    def __init__(self, text: str, *, protocol: bool = False) -> None:
        super().__init__(text)
        self.protocol = protocol


class _HttpConnection(asyncio.BufferedProtocol):
    """One connection: a request at a time.

    It reads into a buffer of its own. Otherwise asyncio makes one of 256 KiB at every read and cuts it down to what
    came: what is kept of one reply then stands where the next buffer would fit, and over thousands of calls the heap
    grows by pieces of a few KiB that are free and too small.
    """

    def __init__(self) -> None:
        self._buffer = memoryview(bytearray(READ_AT_ONCE))
        self._read = bytearray()
        self._ended = False     # nothing more will come
        self._error: Exception | None = None
        self._waiting: asyncio.Future[None] | None = None
        self._transport: asyncio.Transport | None = None
        self._used = 0.0
        self.reusable = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is there."""
        self._transport = cast("asyncio.Transport", transport)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the next bytes go."""
        del sizehint     # of no use: it is that of asyncio's own reads
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Some bytes came."""
        self._read += self._buffer[:nbytes]
        self._wake()

    def eof_received(self) -> None:
        """The other side says no more."""
        self._ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._ended, self._error = True, exc
        self._wake()

    def fresh(self) -> bool:
        """Whether it may be used again: it is open, nothing came unasked, and it was used a moment ago."""
        return not self._ended and not self._read and asyncio.get_running_loop().time() - self._used < IDLE

    def close(self) -> None:
        """Closes it at once."""
        if self._transport is not None:
            self._transport.abort()

    async def exchange(self, sent: bytes, *, has_body: bool) -> tuple[Head, bytes]:
        """Sends a request and reads the response. _Broken where there is none."""
        if self._transport is None or self._ended:
            raise _Broken("the connection was closed")
        self.reusable = False
        self._transport.write(sent)
        head = await self._head()
        while head.status < 200:     # "continue" and early hints come before the response
            head = await self._head()
        body, bounded = await self._body(head, has_body=has_body)
        stays = b"close" not in head.last(b"connection") and not head.http_1_0
        self.reusable = bounded and stays and not self._read and not self._ended
        self._used = asyncio.get_running_loop().time()
        return head, body

    async def _head(self) -> Head:
        while (end := self._read.find(BLANK)) < 0:
            if len(self._read) > LONGEST_HEAD:
                raise _Broken("the response's headers do not end", protocol=True)
            await self._more("Server disconnected without sending a response.")
        lines = bytes(self._read[:end]).split(b"\r\n")
        del self._read[: end + len(BLANK)]
        version, _, rest = lines[0].partition(b" ")
        status = rest[:3]
        pairs = [line.partition(b":") for line in lines[1:]]
        whole = all(key and colon for key, colon, _ in pairs)
        if not (whole and status.isdigit() and version in (b"HTTP/1.1", b"HTTP/1.0")):
            raise _Broken(f"no HTTP/1.1 response: {lines[0][:80]!r}", protocol=True)
        return Head(int(status), [(key, value.strip()) for key, _, value in pairs], version == b"HTTP/1.0")

    async def _body(self, head: Head, *, has_body: bool) -> tuple[bytes, bool]:
        """The body, and whether the response told its end; one that does not tell it ends with the connection."""
        if not has_body or head.status in (204, 304):
            return b"", True
        if head.last(b"transfer-encoding").endswith(b"chunked"):
            return await self._chunks(), True
        length = head.last(b"content-length")
        if length:
            if not length.isdigit():
                raise _Broken(f"no length of a body: {length!r}", protocol=True)
            return await self._exactly(int(length)), True
        while not self._ended:
            await self._more("")
        if self._error is not None:
            raise _Broken(str(self._error)) from self._error
        return await self._exactly(len(self._read)), False

    async def _chunks(self) -> bytes:
        parts: list[bytes] = []
        while True:
            line = await self._line()
            try:
                size = int(line.partition(b";")[0].strip(), 16)
            except ValueError:
                raise _Broken(f"no size of a chunk: {line[:80]!r}", protocol=True) from None
            if not size:
                while await self._line():     # what is said after the body
                    pass
                return b"".join(parts)
            parts.append(await self._exactly(size))
            if await self._line():
                raise _Broken("a chunk is longer than it says", protocol=True)

    async def _line(self) -> bytes:
        while (end := self._read.find(b"\r\n")) < 0:
            if len(self._read) > LONGEST_HEAD:
                raise _Broken("a line does not end", protocol=True)
            await self._more("the response broke off")
        line = bytes(self._read[:end])
        del self._read[: end + 2]
        return line

    async def _exactly(self, size: int) -> bytes:
        while len(self._read) < size:
            await self._more(f"the response broke off after {len(self._read):,} of {size:,} bytes")
        found = bytes(self._read[:size])
        del self._read[:size]
        return found

    async def _more(self, otherwise: str) -> None:
        """Waits for more bytes; where none will come, raises, saying this."""
        if self._ended:
            if self._error is not None:
                raise _Broken(str(self._error) or otherwise) from self._error
            if otherwise:
                raise _Broken(otherwise, protocol=True)
            return
        self._waiting = asyncio.get_running_loop().create_future()
        try:
            await self._waiting
        finally:
            self._waiting = None

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


def _given_up(connecting: asyncio.Future[tuple[Any, _HttpConnection]]) -> None:
    """Closes a connection that nobody waits for any more."""
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result()[1].close()


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _written(request: httpx2.Request) -> bytes:
    """The request as it goes over the wire. LocalProtocolError where a header would break out of its line."""
    lines = [b"%s %s HTTP/1.1" % (request.method.encode("ascii"), request.url.raw_path)]
    lines += [b"%s: %s" % pair for pair in request.headers.raw]
    head = b"\r\n".join(lines)
    if head.count(b"\n") >= len(lines) or head.count(b"\r") >= len(lines) or b"\0" in head:
        raise httpx2.LocalProtocolError("a header holds a line break", request=request)
    return head + BLANK + request.content
