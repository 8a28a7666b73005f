"""Messages over a local socket. Any other transport needs the same three methods, and passes the same tests."""

import asyncio
import contextlib
import socket
from collections import deque
from collections.abc import Callable
from typing import Protocol

from lycosa.shards.messages import Message, decode, encode

_LENGTH_BYTES = 4
END_S = 10.0  # how long to wait for the other end to close
_READ_BYTES = 1 << 18  # at most at once


class Wire(Protocol):
    """A connection between a shard and the hub: messages arrive whole and in order, or not at all."""

    def send(self, message: Message) -> None: ...  # never waits; after the end of the connection nothing happens
    async def receive(self) -> Message | None: ...  # None: the other end is gone
    async def close(self) -> None: ...  # once everything has been sent


class SocketWire:
    """Frames of four bytes of length and the message."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._received: deque[Message] = deque()  # and not handled yet
        self._data = bytearray()  # the beginning of a message
        self._unsent: list[bytes] = []
        self._flush: asyncio.Handle | None = None  # what is sent in one turn of the event loop travels together
        self.sent_messages = self.sent_bytes = 0

    @classmethod
    async def open(cls, end: socket.socket) -> "SocketWire":
        return cls(*await asyncio.open_unix_connection(sock=end))

    def send(self, message: Message) -> None:
        data = encode(message)
        self.sent_messages += 1
        self.sent_bytes += len(data) + _LENGTH_BYTES
        self._unsent += len(data).to_bytes(_LENGTH_BYTES, "big"), data
        if self._flush is None:
            self._flush = asyncio.get_running_loop().call_soon(self._write)

    async def receive(self) -> Message | None:
        while not self._received:
            try:
                data = await self._reader.read(_READ_BYTES)
            except ConnectionError:
                return None
            if not data:
                return None
            self._data += data
            self._split()
        return self._received.popleft()

    def _split(self) -> None:
        """Find the messages that are complete: reading many at once is cheaper than one by one."""
        data, start, end = self._data, 0, _LENGTH_BYTES
        while end <= len(data):
            after = end + int.from_bytes(data[start:end], "big")
            if after > len(data):
                break
            self._received.append(decode(data[end:after]))
            start, end = after, after + _LENGTH_BYTES
        del data[:start]

    async def end(self) -> None:
        """Close once the other end has closed, too: if it sends something to a connection that is closed already,
        it may never read what was sent last."""
        with contextlib.suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(END_S):
                self._write()
                await self._writer.drain()
                self._writer.write_eof()
                while await self._reader.read(_READ_BYTES):
                    pass
        await self.close()

    async def close(self) -> None:
        self._write()
        try:
            await self._writer.drain()
            self._writer.close()
            await self._writer.wait_closed()
        except ConnectionError:
            pass  # the other end is gone, and with it whoever could read the rest

    def _write(self) -> None:
        if self._flush:
            self._flush.cancel()
            self._flush = None
        if self._unsent and not self._writer.is_closing():
            self._writer.write(b"".join(self._unsent))
        self._unsent = []


async def each(wire: Wire, handle: Callable[[Message], None]) -> None:
    """Handle messages until the other end is gone."""
    while (message := await wire.receive()) is not None:
        handle(message)
