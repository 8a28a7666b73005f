"""Messages over a local socket. Any other transport needs the same three methods, and passes the same tests."""

import asyncio
import socket
from collections.abc import Callable
from typing import Protocol

from lycosa.shards.messages import Message, decode, encode

_LENGTH_BYTES = 4
_GATHER_S = 0.002  # messages sent within this time travel together: writing costs more than waiting


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
        self._unsent: list[bytes] = []
        self._flush: asyncio.TimerHandle | None = None
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
            self._flush = asyncio.get_running_loop().call_later(_GATHER_S, self._write)

    async def receive(self) -> Message | None:
        try:
            length = int.from_bytes(await self._reader.readexactly(_LENGTH_BYTES), "big")
            message: Message = decode(await self._reader.readexactly(length))
            return message
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

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
