"""Records traffic between curl and httpbin to a HAR file with mitmproxy, and saves what curl received.

The traffic covers what recorders often get wrong: content codings, bytes that are not text, repeated header fields, cookies,
redirects, bodies of each kind, responses without a body, chunks, and two responses to one request.
"""
import base64
import json
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import beside  # noqa: E402

START_SECONDS = 30
BINARY = bytes(range(256))
MULTIPART = (b'--b1\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n'
             b"Content-Type: application/octet-stream\r\n\r\n" + BINARY + b"\r\n--b1--\r\n")

# Method, path, body and its Content-Type. No request except /uuid occurs twice.
REQUESTS = [
    ("GET", "/get", None, None),
    ("GET", "/get?q=a%20b&q=2&empty=&novalue&uml=%C3%BC", None, None),
    ("GET", "/gzip", None, None),
    ("GET", "/deflate", None, None),
    ("GET", "/brotli", None, None),
    ("GET", "/bytes/256?seed=7", None, None),
    ("GET", "/image/png", None, None),
    ("GET", "/encoding/utf8", None, None),
    ("GET", "/redirect/2", None, None),
    ("GET", "/redirect-to?url=/get&status_code=307", None, None),
    ("POST", "/post", b"a=1&b=%C3%BC+x", "application/x-www-form-urlencoded"),
    ("POST", "/post", '{"name": "Grüße", "n": 1.50}'.encode(), "application/json"),
    ("POST", "/post", MULTIPART, "multipart/form-data; boundary=b1"),
    ("PUT", "/put", BINARY, "application/octet-stream"),
    ("PATCH", "/patch", b"text", "text/plain"),
    ("DELETE", "/delete", None, None),
    ("HEAD", "/get", None, None),
    ("OPTIONS", "/get", None, None),
    ("GET", "/status/204", None, None),
    ("GET", "/status/304", None, None),
    ("GET", "/status/404", None, None),
    ("GET", "/status/418", None, None),
    ("GET", "/status/500", None, None),
    ("GET", "/cookies/set?k1=v1&k2=v2", None, None),
    ("GET", "/response-headers?X-Dup=1&X-Dup=2", None, None),
    ("GET", "/range/100", None, None),
    ("GET", "/stream/3", None, None),
    ("GET", "/stream-bytes/1000?seed=1&chunk_size=100", None, None),
    ("GET", "/uuid", None, None),
    ("GET", "/uuid", None, None),
]


def start_mitmdump(venv, folder, options):
    """Starts mitmdump on a free port; returns its process and the port."""
    path = folder / "mitmdump.log"
    with open(path, "wb") as log:
        process = subprocess.Popen(
            [venv / "bin/python", "-u", venv / "bin/mitmdump", "--set", f"confdir={folder / 'mitmproxy'}",
             "--listen-host", "127.0.0.1", "--listen-port", "0", *options],
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, cwd=folder, start_new_session=True,
            preexec_fn=beside.end_with_parent)
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(r"listening at \S*?:(\d+)", path.read_text(errors="replace")):
            return process, int(found[1])
        time.sleep(0.02)
    beside.stop(process)
    sys.exit(f"mitmdump did not start within {START_SECONDS} s, or exited; its output:\n{path.read_text(errors='replace')}")


def curl(proxy, folder, method, url, body, content_type):
    """Sends a request through a proxy; returns the status and the decoded body."""
    output, sent = folder / "answer.bin", folder / "request.bin"
    output.unlink(missing_ok=True)
    command = ["curl", "--silent", "--show-error", "--max-time", "20", "--compressed", "--proxy", f"http://127.0.0.1:{proxy}",
               "--noproxy", "", "--output", output, "--write-out", "%{http_code}", "--header", "Expect:"]
    command += ["--head"] if method == "HEAD" else ["--request", method]
    if body is not None:
        sent.write_bytes(body)
        command += ["--header", f"Content-Type: {content_type}", "--data-binary", f"@{sent}"]
    result = subprocess.run([*command, url], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"curl failed to send {method} {url}: {result.stderr}")
    # With --head, curl writes the header fields instead of a body.
    received = output.read_bytes() if output.exists() and method != "HEAD" else b""
    return int(result.stdout), received


def capture(venv, folder, httpbin):
    """Writes traffic.har and traffic.json to the folder; returns their paths."""
    har, manifest = folder / "traffic.har", []
    process, port = start_mitmdump(venv, folder, ["--set", f"hardump={har}"])
    try:
        for method, path, body, content_type in REQUESTS:
            status, received = curl(port, folder, method, httpbin + path, body, content_type)
            manifest.append({
                "method": method, "url": httpbin + path, "contentType": content_type or "",
                "body": None if body is None else base64.b64encode(body).decode(),
                "status": status, "received": base64.b64encode(received).decode(),
            })
        process.send_signal(signal.SIGTERM)
        process.wait(START_SECONDS)
    finally:
        beside.stop(process)
    if not har.exists():
        sys.exit(f"mitmdump exited without writing {har}")
    (folder / "traffic.json").write_text(json.dumps(manifest))
    return har, folder / "traffic.json"
