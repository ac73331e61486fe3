"""A TLS server that ends connections in different ways. Only some of them prove that the body is complete.

| path | body |
|---|---|
| /closed | ends with the connection, which is closed with close_notify |
| /cut | ends with the connection, which is closed without close_notify; an attacker may have closed it |
| /whole | has a Content-Length and is complete; no close_notify |
| /short, /chunks | are shorter than announced; no close_notify |
| /reset | is interrupted by a reset |
| /reset-at-once | a reset without a response |
| /nothing | no response; no close_notify |
| /garbage | is followed by bytes that are not TLS |
"""
import socket
import ssl
import struct
import threading

HEAD = b"HTTP/1.1 200 OK\r\n"
ANSWERS = {
    "/closed": HEAD + b"\r\na body",
    "/cut": HEAD + b"\r\na body",
    "/whole": HEAD + b"Content-Length: 6\r\nConnection: close\r\n\r\na body",
    "/short": HEAD + b"Content-Length: 60\r\n\r\na body",
    "/chunks": HEAD + b"Transfer-Encoding: chunked\r\n\r\n6\r\na body\r\n",
    "/reset": HEAD + b"Content-Length: 60\r\n\r\na body",
    "/garbage": HEAD + b"Content-Length: 60\r\n\r\na body",
    "/nothing": b"",
    "/reset-at-once": b"",
}


def serve(connection, context):
    connection.settimeout(60)
    with connection:
        secure = context.wrap_socket(connection, server_side=True)
        request = b""
        while b"\r\n\r\n" not in request and (piece := secure.recv(1 << 16)):
            request += piece
        target = request.split(b" ")[1].decode() if request else ""
        secure.sendall(ANSWERS.get(target, HEAD + b"Content-Length: 0\r\n\r\n"))
        if target == "/closed":
            secure.unwrap()
        elif target == "/garbage":
            raw = socket.socket(fileno=secure.detach())
            raw.sendall(b"garbage" * 100)
            raw.shutdown(socket.SHUT_WR)
            raw.recv(1 << 16)
            raw.close()
        elif target.startswith("/reset"):
            secure.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        # Without unwrap(), no close_notify is sent.
        secure.close()


def start(certificate, key):
    """Starts the server on a free port of 127.0.0.1; returns the port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
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
