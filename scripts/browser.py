"""Headless Chromium for the checks of web pages: sitecheck.py and inspectorcheck.py."""
import json, os, shutil, subprocess, sys


class Browser:
    """Headless Chromium, controlled with the DevTools protocol over a pair of pipes."""

    def __init__(self, folder):
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if not program: sys.exit("browser: chromium is not in the PATH (Debian: apt-get install chromium)")
        read_end, self.output = os.pipe()
        self.input, write_end = os.pipe()
        # Chromium reads commands from descriptor 3 and writes to descriptor 4.
        command = f'exec "$0" "$@" 3<&{read_end} 4>&{write_end}'
        self.process = subprocess.Popen(
            ["bash", "-c", command, program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--disable-dev-shm-usage", "--disable-background-networking", f"--user-data-dir={folder}", "about:blank"],
            pass_fds=(read_end, write_end), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_end), os.close(write_end)
        self.last, self.buffer, self.errors, self.is_loaded = 0, b"", [], False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"): self.call(f"{domain}.enable")

    def read(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.input, 1 << 16)
            if not piece: sys.exit("browser: chromium exited unexpectedly")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if hasattr(self, "session"): message["sessionId"] = self.session
        text = json.dumps(message).encode() + b"\0"
        while text: text = text[os.write(self.output, text):]
        while True:
            event = self.read()
            if event.get("id") == self.last:
                if "error" in event: sys.exit(f"browser: {method}: {event['error']}")
                return event["result"]
            self.note(event)

    def note(self, event):
        parameters = event.get("params", {})
        if event.get("method") == "Page.loadEventFired": self.is_loaded = True
        elif event.get("method") == "Runtime.exceptionThrown":
            self.errors.append(parameters["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        elif event.get("method") == "Runtime.consoleAPICalled" and parameters["type"] == "error":
            self.errors.append(" ".join(str(value.get("value", value.get("description"))) for value in parameters["args"]))
        elif event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")

    def open(self, url):
        """Opens a page, and returns when it has loaded."""
        self.errors, self.is_loaded = [], False
        self.call("Page.navigate", url=url)
        while not self.is_loaded: self.note(self.read())

    def value(self, expression):
        """Returns the value of an expression in the page, after its promise if it is one."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description") or details["text"])
        return result["result"].get("value")

    def stop(self):
        self.process.terminate()
        self.process.wait()
