#!/usr/bin/env python3
"""Serves the plan on loopback addresses: one port for each case and origin.

usage: Server/server.py FOLDER [CASE or kind …]

Writes FOLDER/calls.json (the calls of each case with their addresses), FOLDER/certificates and FOLDER/log.jsonl (each
connection and request), prints "ready", and serves until standard input ends.
"""
import hashlib, http.client, json, pathlib, re, select, socket, ssl, struct, sys, threading, time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import plan
import certificates, http2

# No connection lives longer, and no request has a longer head or body.
SECONDS, HEAD_BYTES, BODY_BYTES, PIECE = 12, 1 << 20, 1 << 26, 1 << 16
HOSTS = {"A": "127.0.0.1", "B": "127.0.0.1", "C": "localhost", "S": "localhost", "H": "localhost", "P": "127.0.0.1"}


class Ended(Exception):
    """The connection has ended; the text names which side ended it."""


def is_readable(file, seconds):
    """Waits until there is something to read. `poll` has no limit for the number of open files, unlike `select`."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(max(0, seconds) * 1000))


class Connection:
    def __init__(self, origin, sock, number):
        self.origin, self.socket, self.number = origin, sock, number
        self.buffer, self.sent, self.end = b"", 0, time.monotonic() + SECONDS
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.settimeout(SECONDS)

    def send(self, data):
        try:
            for start in range(0, len(data), PIECE):
                self.socket.settimeout(max(0.01, self.end - time.monotonic()))
                piece = data[start:start + PIECE]
                self.socket.sendall(piece)
                self.sent += len(piece)
        except TimeoutError:
            raise Ended("server") from None
        except OSError:
            raise Ended("peer") from None

    def receive(self, seconds=SECONDS):
        """Returns received bytes, or nothing if the time has passed."""
        if not (isinstance(self.socket, ssl.SSLSocket) and self.socket.pending()):
            if not is_readable(self.socket, min(seconds, self.end - time.monotonic())):
                if time.monotonic() >= self.end:
                    raise Ended("server")
                return b""
        try:
            data = self.socket.recv(PIECE)
        except ssl.SSLWantReadError:
            return b""
        except OSError:
            raise Ended("peer") from None
        if not data:
            raise Ended("peer")
        return data

    def read_until(self, mark, limit=HEAD_BYTES):
        while mark not in self.buffer:
            if len(self.buffer) > limit:
                raise Ended("server")
            self.buffer += self.receive()
        data, self.buffer = self.buffer.split(mark, 1)
        return data

    def read_exactly(self, count):
        while len(self.buffer) < min(count, BODY_BYTES):
            self.buffer += self.receive()
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def hold(self, seconds):
        """Discards what arrives until the peer closes or the time has passed."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.receive(left)
        raise Ended("server")

    def close(self, how="close"):
        if how == "half-close":
            self.socket.shutdown(socket.SHUT_WR)
            return
        try:
            if how == "reset":
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            elif how == "close" and isinstance(self.socket, ssl.SSLSocket):
                # Sends close_notify and does not wait for that of the peer.
                self.socket.settimeout(0)
                self.socket.unwrap()
        except (OSError, ValueError):
            pass
        # The action `cut` closes TLS without close_notify.
        self.socket.close()
        raise Ended("server")


class Request:
    def __init__(self, head):
        # As many servers do, so that an injected line is a field of its own.
        lines = re.split(r"\r?\n", head.decode("latin-1"))
        self.method, _, rest = lines[0].partition(" ")
        self.target, _, self.version = rest.rpartition(" ")
        self.fields = [[name, value.strip()] for name, _, value in (line.partition(":") for line in lines[1:])]
        self.body = b""

    def value(self, name):
        return ", ".join(value for field, value in self.fields if field.lower() == name)

    def read_body(self, connection):
        if "100-continue" in self.value("expect"):
            connection.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.read_body_now(connection)

    def read_body_now(self, connection):
        if "chunked" in self.value("transfer-encoding"):
            while size := int(connection.read_until(b"\r\n").split(b";")[0], 16):
                self.body += connection.read_exactly(size)
                connection.read_until(b"\r\n")
            while connection.read_until(b"\r\n"):
                pass
        elif length := self.value("content-length"):
            self.body = connection.read_exactly(int(length))


