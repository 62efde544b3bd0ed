"""A headless Chromium, driven over the pipe of its DevTools protocol: no port, no other package.

with Chromium() as browser:
    page = browser.page(1280, 900)
    page.open(pathlib.Path("report.html"))
    page.evaluate("document.title")
"""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium-headless-shell", "chromium", "google-chrome")
SECONDS = 60  # for any one answer, on a busy machine


class Chromium:
    def __init__(self):
        program = next(filter(None, map(shutil.which, NAMES)), None)
        if program is None:
            raise SystemExit(f"none of {', '.join(NAMES)} is on PATH: apt-get install {NAMES[0]}")
        self.folder = tempfile.TemporaryDirectory(prefix="hone-chromium-")
        arguments = [program, "--headless", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run",
                     "--hide-scrollbars", "--disable-background-networking", f"--user-data-dir={self.folder.name}",
                     "--host-resolver-rules=MAP * ~NOTFOUND"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")  # which it refuses to have as root
        to_read, self.to = os.pipe()
        self.come, to_write = os.pipe()

        def give_pipes():  # the browser reads from 3 and writes to 4
            high_read, high_write = os.dup(to_read), os.dup(to_write)
            keep_read, keep_write = max(high_read, 10), max(high_write, 11)
            os.dup2(high_read, keep_read)
            os.dup2(high_write, keep_write)
            os.dup2(keep_read, 3)
            os.dup2(keep_write, 4)

        self.process = subprocess.Popen(arguments, preexec_fn=give_pipes, close_fds=False,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.number, self.events = b"", 0, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        os.close(self.to)
        os.close(self.come)
        for _ in range(20):  # its helpers may still be writing there
            try:
                self.folder.cleanup()
                return
            except OSError:
                time.sleep(0.1)

    def receive(self, deadline):
        import select
        while b"\0" not in self.buffer:
            if not select.select([self.come], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"Chromium gave no answer in {SECONDS} s")
            read = os.read(self.come, 1 << 20)
            if not read:
                raise RuntimeError("Chromium ended")
            self.buffer += read
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + SECONDS
        while True:
            answer = self.receive(deadline)
            if answer.get("id") != self.number:
                self.events.append(answer)
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            return answer["result"]

    def page(self, width, height, dark=False, phone=False):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(f"{domain}.enable")
        page.resize(width, height, phone)
        page.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        return page


class Page:
    def __init__(self, browser, session):
        self.browser, self.session = browser, session

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def resize(self, width, height, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def open(self, file, fragment=""):
        """Returns the seconds until the page has drawn what its address names."""
        begin = time.monotonic()
        self.call("Page.navigate", url=pathlib.Path(file).resolve().as_uri() + fragment)
        self.wait("document.readyState === 'complete' && document.documentElement.dataset.shown !== undefined")
        # Two frames: the first one draws.
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
        return time.monotonic() - begin

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, condition):
        deadline = time.monotonic() + SECONDS
        while not self.evaluate(condition):
            if time.monotonic() > deadline:
                raise TimeoutError(condition)
            time.sleep(0.01)

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                      **({"text": "\r"} if key == "Enter" and kind == "keyDown" else {}))

    def picture(self, file):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(file).write_bytes(base64.b64decode(data))

    def _events(self, *methods):
        self.call("Runtime.evaluate", expression="0")  # what happened before is here after it
        return [each["params"] for each in self.browser.events
                if each.get("sessionId") == self.session and each["method"] in methods]

    def errors(self):
        """Exceptions, console.error and what the browser itself complains of (a forbidden request)."""
        found = [each["exceptionDetails"].get("exception", each["exceptionDetails"]).get("description", "exception")
                 for each in self._events("Runtime.exceptionThrown")]
        found += [str(each["args"]) for each in self._events("Runtime.consoleAPICalled") if each["type"] in ("error", "warning")]
        return found + [each["entry"]["text"] for each in self._events("Log.entryAdded")
                        if each["entry"]["level"] in ("error", "warning")]

    def requests(self):
        return [each["request"]["url"] for each in self._events("Network.requestWillBeSent")]
