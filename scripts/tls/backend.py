"""The backend of nginx. It responds with the request itself, or with the bodies, fields, and delays that a test requests.

| path | response |
|---|---|
| /echo | method, target, fields and body (as Latin-1) in JSON, for any method |
| /digest/ID | count and SHA-256 of the body; with an ID, the body is not read before /release/ID |
| /bytes/N/ID | N bytes 0...250, repeated; /written/ID returns how many the network has accepted |
| /status/N | the status N, with a body where one is allowed |
| /fields/N/M | N response fields of M bytes |
| /cookies | repeated fields |
| /redirect/N?to=URL | a redirect |
| /gather/N/ID | waits until N requests wait here, then responds to all |
| /stall/ID | begins a body and waits until the client closes the connection; /stalled/ID returns how many wait |
| /stream/N | N bytes without a length |
| /broken | fewer bytes than announced |
"""
import collections
import hashlib
import http.server
import json
import select
import socket
import threading
import urllib.parse

WAIT_SECONDS = 60
PATTERN = bytes(range(251)) * 256


class State:
    def __init__(self):
        self.changed = threading.Condition()
        self.counts = collections.Counter()

    def add(self, key, number=1):
        with self.changed:
            self.counts[key] += number
            self.changed.notify_all()

    def wait(self, key, number):
        with self.changed:
            return self.changed.wait_for(lambda: self.counts[key] >= number, WAIT_SECONDS)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state = State()

    def __getattr__(self, name):
        if name.startswith("do_"):
            return self.answer
        raise AttributeError(name)

    def log_message(self, *_):
        pass

    def answer(self):
        parts = urllib.parse.urlsplit(self.path)
        name, *self.arguments = parts.path.strip("/").split("/")
        self.query = urllib.parse.parse_qs(parts.query)
        self.close_connection = True
        getattr(self, f"answer_{name}", self.answer_echo)()

    # Bodies

    def body(self):
        """Yields the pieces of the request's body."""
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            while size := int(self.rfile.readline().split(b";")[0], 16):
                yield from self.pieces(size)
                self.rfile.readline()
            while self.rfile.readline() not in (b"\r\n", b""):
                pass
        else:
            yield from self.pieces(int(self.headers.get("Content-Length", 0)))

    def pieces(self, count):
        while count > 0:
            piece = self.rfile.read(min(count, 1 << 16))
            if not piece:
                raise ConnectionError("the body ended early")
            count -= len(piece)
            yield piece

    def send(self, status, body=b"", fields=()):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        if status != 204 and status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD" and status != 204 and status != 304:
            self.wfile.write(body)

    def send_json(self, value):
        self.send(200, json.dumps(value).encode(), [("Content-Type", "application/json")])

    # Responses

    def answer_echo(self):
        body = b"".join(self.body())
        self.send_json({
            "method": self.command, "target": self.path, "fields": list(self.headers.items()), "body": body.decode("latin-1"),
        })

    def answer_digest(self):
        if self.arguments:
            self.state.wait(("release", self.arguments[0]), 1)
        digest, count = hashlib.sha256(), 0
        for piece in self.body():
            digest.update(piece)
            count += len(piece)
        self.send_json({"count": count, "sha256": digest.hexdigest()})

    def answer_release(self):
        self.state.add(("release", self.arguments[0]))
        self.send_json({})

    def answer_bytes(self):
        rest, name = int(self.arguments[0]), self.arguments[-1]
        self.send_response(200)
        self.send_header("Content-Length", str(rest))
        self.end_headers()
        while rest > 0 and self.command != "HEAD":
            piece = PATTERN[:rest]
            self.wfile.write(piece)
            rest -= len(piece)
            self.state.add(("written", name), len(piece))

    def answer_written(self):
        self.send_json({"count": self.state.counts["written", self.arguments[0]]})

    def answer_stream(self):
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write((PATTERN * (int(self.arguments[0]) // len(PATTERN) + 1))[:int(self.arguments[0])])

    def answer_broken(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"a body")

    def answer_status(self):
        self.send(int(self.arguments[0]), b"a body")

    def answer_fields(self):
        count, size = map(int, self.arguments)
        self.send(200, b"", [(f"X-F{number}", "v" * size) for number in range(count)])

    def answer_cookies(self):
        self.send(200, b"", [
            ("Set-Cookie", "a=1; Expires=Wed, 21 Oct 2065 07:28:00 GMT"), ("X-Between", "1"), ("Set-Cookie", "b=2"),
            ("X-Repeat", "one"), ("X-Repeat", "two, three"),
        ])

    def answer_redirect(self):
        self.send(int(self.arguments[0]), b"elsewhere", [("Location", self.query["to"][0])])

    def answer_gather(self):
        count, name = self.arguments
        key = ("gather", name)
        self.state.add(key)
        self.send(200 if self.state.wait(key, int(count)) else 503)

    def answer_stall(self):
        key = ("stall", self.arguments[0])
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"*")
        self.state.add(key)
        # If the socket is readable without a request, the connection has ended.
        select.select([self.connection], [], [], WAIT_SECONDS)
        self.state.add(key, -1)

    def answer_stalled(self):
        self.send_json({"count": self.state.counts["stall", self.arguments[0]]})


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request, client_address):
        """Does nothing, because the tests include clients that disconnect early."""


def start():
    """Starts the server on a free port of 127.0.0.1; returns the port."""
    server = Server(("127.0.0.1", 0), Handler)
    # Connections inherit these small buffers, so that the server stops sending if the client does not read.
    for buffer in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        server.socket.setsockopt(socket.SOL_SOCKET, buffer, 1 << 16)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]
