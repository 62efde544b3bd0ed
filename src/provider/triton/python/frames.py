"""hone's messages on a stream socket; the specification is docs/worker-protocol.md."""
import json
import socket
import struct

HEADER = struct.Struct("<4sHHIII")
VERSION = 1


class Connection:
    """One end of a conversation. EOFError from receive() when the other end has left."""

    def __init__(self, descriptor):
        self.socket = socket.socket(fileno=descriptor)

    def send(self, kind, body=None, blobs=()):
        name = kind.encode()
        text = json.dumps(body).encode()
        frame = [HEADER.pack(b"HONE", VERSION, 0, len(name), len(text), len(blobs))]
        frame += [struct.pack("<Q", len(blob)) for blob in blobs]
        self.socket.sendall(b"".join([*frame, name, text, *blobs]))

    def receive(self):
        """(kind, body, blobs) of the next message."""
        magic, version, reserved, name, text, count = HEADER.unpack(self._read(HEADER.size))
        if (magic, version, reserved) != (b"HONE", VERSION, 0):
            raise ValueError("not a message of this version of hone")
        sizes = [struct.unpack("<Q", self._read(8))[0] for _ in range(count)]
        kind = self._read(name).decode()
        body = json.loads(self._read(text))
        return kind, body, [self._read(size) for size in sizes]

    def _read(self, size):
        parts = bytearray()
        while len(parts) < size:
            part = self.socket.recv(min(size - len(parts), 1 << 20))
            if not part:
                raise EOFError
            parts += part
        return bytes(parts)
