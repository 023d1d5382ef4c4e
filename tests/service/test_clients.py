"""Foreign clients: gRPC's JavaScript client, and the conformance list of a grpc-go client."""

import json
import os
import signal
import tempfile
import unittest

from harness import C1_WRAPPED, Daemon, main, run, skip_line, unpack

HERE = os.path.dirname(os.path.abspath(__file__))
INVALID_ARGUMENT, DEADLINE_EXCEEDED = 3, 4


class JavaScript(unittest.TestCase):
    def test_grpc_js(self):
        if not os.path.exists(os.path.join(HERE, "node_modules", "@grpc", "grpc-js")):
            skip_line("npm packages of the service tests are not installed (tools/setup)")
        daemon = Daemon(self.addCleanup)
        result = run("node", os.path.join(HERE, "client.mjs"), f"unix:{daemon.socket}", C1_WRAPPED,
                     timeout=600)
        daemon.stop()
        self.assertEqual(result.returncode, 0, result.stderr)
        answer = json.loads(result.stdout)
        self.assertEqual(answer["empty"]["code"], INVALID_ARGUMENT)
        self.assertEqual(answer["short"]["code"], DEADLINE_EXCEEDED)
        # 60 MB of blanks: refused with a reason, or a job that fails with one; never a lost call.
        self.assertTrue("jobId" in answer["big"] or answer["big"]["code"] == INVALID_ARGUMENT)
        self.assertEqual(len(answer["proofs"][0]), 384, answer["proofs"])
        self.assertEqual(answer["proofs"][0], answer["proofs"][1])


class Conformance(unittest.TestCase):
    """The list must pass on both kinds of socket, also the checks of --strict;
    docs/internals/conformance.md explains the exceptions."""

    EXCEPTIONS = "junk.porep,size.large-2349-fields"

    def long_job(self, program, address):
        """Queues three jobs and returns the id of the last, which cannot end within ten seconds."""
        for name in ("one", "two", "three"):
            result = run(program, "submit", "porep", "--addr", address, "--c1", C1_WRAPPED,
                         "--seal-proof", "5", "--sector", "42", "--request-id", f"{address}-{name}")
            self.assertEqual(result.returncode, 0, result.stdout)
        return json.loads(result.stdout)["response"]["job_id"]

    def check(self, program, address, also):
        job = self.long_job(program, address)
        result = run(program, "conformance", "--fast", "--strict", "--block-id", job,
                     "--skip", self.EXCEPTIONS, "--also", also, address, timeout=900)
        bad = [line for line in result.stdout.splitlines() if line.startswith("FAIL")]
        self.assertEqual(bad, [], result.stdout[-3000:])
        self.assertEqual(result.returncode, 0, result.stdout[-3000:])
        run(program, "cancel", "--addr", address, job)

    def test_unix_socket(self):
        with tempfile.TemporaryDirectory() as folder:
            program = unpack("vectors/clients/wire-check.xz", folder)
            daemon = Daemon(self.addCleanup, tcp=True)
            self.check(program, daemon.address, daemon.tcp_address())

    def test_tcp(self):
        with tempfile.TemporaryDirectory() as folder:
            program = unpack("vectors/clients/wire-check.xz", folder)
            daemon = Daemon(self.addCleanup, tcp=True)
            self.check(program, daemon.tcp_address(), daemon.address)


if __name__ == "__main__":
    main()
