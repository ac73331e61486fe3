"""A TLS server for HTTP/2 that never completes the header fields of its responses.

It sends a HEADERS frame without END_HEADERS, and then a CONTINUATION frame with a field of 16,000 bytes, one every 50 ms.
"""
import socket
import ssl
import struct
import threading
import time

PREFACE = 24
HEADERS, SETTINGS, CONTINUATION = 1, 4, 9
ACK = 1
STATUS_200 = b"\x88"
# A field named "a" in HPACK, whose value has 16,000 bytes.
FIELD, VALUE_LENGTH = b"\x00\x01a\x7f\x81\x7c", 16_000


def frame(kind, flags, stream, payload, length=None):
    return struct.pack(">I", len(payload) if length is None else length)[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def read(secure, count):
    data = b""
    while len(data) < count:
        piece = secure.recv(count - len(data))
        if not piece:
            raise OSError("closed")
        data += piece
    return data


def serve(connection, context):
    connection.settimeout(60)
    with connection, context.wrap_socket(connection, server_side=True) as secure:
        read(secure, PREFACE)
        secure.sendall(frame(SETTINGS, 0, 0, b""))
        while True:
            head = read(secure, 9)
            length, kind, flags, stream = int.from_bytes(head[:3], "big"), head[3], head[4], int.from_bytes(head[5:], "big")
            read(secure, length)
            if kind == SETTINGS and not flags & ACK:
                secure.sendall(frame(SETTINGS, ACK, 0, b""))
            if kind == HEADERS:
                break
        secure.sendall(frame(HEADERS, 0, stream, STATUS_200) + frame(CONTINUATION, 0, stream, FIELD, length=len(FIELD) + VALUE_LENGTH))
        for _ in range(1200):
            secure.sendall(b"x")
            time.sleep(0.05)


def start(certificate, key):
    """Starts the server on a free port of 127.0.0.1; returns the port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["h2"])
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)

    def serve_quietly(connection):
        try:
            serve(connection, context)
        except OSError:
            pass

    def accept():
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve_quietly, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]
