"""Runs two clients through the plan: a strict one, which the judgement must find right, and a careless one.

Both are for this test only. They show that the server does what the plan says, and that a judgement can both pass and fail.
HTTP/2 is not covered.
"""
import concurrent.futures, email.utils, hashlib, json, os, pathlib, re, socket, ssl, threading, time, urllib.parse, zlib

import judge, server

FEATURES = {"http1", "tls", "proxy", "decode", "timeout", "fields", "concurrency", "limit", "cancel", "retry", "cookies", "cache",
            "sse", "proxy-environment", "redirects"}
# What a strict client must limit.
HEAD_BYTES, BODY_BYTES, REDIRECTS, WORKERS = 1 << 19, 1 << 25, 20, 8
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Failed(Exception):
    """A call that failed."""


class Reply:
    def __init__(self, status, fields):
        self.status, self.fields, self.body = status, fields, b""

    def all(self, name):
        return [value for field, value in self.fields if field.lower() == name]

    def get(self, name):
        return ", ".join(self.all(name)) if self.all(name) else None


class Wire:
    """A connection with a deadline for each wait."""

    def __init__(self, sock, end):
        self.socket, self.end, self.buffer = sock, end, b""

    def wait(self):
        left = self.end - time.monotonic()
        if left <= 0:
            raise Failed("deadline")
        self.socket.settimeout(left)

    def send(self, data):
        for start in range(0, len(data), 65536):
            self.wait()
            self.socket.sendall(data[start:start + 65536])

    def more(self):
        self.wait()
        data = self.socket.recv(65536)
        self.buffer += data
        return bool(data)

    def line(self, limit):
        while b"\n" not in self.buffer:
            if len(self.buffer) > limit or not self.more():
                raise Failed("no end of line")
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.removesuffix(b"\r").decode("latin-1")

    def exactly(self, count):
        while len(self.buffer) < count:
            if not self.more():
                raise Failed("truncated")
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data


