"""The HTTP/2 side of the server. It writes frames by hand, and reads no field of a request: streams are scripted by number."""
import hashlib, struct, time

import plan

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY, WINDOW = 0, 1, 3, 4, 6, 7, 8
END_STREAM, ACK, END_HEADERS = 1, 1, 4
FRAME_BYTES = 16384


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def integer(value, bits):
    """An integer of RFC 7541, section 5.1, in a byte whose upper bits are zero."""
    limit = (1 << bits) - 1
    if value < limit:
        return bytes([value])
    out, value = [limit], value - limit
    while value >= 128:
        out.append(value % 128 + 128)
        value //= 128
    return bytes([*out, value])


def field_block(fields, variables):
    """Literal fields without indexing and without Huffman coding (RFC 7541, section 6.2.2)."""
    block = b""
    for name, value in fields:
        name, value = name.encode("latin-1"), plan.build(value, variables)
        block += b"\0" + integer(len(name), 7) + name + integer(len(value), 7) + value
    return block


class Stream:
    def __init__(self, identifier, actions):
        self.identifier, self.actions, self.body, self.is_started = identifier, list(actions), b"", False
        self.number = 0


class Streams:
    """The streams of one connection."""

    def __init__(self, origin, connection):
        self.origin, self.connection, self.script = origin, connection, origin.script
        self.buffer, self.streams, self.ready = b"", {}, []
        self.variables = origin.server.variables[origin.case["id"]]

    def run(self):
        while len(self.buffer) < len(PREFACE):
            self.buffer += self.connection.receive()
        if not self.buffer.startswith(PREFACE):
            self.connection.close()
        self.buffer = self.buffer[len(PREFACE):]
        settings = b"".join(struct.pack(">HI", int(key), value) for key, value in self.script.get("settings", {}).items())
        self.connection.send(frame(SETTINGS, 0, 0, settings))
        while True:
            self.pump(0.5)
            while self.ready:
                self.act(self.ready.pop(0))

    def pump(self, seconds):
        """Handles the frames that arrive within the time; returns early if a stream is ready."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.buffer += self.connection.receive(left)
            while len(self.buffer) >= 9 and len(self.buffer) >= 9 + (length := int.from_bytes(self.buffer[:3], "big")):
                kind, flags, stream = struct.unpack(">BBI", self.buffer[3:9])
                payload, self.buffer = self.buffer[9:9 + length], self.buffer[9 + length:]
                self.handle(kind, flags, stream & 0x7FFFFFFF, payload)
            if self.ready:
                return

    def handle(self, kind, flags, identifier, payload):
        send = self.connection.send
        if kind == SETTINGS and not flags & ACK:
            send(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            send(frame(PING, ACK, 0, payload))
        elif kind == HEADERS and identifier not in self.streams:
            stream = self.streams[identifier] = Stream(identifier, self.origin.next_script("streams", self.script["streams"]))
            self.advance(stream, flags & END_STREAM)
        elif kind == DATA and identifier in self.streams:
            stream = self.streams[identifier]
            stream.body += payload
            if payload and not self.script.get("window") == "closed":
                grow = struct.pack(">I", len(payload))
                send(frame(WINDOW, 0, 0, grow) + frame(WINDOW, 0, identifier, grow))
            self.advance(stream, flags & END_STREAM)
        elif kind == RESET:
            self.origin.log("reset", self.connection, stream=identifier, code=int.from_bytes(payload, "big"))

    def advance(self, stream, has_ended):
        if stream.is_started or not (has_ended or {"unread": True} in stream.actions):
            return
        stream.is_started = True
        stream.number = self.origin.log_request(self.connection, "?", f"stream {stream.identifier}", [], stream.body)
        self.ready.append(stream)

    def act(self, stream):
        this = stream.identifier
        variables = {**self.variables, "count": stream.number}
        for action in stream.actions:
            send, end = self.connection.send, END_STREAM if action.get("last") else 0
            if "headers" in action:
                send(frame(HEADERS, END_HEADERS | end, this, field_block(action["headers"], variables)))
            elif "data" in action:
                data = plan.build(action["data"], variables)
                pieces = [data[i:i + FRAME_BYTES] for i in range(0, len(data), FRAME_BYTES)] or [b""]
                for piece in pieces[:-1]:
                    send(frame(DATA, 0, this, piece))
                send(frame(DATA, end, this, pieces[-1]))
            elif "reset" in action:
                send(frame(RESET, 0, this, struct.pack(">I", action["reset"])))
            elif "goaway" in action:
                send(frame(GOAWAY, 0, 0, struct.pack(">II", *action["goaway"])))
            elif "frame" in action:
                self.send_frames(action, this)
            elif "wait" in action:
                until = time.monotonic() + action["wait"] / 1000
                while (left := until - time.monotonic()) > 0:
                    waiting, self.ready = self.ready, []
                    self.pump(left)
                    self.ready = waiting + self.ready
            elif "hold" in action:
                self.pump_until_end(action["hold"] / 1000)
            elif "end" in action:
                self.connection.close(action["end"])

    def pump_until_end(self, seconds):
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.ready = []
            self.pump(left)

    def send_frames(self, action, this):
        kind, flags, stream, payload = action["frame"]
        data = frame(kind, flags, this if stream == "this" else stream, plan.build(payload, self.variables))
        if action.get("count", 1) == 1:
            self.connection.send(data)
            return
        # Frames in pieces of 64 KiB; the frames of the client are read between them.
        data *= max(1, 65536 // len(data))
        until = time.monotonic() + 6
        while time.monotonic() < until:
            self.connection.send(data)
            self.pump(0.001)


def serve(origin, connection):
    if connection.socket.selected_alpn_protocol() != "h2":
        origin.log("failed", connection, error="no h2")
        return
    Streams(origin, connection).run()