class Origin:
    def __init__(self, server, case, name, script):
        self.server, self.case, self.name, self.script = server, case, name, script
        self.counts, self.opened, self.lock = {}, 0, threading.Lock()
        self.scheme = "https" if name in "SH" else "http"
        self.tls = script.get("tls", "good") if name in "SH" else "none"
        self.prepare(script)
        self.listener = socket.socket()
        # A small buffer, so that a server that does not read makes the client wait.
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, PIECE)
        self.listener.bind(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"{self.scheme}://{script.get('host', HOSTS[name])}:{self.port}"
        self.fillers = []

    def prepare(self, value):
        """Compresses bodies, so that no call waits for it."""
        if isinstance(value, dict) and ("gzip" in value or "deflate" in value):
            plan.build(value)
        elif isinstance(value, (dict, list)):
            for part in value.values() if isinstance(value, dict) else value:
                self.prepare(part)

    def start(self):
        if self.script.get("refused"):
            return
        self.listener.listen(0 if self.script.get("full") else 1024)
        if self.script.get("full"):
            # These connections fill the queue, so that the kernel ignores all later ones.
            for _ in range(4):
                self.fillers.append(filler := socket.socket())
                filler.setblocking(False)
                filler.connect_ex(("127.0.0.1", self.port))
            return
        threading.Thread(target=self.accept, daemon=True).start()

    def log(self, event, connection, **values):
        self.server.log(self.case["id"], origin=self.name, event=event, connection=connection.number, **values)

    def accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            self.opened += 1
            threading.Thread(target=self.serve, args=(Connection(self, sock, self.opened),), daemon=True).start()

    def serve(self, connection):
        self.log("open", connection)
        side = "peer"
        try:
            self.act(self.script.get("accept", []), connection, None)
            if self.tls != "none":
                protocols = ["h2"] if self.name == "H" else ["http/1.1"]
                settings = certificates.context(self.server.folder / "certificates", self.tls, protocols)
                connection.socket = settings.wrap_socket(connection.socket, server_side=True)
                self.log("tls", connection, version=connection.socket.version())
            if self.name == "H":
                http2.serve(self, connection)
            else:
                self.serve_requests(connection)
        except Ended as ended:
            side = str(ended)
        except (OSError, ValueError) as error:
            self.log("failed", connection, error=type(error).__name__)
        connection.socket.close()
        self.log("end", connection, by=side, sent=connection.sent)

    def serve_requests(self, connection):
        authority = ""
        while True:
            connection.buffer = connection.buffer or connection.receive()
            # The first byte of a TLS handshake.
            is_tls = connection.buffer.startswith(b"\x16")
            request = Request(connection.buffer if is_tls else connection.read_until(b"\r\n\r\n"))
            if is_tls or not re.fullmatch(r"HTTP/1\.[01]", request.version):
                self.log("unreadable", connection)
                connection.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                connection.close()
            if authority and request.target.startswith("/"):
                request.target = authority + request.target
            actions = self.actions(request)
            if {"unread": True} not in actions:
                request.read_body(connection)
            number = self.log_request(connection, request.method, request.target, request.fields, request.body)
            if request.method == "CONNECT" and not actions:
                connection.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
                authority = self.tunnel(connection, request.target)
                continue
            self.act(actions, connection, request, number)
            if request.version == "HTTP/1.0" or "close" in request.value("connection").lower():
                connection.close()

    def log_request(self, connection, method, target, fields, body):
        with self.lock:
            number = self.counts[""] = self.counts.get("", 0) + 1
        self.log("request", connection, number=number, method=method, target=target, fields=fields, length=len(body),
                 sha256=hashlib.sha256(body).hexdigest())
        return number

    def actions(self, request):
        paths = self.script.get("paths", {})
        target = request.target.split("?")[0]
        path = re.sub(r"^https?://[^/]*", "", target)
        for key in (f"{request.method} {path}", target, path, request.method, "*"):
            if key in paths and (request.method != "CONNECT" or key == "CONNECT"):
                return self.next_script(key, paths[key])
        if request.method == "CONNECT":
            return []
        return [{"respond": 404}]

    def next_script(self, key, scripts):
        """The first request gets the first list of actions, and so on; the last list is repeated."""
        with self.lock:
            number = self.counts[key] = self.counts.get(key, 0) + 1
        if not all(isinstance(script, list) for script in scripts):
            return scripts
        return scripts[min(number, len(scripts)) - 1]

    def tunnel(self, connection, target):
        """Connects to an origin of the case, also for port 443; other requests are served on this connection."""
        port, origins = int(target.rpartition(":")[2]), [origin for origin in self.server.origins if origin.case is self.case]
        if port == 443:
            port = next((origin.port for origin in origins if origin.name == "S"), 0)
        if port not in [origin.port for origin in origins]:
            return f"http://{target.removesuffix(':80')}"
        with socket.create_connection(("127.0.0.1", port)) as other:
            sides = {connection.socket: other, other: connection.socket}
            poll = select.poll()
            for side in sides:
                poll.register(side, select.POLLIN)
            while time.monotonic() < connection.end:
                for number, _ in poll.poll(1000):
                    side = next(side for side in sides if side.fileno() == number)
                    data = side.recv(PIECE)
                    if not data:
                        raise Ended("peer")
                    sides[side].sendall(data)
        raise Ended("server")

    def act(self, actions, connection, request, number=0):
        variables = self.server.variables[self.case["id"]]
        if request:
            path = re.sub(r"^https?://[^/]*", "", request.target)
            variables = {**variables, "path": path, "count": number, "next": number + 1}
        for action in actions:
            if isinstance(action, str):
                connection.send(plan.build(action, variables))
            elif "respond" in action:
                connection.send(response(action, request, variables))
            elif "send" in action:
                connection.send(plan.build(action["send"], variables))
            elif "repeat" in action:
                self.repeat(action, connection, variables)
            elif "wait" in action:
                time.sleep(action["wait"] / 1000)
            elif "tunnel" in action:
                self.tunnel(connection, request.target)
            elif "read" in action:
                request.read_body_now(connection)
                self.log("body", connection, number=number, length=len(request.body),
                         sha256=hashlib.sha256(request.body).hexdigest())
            elif "hold" in action:
                connection.hold(action["hold"] / 1000)
            elif "end" in action:
                connection.close(action["end"])

    def repeat(self, action, connection, variables):
        data, every = plan.build(action["repeat"], variables), action.get("every", 0) / 1000
        if "count" in action and not every:
            connection.send(data * action["count"])
            return
        if not every:
            data *= max(1, PIECE // len(data))
        done = 0
        while done < action.get("count", 1 << 62):
            if time.monotonic() > connection.end:
                raise Ended("server")
            connection.send(data)
            done += 1
            time.sleep(every)


def response(action, request, variables):
    """Returns a response with correct framing."""
    status, body = action["respond"], plan.build(action.get("body", ""), variables)
    lines = [f"HTTP/1.1 {status} {http.client.responses.get(status, 'Status')}"]
    lines += [plan.fill(line, variables) for line in action.get("fields", [])]
    if status >= 200 and status not in (204, 304):
        lines.append(f"Content-Length: {len(body)}")
    head = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"
    return head if request and request.method == "HEAD" else head + body


class Server:
    def __init__(self, cases, folder):
        self.cases, self.folder = cases, pathlib.Path(folder)
        self.begin, self.lock, self.logs = time.monotonic(), threading.Lock(), {name: [] for name in cases}
        certificates.make(self.folder / "certificates")
        self.file = open(self.folder / "log.jsonl", "w")
        threading.stack_size(1 << 18)
        self.origins = [Origin(self, case, name, script)
                        for case in cases.values() for name, script in case["server"].items()]
        self.variables = {name: {} for name in cases}
        for origin in self.origins:
            self.variables[origin.case["id"]] |= {origin.name: origin.url, f"{origin.name}port": origin.port}
        for origin in self.origins:
            origin.start()
        (self.folder / "calls.json").write_text(json.dumps(self.calls(), indent=1))

    def calls(self):
        """Returns what a driver may know of each case: nothing about the right outcome."""
        result = []
        for name, case in self.cases.items():
            variables = self.variables[name]
            settings = {key: plan.fill(value, variables) if isinstance(value, str) else value
                        for key, value in case.get("client", {}).items()}
            environment = {key: plan.fill(value, variables) for key, value in case.get("environment", {}).items()}
            result.append({"id": name, "needs": case["needs"], "client": settings, "environment": environment,
                           "authority": str(self.folder / "certificates/ca.pem"), "steps": plan.steps(case, variables)})
        return result

    def log(self, case, **entry):
        entry["at"] = round((time.monotonic() - self.begin) * 1000)
        with self.lock:
            self.logs[case].append(entry)
            if not self.file.closed:
                self.file.write(json.dumps({"case": case, **entry}) + "\n")
                self.file.flush()

    def log_of(self, case):
        with self.lock:
            return list(self.logs[case])

    def stop(self):
        for origin in self.origins:
            try:
                # Ends the thread that accepts connections.
                origin.listener.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            origin.listener.close()
            for filler in origin.fillers:
                filler.close()
        with self.lock:
            self.file.close()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    server = Server({name: case for name, case in plan.load().items()
                     if not sys.argv[2:] or name in sys.argv[2:] or case["kind"] in sys.argv[2:]}, folder)
    print("ready", flush=True)
    sys.stdin.read()
    server.stop()