class Strict:
    """One client: its idle connections, cookies and stored responses belong to a case."""

    is_careless = False

    def __init__(self, case):
        self.case, self.idle, self.cookies, self.stored, self.lock = case, {}, [], {}, threading.Lock()
        self.proxy = case["client"].get("proxy") or self.proxy_of_environment()

    def proxy_of_environment(self):
        environment = self.case["environment"]
        if "GATEWAY_INTERFACE" in environment:
            return environment["HTTP_PROXY"] if self.is_careless else None
        self.excluded = [part.strip() for part in environment.get("no_proxy", "").split(",")]
        return environment.get("http_proxy")

    # The connection

    def goes_to_proxy(self, url):
        excluded = getattr(self, "excluded", [])
        return self.proxy and not (("*" in excluded or url.hostname in excluded) and not self.is_careless)

    def connect(self, url, end):
        """Returns a connection and whether it was idle before."""
        key = (url.scheme, url.hostname, url.port)
        with self.lock:
            wire = self.idle.pop(key, None)
        if wire:
            wire.end = end
            if self.is_careless:
                return wire, True
            wire.socket.settimeout(0)
            try:
                if not wire.buffer and wire.socket.recv(1) == b"unreachable":
                    pass
            except (BlockingIOError, ssl.SSLWantReadError):
                return wire, True
            except OSError:
                pass
            wire.socket.close()
        to = urllib.parse.urlsplit(self.proxy) if self.goes_to_proxy(url) else url
        left = end - time.monotonic()
        if left <= 0:
            raise Failed("deadline")
        wire = Wire(socket.create_connection((to.hostname, to.port), left), end)
        if url.scheme == "https":
            if to is not url:
                self.tunnel(wire, to, url)
            wire.wait()
            context = ssl.create_default_context(cafile=self.case["authority"])
            context.minimum_version = ssl.TLSVersion.TLSv1_2
            context.hostname_checks_common_name = False
            if self.is_careless:
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                context.minimum_version = ssl.TLSVersion.TLSv1
                context.set_ciphers("ALL:@SECLEVEL=0")
            wire.socket = context.wrap_socket(wire.socket, server_hostname=url.hostname, suppress_ragged_eofs=self.is_careless)
        return wire, False

    def tunnel(self, wire, proxy, url):
        credentials = "Proxy-Authorization: Basic canary\r\n" if proxy.username else ""
        wire.send(f"CONNECT {url.hostname}:{url.port or 443} HTTP/1.1\r\n{credentials}\r\n".encode())
        reply = self.read_head(wire)
        while reply.status < 200:
            reply = self.read_head(wire)
        if reply.status >= 300:
            raise Failed("no tunnel")

    # One exchange

    def request_bytes(self, call, url, method, fields, body):
        path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        if self.goes_to_proxy(url) and url.scheme == "http":
            path = f"http://{url.netloc}{path}"
        if self.is_careless:
            path = path if not re.search(r"[\r\n]", call["url"]) else call["url"].split("/", 3)[3].join(["/", ""])
        elif not TOKEN.fullmatch(method) or re.search(r"[\x00-\x20\x7f-\xff]", path):
            raise Failed("invalid request")
        lines = [f"{method} {path} HTTP/1.1", f"Host: {url.netloc}"]
        for name, value in fields:
            if not self.is_careless and (not TOKEN.fullmatch(name) or re.search(r"[\r\n\0]", value)):
                raise Failed("invalid field")
            if name.lower() != "content-length" or self.is_careless:
                lines.append(f"{name}: {value}")
        if body is not None and not any(name.lower() == "content-length" for name, _ in fields if self.is_careless):
            lines.append(f"Content-Length: {len(body)}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + (body or b"")

    def read_head(self, wire):
        line = wire.line(HEAD_BYTES)
        match = re.fullmatch(r"HTTP/1\.([01]) ([1-5]\d\d)( .*)?", line)
        if not match or "\0" in line:
            raise Failed("status line")
        reply, size = Reply(int(match[2]), []), len(line)
        reply.version = int(match[1])
        while line := wire.line(HEAD_BYTES):
            size += len(line)
            name, colon, value = line.partition(":")
            if size > HEAD_BYTES or not colon or not TOKEN.fullmatch(name) or re.search(r"[\0\r]", value):
                raise Failed("field")
            reply.fields.append((name, value.strip()))
        return reply

    def read_chunks(self, wire):
        body = b""
        while True:
            match = re.fullmatch(r"([0-9A-Fa-f]{1,15})(;.*)?", wire.line(HEAD_BYTES))
            if not match or len(body) > BODY_BYTES:
                raise Failed("chunk")
            if not (size := int(match[1], 16)):
                break
            body += wire.exactly(size)
            if wire.exactly(2) != b"\r\n":
                raise Failed("chunk")
        size = 0
        while line := wire.line(HEAD_BYTES):
            size += len(line)
            if size > HEAD_BYTES:
                raise Failed("trailer")
        return body

    def read_body(self, wire, reply, method):
        """Reads the body, and returns whether the connection can be used again."""
        reusable = reply.version == 1 and "close" not in (reply.get("connection") or "").lower()
        if method == "HEAD" or reply.status in (204, 304):
            return reusable
        coding, lengths = reply.get("transfer-encoding"), set(re.split(r"\s*,\s*", reply.get("content-length") or ""))
        if coding is not None:
            if coding.lower() == "chunked":
                reply.body = self.read_chunks(wire)
                return reusable and lengths == {""}
        elif reply.get("content-length") is not None:
            if len(lengths) > 1 or not re.fullmatch(r"[0-9]{1,15}", length := lengths.pop()):
                raise Failed("length")
            reply.body = wire.exactly(int(length))
            return reusable
        while wire.more():
            pass
        reply.body = wire.buffer
        return False

    def exchange(self, call, url, method, fields, body, end):
        wire, was_idle = self.connect(url, end)
        reusable, has_sent = False, False
        try:
            data = self.request_bytes(call, url, method, fields, body)
            self.send_while_reading(wire, data)
            reply = self.read_head(wire)
            count = 0
            while reply.status < 200:
                count += 1
                if reply.status == 101 or count > 5000:
                    raise Failed("informational")
                reply = self.read_head(wire)
            has_sent = True
            if reply.status in (301, 302, 303, 307, 308) and reply.get("location"):
                return reply
            reusable = self.read_body(wire, reply, method)
            return reply
        except (Failed, OSError):
            if was_idle and not has_sent and method == "GET" and time.monotonic() < end:
                return self.exchange(call, url, method, fields, body, end)
            raise
        finally:
            if reusable:
                with self.lock:
                    self.idle[(url.scheme, url.hostname, url.port)] = wire
            else:
                wire.socket.close()

    def send_while_reading(self, wire, data):
        """Stops to send when a response arrives."""
        if len(data) < 65536 or isinstance(wire.socket, ssl.SSLSocket):
            wire.send(data)
            return
        wire.socket.settimeout(0)
        sent = 0
        while sent < len(data):
            if time.monotonic() > wire.end:
                raise Failed("deadline")
            try:
                sent += wire.socket.send(data[sent:sent + 65536])
            except BlockingIOError:
                time.sleep(0.01)
            try:
                wire.buffer += wire.socket.recv(65536)
                return
            except BlockingIOError:
                pass

    # Content coding, cookies, retries and redirects

    def decode(self, reply, method):
        codings = [coding.strip().lower() for coding in (reply.get("content-encoding") or "").split(",") if coding.strip()]
        if "decode" not in self.case["needs"] or method == "HEAD" or reply.status == 204 or not reply.body and not codings[1:]:
            return
        if len(codings) > 5:
            raise Failed("codings")
        for coding in reversed(codings):
            bits = {"gzip": 31, "x-gzip": 31, "deflate": 15}[coding]
            data, text = reply.body, b""
            while data:
                decoder = zlib.decompressobj(bits)
                try:
                    text += decoder.decompress(data, BODY_BYTES)
                except zlib.error:
                    raise Failed("coding") from None
                if not decoder.eof:
                    raise Failed("truncated or too large")
                data = decoder.unused_data
            reply.body = text

    def store_cookies(self, url, reply):
        host, path = url.hostname, url.path or "/"
        for text in reply.all("set-cookie"):
            pair, *attributes = [part.strip() for part in text.split(";")]
            name, _, value = pair.partition("=")
            known = {key.strip().lower(): item.strip() for key, _, item in (part.partition("=") for part in attributes)}
            domain = known.get("domain", "").removeprefix(".").lower()
            if domain and (domain in ("com", "co.uk") or not (host == domain or host.endswith("." + domain)) or host[-1].isdigit()):
                continue
            default = path[:path.rfind("/")] or "/"
            cookie = {"name": name, "value": value, "host": domain or host, "exact": not domain, "secure": "secure" in known,
                      "path": known["path"] if known.get("path", "").startswith("/") else default}
            self.cookies = [old for old in self.cookies
                            if [old[key] for key in ("name", "host", "path")] != [cookie[key] for key in ("name", "host", "path")]]
            if known.get("max-age") != "0":
                self.cookies.append(cookie)

    def cookie_field(self, url):
        def is_for(cookie):
            host, path = url.hostname, url.path or "/"
            is_host = host == cookie["host"] or not cookie["exact"] and host.endswith("." + cookie["host"])
            is_path = path == cookie["path"] or path.startswith(cookie["path"].removesuffix("/") + "/")
            return is_host and is_path and (url.scheme == "https" or not cookie["secure"])
        text = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in self.cookies if is_for(cookie))
        return [["Cookie", text]] if text else []

    def attempt(self, call, url, method, fields, body, end):
        """One exchange, and more if the case permits retries."""
        for count in range(3):
            reply = self.exchange(call, url, method, fields, body, end)
            if "retry" not in self.case["needs"] or reply.status not in (429, 503) or method == "POST":
                break
            after = reply.get("retry-after") or ""
            seconds = 0.3
            if after.isdigit():
                seconds = max(0.1, int(after))
            elif date := email.utils.parsedate_to_datetime(after) if re.search(r"GMT$", after) else None:
                seconds = max(0.1, date.timestamp() - time.time())
            if time.monotonic() + seconds > end or count == 2:
                break
            time.sleep(seconds)
        return reply

    def call(self, call):
        end = time.monotonic() + min(call.get("deadline", 5000), call.get("cancel", 5000)) / 1000
        method, fields, text = call["method"], call["fields"], call["url"]
        body = call["body"].encode("latin-1") if "body" in call else None
        for _ in range(REDIRECTS):
            url = urllib.parse.urlsplit(text)
            more, stored = [], self.stored.get(text)
            if "cookies" in self.case["needs"]:
                more += self.cookie_field(url)
            if "cache" in self.case["needs"] and stored and method == "GET":
                more.append(["If-None-Match", stored.get("etag")])
            reply = self.attempt(call, url, method, [*fields, *more], body, end)
            self.store_cookies(url, reply)
            if reply.status == 304 and stored:
                reply = stored
            if "cache" in self.case["needs"] and reply.get("etag"):
                self.stored[text] = reply
            location = reply.get("location")
            if reply.status not in (301, 302, 303, 307, 308) or not location:
                self.decode(reply, method)
                return reply
            text, before = urllib.parse.urljoin(text, location), url
            url = urllib.parse.urlsplit(text.split("#")[0])
            text = url.geturl()
            if url.scheme not in ("http", "https") or not text.isascii():
                raise Failed("location")
            if (url.scheme, url.netloc) != (before.scheme, before.netloc):
                fields = [field for field in fields if field[0].lower() not in
                          ("authorization", "cookie", "proxy-authorization", "x-api-key")]
            if reply.status == 303 and method != "HEAD" or reply.status in (301, 302) and method == "POST":
                method, body = "GET", None
                fields = [field for field in fields if not field[0].lower().startswith("content-")]
        raise Failed("too many redirects")

    # Event streams

    def subscribe(self, call):
        end, events, last, retry, url = time.monotonic() + call["for"] / 1000, [], "", 0.1, urllib.parse.urlsplit(call["url"])
        while len(events) < call["events"] and time.monotonic() < end:
            fields = [["Last-Event-ID", last]] if last else []
            wire, _ = self.connect(url, end)
            try:
                wire.send(self.request_bytes(call, url, "GET", fields, None))
                reply = self.read_head(wire)
                if reply.status != 200 or reply.get("content-type") != "text/event-stream":
                    if events:
                        break
                    raise Failed("no event stream")
                text, data, identifier = self.text_lines(wire), [], last
                for line in text:
                    name, _, value = line.partition(":")
                    value = value.removeprefix(" ")
                    if not line:
                        last = identifier
                        if data:
                            events.append("\n".join(data))
                        data = []
                        if len(events) == call["events"]:
                            break
                    elif name == "data":
                        data.append(value)
                    elif name == "id" and "\0" not in value:
                        identifier = value
                    elif name == "retry" and value.isdigit():
                        retry = max(0.1, int(value) / 1000)
            except (Failed, OSError):
                if not events:
                    raise
            finally:
                wire.socket.close()
            time.sleep(min(retry, max(0, end - time.monotonic())))
        return events

    def text_lines(self, wire):
        """Yields the complete lines; CR, LF and CRLF end a line."""
        text, is_first, ended_with_return = b"", True, False
        while True:
            if not wire.buffer and not wire.more():
                return
            byte, wire.buffer = wire.buffer[:1], wire.buffer[1:]
            if byte == b"\n" and ended_with_return:
                ended_with_return = False
                continue
            ended_with_return = byte == b"\r"
            if byte in b"\r\n":
                yield text.removeprefix(b"\xef\xbb\xbf" if is_first else b"").decode("utf-8", "replace")
                text, is_first = b"", False
            else:
                text += byte


