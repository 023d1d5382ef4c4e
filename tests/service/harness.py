"""Starting and asking a real daemon, for the service tests."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("CUZK_BUILD", os.path.join(ROOT, "build"))
CUZK = os.path.join(BUILD, "bin", "cuzk")
BENCH = os.path.join(BUILD, "bin", "cuzk-bench")
SHARED = os.environ.get("CUZK_SHARED", os.path.join(ROOT, "..", "shared"))
C1 = os.path.join(ROOT, "vectors/reference/porep-2k/c1.json")
C1_WRAPPED = os.path.join(ROOT, "vectors/reference/porep-2k/c1-wrapped.json")
PARAMS = os.environ.get("CUZK_DEV_PARAMS") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "cuzk", "dev-params")
SECTOR, MINER = 42, 1000


def run(*arguments, **options):
    """Runs a program to its end; returns the CompletedProcess with text output."""
    timeout = options.pop("timeout", 120)
    return subprocess.run(arguments, capture_output=True, text=True, timeout=timeout, check=False,
                          **options)


def skip_line(reason):
    """Says in one line why something is skipped; the summary of tools/check collects these."""
    print(f"SKIP: {reason}")
    raise unittest.SkipTest(reason)


def shared_file(name):
    """A file of the shared collection; skips the test where it is absent."""
    path = os.path.join(SHARED, name)
    if not os.path.exists(path):
        skip_line(f"{name} is not on this machine")
    return path


def unpack(name, folder):
    """Unpacks an .xz program of the shared collection and returns its path."""
    source = shared_file(name)
    target = os.path.join(folder, os.path.basename(name)[:-3])
    with open(target, "wb") as out:
        subprocess.run(["xz", "-dc", source], stdout=out, check=True)
    os.chmod(target, 0o755)
    return target


class Daemon:
    """A daemon with a unix socket (and TCP if asked for) in a folder of its own. It does not
    outlive the test: `cleanup` is the test's addCleanup or addClassCleanup."""

    def __init__(self, cleanup, folder=None, settings=(), tcp=False, environment=None):
        self.owned = None if folder else tempfile.TemporaryDirectory(prefix="cuzk-test-")
        self.folder = folder or self.owned.name
        self.socket = os.path.join(self.folder, "cuzk.sock")
        self.address = f"unix://{self.socket}"
        self.log_path = os.path.join(self.folder, "daemon.log")
        listen = self.address + (",127.0.0.1:0" if tcp else "")
        command = [CUZK, "serve", "--listen", listen, "--set", f"srs.param_cache={PARAMS}"]
        for setting in settings:
            command += ["--set", setting]
        self.log = open(self.log_path, "ab")
        self.start_offset = os.path.getsize(self.log_path)
        self.process = subprocess.Popen(command, stderr=self.log, stdout=self.log,
                                        env=dict(os.environ, **(environment or {})))
        cleanup(self.kill)
        self.wait_for_line("listening on " + ("127.0.0.1" if tcp else "unix"))

    def kill(self):
        if self.process.poll() is None:
            self.signal(signal.SIGKILL)
            self.wait()
        if self.owned:
            self.owned.cleanup()

    def read_log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            log.seek(self.start_offset)
            return log.read()

    def wait_for_line(self, text, seconds=60):
        """Waits until the daemon has logged a line with `text`; fails if it ends before."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            line = next((l for l in self.read_log().splitlines() if text in l), None)
            if line:
                return line
            if self.process.poll() is not None:
                raise AssertionError(f"the daemon ended: {self.read_log()}")
            time.sleep(0.02)
        raise AssertionError(f"no line with '{text}' in {seconds} s: {self.read_log()}")

    def tcp_address(self):
        line = self.wait_for_line("listening on 127.0.0.1")
        return line.split("listening on ")[1].strip()

    def http_address(self):
        return self.wait_for_line("status on http://").split("status on http://")[1].strip()

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, seconds=120):
        code = self.process.wait(seconds)
        self.log.close()
        return code

    def stop(self):
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
            self.wait()


def proto_modules():
    """The Python form of proving.proto, generated into a temporary folder; that of timeline.proto
    can be imported as well then."""
    folder = tempfile.mkdtemp(prefix="cuzk-proto-")
    subprocess.run(["protoc", f"--proto_path={ROOT}/proto", f"--python_out={folder}",
                    "cuzk/v1/proving.proto", "cuzk/v1/timeline.proto"], check=True)
    sys.path.insert(0, folder)
    from cuzk.v1 import proving_pb2  # pylint: disable=import-outside-toplevel,import-error
    return proving_pb2


def main():
    """unittest.main with the closing lines that tools/check counts."""
    result = unittest.main(exit=False, verbosity=2).result
    skipped = len(result.skipped)
    failed = len(result.failures) + len(result.errors)
    print(f"[  PASSED  ] {result.testsRun - failed - skipped} test(s).")
    print(f"[  FAILED  ] {failed} test(s)")
    print(f"[  SKIPPED ] {skipped} test(s)", flush=True)
    sys.exit(1 if failed else 0)