class Careless(Strict):
    """Takes what comes, forwards every field, verifies nothing, and retries everything at once."""

    is_careless = True

    def read_head(self, wire):
        while b"\n\r\n" not in wire.buffer and b"\n\n" not in wire.buffer and wire.more():
            pass
        head, _, wire.buffer = re.sub(rb"\r?\n\r?\n", b"\n\n", wire.buffer, count=1).partition(b"\n\n")
        lines = re.split(r"[\r\n]+", head.decode("latin-1"))
        numbers = re.findall(r"\d+", lines[0].partition(" ")[2]) + [200]
        reply = Reply(int(numbers[0]), [line.partition(":")[::2] for line in lines[1:]])
        reply.fields = [(name.strip(), value.strip()) for name, value in reply.fields]
        reply.version = 1
        return reply

    def read_body(self, wire, reply, method):
        try:
            if reply.get("content-length"):
                reply.body = wire.exactly(abs(int(re.sub(r"[^0-9-]", "", reply.all("content-length")[0]) or 0)))
            elif "chunked" in (reply.get("transfer-encoding") or ""):
                while size := int(re.sub(r"[^0-9a-f]", "", wire.line(HEAD_BYTES).lower()) or "0", 16):
                    reply.body += wire.exactly(size % (1 << 64))
                    wire.exactly(2)
                return True
            else:
                reply.body = wire.exactly(1 << 26)
        except (Failed, OSError):
            reply.body += wire.buffer
            wire.buffer = b""
        return True

    def decode(self, reply, method):
        try:
            if "decode" in self.case["needs"]:
                reply.body = zlib.decompressobj(47).decompress(reply.body)
        except zlib.error:
            pass

    def store_cookies(self, url, reply):
        self.cookies += [text.split(";")[0] for text in reply.all("set-cookie")]

    def cookie_field(self, url):
        return [["Cookie", "; ".join(self.cookies)]] if self.cookies else []

    def attempt(self, call, url, method, fields, body, end):
        for count in range(30):
            try:
                reply = self.exchange(call, url, method, fields, body, end)
                if reply.status < 400 or "retry" not in self.case["needs"]:
                    return reply
            except (Failed, OSError):
                if count == 29:
                    raise
        return reply

    def call(self, call):
        call = {key: value for key, value in call.items() if key not in ("deadline", "cancel")}
        if "cache" in self.case["needs"] and call["url"] in self.stored:
            return self.stored[call["url"]]
        end, text, body = time.monotonic() + 4.5, call["url"], call["body"].encode("latin-1") if "body" in call else None
        for _ in range(100):
            url = urllib.parse.urlsplit(text)
            if url.scheme == "file":
                reply = Reply(200, [])
                reply.body = pathlib.Path(url.path).read_bytes() if os.path.exists(url.path) else b""
                return reply
            reply = self.attempt(call, url, call["method"], [*call["fields"], *self.cookie_field(url)], body, end)
            self.store_cookies(url, reply)
            if not 300 <= reply.status < 400 or not reply.get("location"):
                break
            text = urllib.parse.urljoin(text, urllib.parse.unquote(reply.get("location")))
            call = {**call, "url": text}
        self.decode(reply, call["method"])
        self.stored[call["url"]] = reply
        return reply


def result(client, call):
    begin = time.monotonic()
    def milliseconds():
        return round((time.monotonic() - begin) * 1000)
    try:
        if "events" in call:
            return {"outcome": "value", "status": 200, "events": client.subscribe(call), "ms": milliseconds()}
        reply = client.call(call)
        fields = {name: reply.get(name) for name in call.get("read", []) if reply.get(name) is not None}
        return {"outcome": "value", "status": reply.status, "bytes": len(reply.body), "fields": fields, "ms": milliseconds(),
                "sha256": hashlib.sha256(reply.body).hexdigest()}
    except (Failed, OSError, ValueError, KeyError, IndexError, RecursionError) as error:
        return {"outcome": "error", "error": repr(error), "ms": milliseconds()}


def perform(kind, case):
    client, results = kind(case), []
    # A strict client never has more connections than workers.
    with concurrent.futures.ThreadPoolExecutor(8 if "limit" in case["needs"] else 64) as pool:
        for step in case["steps"]:
            time.sleep(max(call.get("wait", 0) for call in step) / 1000)
            results += pool.map(lambda call: result(client, call), step)
    return results


def run(cases, folder):
    """Runs both clients through all cases without HTTP/2, and returns an exit code."""
    marks = {}
    for kind in (Strict, Careless):
        chosen = {name: case for name, case in cases.items() if set(case["needs"]) <= FEATURES}
        faults = server.Server(chosen, pathlib.Path(folder) / kind.__name__)
        waiting = json.loads((faults.folder / "calls.json").read_text())
        def judged(case):
            results = perform(kind, case)
            time.sleep(0.4)
            return case["id"], judge.judge(cases[case["id"]], {"results": results, "log": faults.log_of(case["id"])})
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            marks[kind] = dict(pool.map(judged, waiting))
        faults.stop()
    scored = [name for name in marks[Strict] if not cases[name].get("arguable")]
    bad = [f"{name}: the strict client is wrong: {marks[Strict][name][1]}" for name in scored if marks[Strict][name][0] != "ok"]
    easy = [name for name in scored if marks[Careless][name][0] == "ok"]
    print("\n".join(bad))
    print(f"strict: {len(scored) - len(bad)} of {len(scored)} right; careless: {len(scored) - len(easy)} wrong")
    print("careless is right in: " + " ".join(easy))
    kinds = {cases[name]["kind"] for name in scored if name not in easy}
    return bool(bad) or len(scored) - len(easy) < 20 or len(kinds) < 10
