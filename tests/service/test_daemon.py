"""A real daemon, driven with Debian's python3-grpcio over a unix socket and TCP."""

import json
import os
import re
import signal
import tempfile
import threading
import unittest
import urllib.error
import urllib.request

import grpc

from harness import (BENCH, C1, C1_WRAPPED, CUZK, MINER, PARAMS, SECTOR, Daemon, main,
                     proto_modules, run)

pb = proto_modules()
SERVICE = "/cuzk.v1.ProvingEngine/"
# A pool of its own: otherwise a new channel shares the dead connection of an older one.
OPTIONS = [("grpc.max_send_message_length", 1 << 28), ("grpc.max_receive_message_length", 1 << 28),
           ("grpc.use_local_subchannel_pool", 1)]
COMPLETED, FAILED, CANCELLED, TIMEOUT = 1, 2, 3, 4


class Client:
    def __init__(self, address):
        self.channel = grpc.insecure_channel(address, options=OPTIONS)

    def call(self, method, request, response_type, timeout=120):
        stub = self.channel.unary_unary(SERVICE + method,
                                        request_serializer=lambda m: m.SerializeToString(),
                                        response_deserializer=response_type.FromString)
        return stub(request, timeout=timeout)

    def submit(self, **fields):
        return self.call("SubmitProof", submit_request(**fields), pb.SubmitProofResponse)

    def prove(self, timeout=300, **fields):
        request = pb.ProveRequest(submit=submit_request(**fields))
        return self.call("Prove", request, pb.ProveResponse, timeout).result

    def wait(self, job_id, timeout_ms=0, timeout=300):
        request = pb.AwaitProofRequest(job_id=job_id, timeout_ms=timeout_ms)
        return self.call("AwaitProof", request, pb.AwaitProofResponse, timeout)

    def cancel(self, job_id):
        return self.call("CancelProof", pb.CancelProofRequest(job_id=job_id),
                         pb.CancelProofResponse).was_running

    def status(self):
        return self.call("GetStatus", pb.GetStatusRequest(), pb.GetStatusResponse, 5)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def submit_request(request_id="test", payload=None, **fields):
    values = {"proof_kind": 1, "sector_size": 2048, "registered_proof": 5, "priority": 2,
              "sector_number": SECTOR, "miner_id": MINER,
              "vanilla_proof": read(C1_WRAPPED) if payload is None else payload}
    values.update(fields)
    return pb.SubmitProofRequest(request_id=request_id, **values)


def mutated_c1(**changes):
    c1 = json.loads(read(C1))
    c1.update(changes)
    return json.dumps(c1).encode()


class OneDaemon(unittest.TestCase):
    """Tests that share a daemon; each leaves it idle."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(cls.addClassCleanup, tcp=True,
                            settings=["daemon.status_listen=127.0.0.1:0"])
        cls.client = Client(cls.daemon.address)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.signal(signal.SIGTERM)
        assert cls.daemon.wait() == 0, cls.daemon.read_log()
        assert not os.path.exists(cls.daemon.socket)
        cls.daemon.stop()

    def assert_refused(self, code, text, call, *arguments, **fields):
        with self.assertRaises(grpc.RpcError) as caught:
            call(*arguments, **fields)
        self.assertEqual(caught.exception.code(), code, caught.exception.details())
        self.assertIn(text, caught.exception.details())
        self.assertNotIn("\n", caught.exception.details())

    def http(self, path):
        with urllib.request.urlopen(f"http://{self.daemon.http_address()}{path}", timeout=10) as r:
            return r.headers["Content-Type"], r.read().decode()

    def test_two_requests_with_one_id_get_their_own_proofs(self):
        """Curio sends all WindowPoSt partitions of a deadline under one id: never mix them. A
        repeated request attaches to its job; another payload is another job."""
        first = self.client.submit(request_id="same-id [1 2 3]")
        again = self.client.submit(request_id="same-id [1 2 3]")
        other = self.client.submit(request_id="same-id [1 2 3]", payload=read(C1))
        self.assertEqual(first.job_id, again.job_id)
        self.assertNotEqual(first.job_id, other.job_id)
        for job in (first, other):
            self.assertTrue(job.job_id.startswith("same-id [1 2 3]"))
            self.assertIn(f"job {job.job_id} submitted from unix:uid={os.getuid()},",
                          self.daemon.read_log())
        # A wait that ends first says so; the job goes on.
        self.assertEqual(self.client.wait(other.job_id, timeout_ms=1).status, TIMEOUT)
        proofs = [self.client.wait(job.job_id) for job in (first, other)]
        for result in proofs:
            self.assertEqual(result.status, COMPLETED, result.error_message)
            self.assertEqual(len(result.proof), 192)
            self.assertGreater(result.total_ms, 0)
        self.assertNotEqual(proofs[0].proof, proofs[1].proof)
        # Kept results are served again, without new work.
        served = self.client.prove(request_id="same-id [1 2 3]")
        self.assertEqual(served.proof, proofs[0].proof)
        self.assertFalse(self.client.cancel(first.job_id))
        self.verify(served.proof)
        status = self.client.status()
        self.assertEqual(status.total_proofs_completed, 2)
        self.assertEqual([s.circuit_id for s in status.loaded_srs], ["porep-2k"])
        self.assertEqual(len(status.gpus), 1)

    def verify(self, proof):
        path = os.path.join(self.daemon.folder, "proof.bin")
        with open(path, "wb") as file:
            file.write(proof)
        result = run(CUZK, "verify", "--c1", C1, "--proof", path, "--param-cache", PARAMS)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(path, "wb") as file:
            file.write(proof[144:] + proof[48:144] + proof[:48])  # A and C change places
        result = run(CUZK, "verify", "--c1", C1, "--proof", path, "--param-cache", PARAMS)
        self.assertEqual(result.returncode, 6, result.stderr)

    def test_bad_requests_cost_one_line(self):
        bad = grpc.StatusCode.INVALID_ARGUMENT
        submit = self.client.submit
        self.assert_refused(bad, "proof_kind", submit, proof_kind=0)
        self.assert_refused(bad, "proof_kind", submit, proof_kind=99)
        self.assert_refused(bad, "vanilla proof", submit, payload=b"")
        self.assert_refused(bad, "randomness", submit, randomness=b"x" * 31)
        self.assert_refused(bad, "sector_size", submit, sector_size=2049)
        self.assert_refused(bad, "request_id", submit, request_id="x" * 5000)
        self.assert_refused(grpc.StatusCode.NOT_FOUND, "no-such-job", self.client.wait,
                            "no-such-job")
        self.assert_refused(grpc.StatusCode.UNIMPLEMENTED, "", self.client.call, "Nothing",
                            pb.GetStatusRequest(), pb.GetStatusResponse)

    def test_bad_c1_fails_in_milliseconds_and_names_the_fault(self):
        cases = {
            b"not json": "byte",
            mutated_c1(comm_r=[255] * 32): "comm_r",
            mutated_c1(seed=[0] * 32): "seed",
            mutated_c1(replica_id=[1] * 32): "replica_id",
            mutated_c1(comm_d=[0] * 32): "comm_d",
            mutated_c1(registered_proof="StackedDrg9KiBV1"): "registered_proof",
            mutated_c1(registered_proof="StackedDrg2KiBV1_2_Feat_NonInteractivePoRep"):
                "nteractive",
            read(C1_WRAPPED).replace(b'"SectorNum":42', b'"SectorNum":41'): "SectorNum",
        }
        for payload, expected in cases.items():
            try:
                result = self.client.prove(request_id="bad", payload=payload)
            except grpc.RpcError as refused:
                self.assertIn(refused.code(), (grpc.StatusCode.INVALID_ARGUMENT,
                                               grpc.StatusCode.UNIMPLEMENTED))
                text = refused.details()
            else:
                self.assertEqual(result.status, FAILED)
                self.assertEqual(result.proof, b"")
                self.assertLess(result.total_ms, 5000)
                text = result.error_message
            self.assertIn(expected, text)
            self.assertNotIn("\n", text)

    def test_bad_partition_is_named_when_its_turn_comes(self):
        result = self.client.prove(request_id="bad", payload=mutated_c1(comm_r=[1] + [0] * 31))
        self.assertEqual(result.status, FAILED)
        self.assertEqual(result.proof, b"")
        self.assertEqual(result.error_message, "C1: partition 0: comm_r is not the hash of comm_c "
                         "and comm_r_last, the roots in challenge 0")

    def test_cancel_waiting_and_running(self):
        running = self.client.submit(request_id="running", payload=read(C1) + b" ")
        queued = [self.client.submit(request_id=f"queued-{i}", payload=read(C1) + b"  ")
                  for i in range(2)]
        answers = {}
        waiter = threading.Thread(
            target=lambda: answers.update(queued=self.client.wait(queued[0].job_id)))
        waiter.start()
        for job in queued:
            self.assertTrue(self.client.cancel(job.job_id))
            self.assertFalse(self.client.cancel(job.job_id))
        waiter.join(30)
        self.assertEqual(answers["queued"].status, CANCELLED)
        self.assertTrue(self.client.cancel(running.job_id))
        self.assertEqual(self.client.wait(running.job_id).status, CANCELLED)

    def test_preload_and_evict(self):
        # Its own daemon: what runs on a processor goes on for a while after it was cancelled, and
        # what is in use is not evicted.
        client = Client(Daemon(self.addCleanup).address)
        loaded = client.call("PreloadSRS", pb.PreloadSrsRequest(circuit_id="porep-2k"),
                             pb.PreloadSrsResponse)
        again = client.call("PreloadSRS", pb.PreloadSrsRequest(circuit_id="porep-2k"),
                            pb.PreloadSrsResponse)
        self.assertTrue(again.already_loaded)
        self.assertGreaterEqual(loaded.load_time_ms, 0)
        with self.assertRaises(grpc.RpcError) as caught:
            client.call("PreloadSRS", pb.PreloadSrsRequest(circuit_id="porep-9k"),
                        pb.PreloadSrsResponse)
        self.assertIn("porep-9k", caught.exception.details())
        evicted = client.call("EvictSRS", pb.EvictSrsRequest(circuit_id="porep-2k"),
                              pb.EvictSrsResponse)
        self.assertTrue(evicted.was_loaded)
        self.assertGreater(evicted.freed_bytes, 1 << 30)
        evicted = client.call("EvictSRS", pb.EvictSrsRequest(circuit_id="porep-2k"),
                              pb.EvictSrsResponse)
        self.assertFalse(evicted.was_loaded)

    def test_metrics_and_status_are_well_formed(self):
        kind, text = self.http("/metrics")
        self.assertTrue(kind.startswith("text/plain"))
        for line in text.splitlines():
            self.assertRegex(line, r"^(#( HELP| TYPE) .*|[a-z_:]+(\{[^\n]*\})? [-+0-9.eInfNa]+)$")
        for name in ("cuzk_proofs_completed_total", "cuzk_proofs_failed_total",
                     "cuzk_uptime_seconds", "cuzk_queue_depth", "cuzk_running_jobs"):
            self.assertIn(name, text)
        kind, text = self.http("/status")
        self.assertEqual(kind, "application/json")
        status = json.loads(text)
        for key in ("uptime_secs", "memory", "synthesis", "pipelines", "gpu_workers", "allocations",
                    "counters"):
            self.assertIn(key, status)
        kind, text = self.http("/timeline")
        self.assertTrue(kind.startswith("text/html"))
        with self.assertRaises(urllib.error.HTTPError) as caught:
            self.http("/nothing")
        self.assertEqual(caught.exception.code, 404)
        bench = run(BENCH, "-a", self.daemon.address, "status")
        self.assertEqual(bench.returncode, 0, bench.stderr)
        self.assertIn("Queues:", bench.stdout)
        bench = run(BENCH, "-a", "http://" + self.daemon.tcp_address(), "metrics")
        self.assertIn("cuzk_uptime_seconds", bench.stdout)

    def test_hostile_ids_do_not_break_the_timeline(self):
        hostile = 'a,b" {c="d\\},ü %n'
        self.assert_refused(grpc.StatusCode.INVALID_ARGUMENT, "control character",
                            self.client.submit, request_id="a\nb")
        result = self.client.prove(request_id=hostile, payload=mutated_c1(seed=[0] * 32))
        self.assertEqual(result.status, FAILED)
        lines = [l for l in self.daemon.read_log().splitlines() if l.startswith("TIMELINE,")]
        for line in lines:
            self.assertRegex(line, r"^TIMELINE,\d+,[A-Z_]+,[^,\x00-\x1f]*,")
        self.http("/metrics")
        json.loads(self.http("/status")[1])

    def test_a_second_daemon_does_not_steal_the_socket(self):
        result = run(CUZK, "serve", "--listen", self.daemon.address,
                     "--set", f"srs.param_cache={PARAMS}")
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertGreaterEqual(self.client.status().uptime_seconds, 0)


class Stopping(unittest.TestCase):
    def test_sigterm_finishes_what_runs(self):
        daemon = Daemon(self.addCleanup)
        client = Client(daemon.address)
        answers = []
        thread = threading.Thread(target=lambda: answers.append(client.prove(request_id="last")))
        thread.start()
        daemon.wait_for_line("SYNTH_START")
        daemon.signal(signal.SIGTERM)
        daemon.wait_for_line("draining")
        with self.assertRaises(grpc.RpcError) as caught:
            client.submit(request_id="late")
        self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAVAILABLE)
        thread.join()
        self.assertEqual(answers[0].status, COMPLETED)
        self.assertEqual(daemon.wait(), 0)
        self.assertFalse(os.path.exists(daemon.socket))
        daemon.stop()

    def test_a_second_signal_stops_at_once(self):
        daemon = Daemon(self.addCleanup)
        Client(daemon.address).submit(request_id="cut short")
        daemon.wait_for_line("SYNTH_START")
        daemon.signal(signal.SIGTERM)
        daemon.wait_for_line("draining")
        daemon.signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(60), 1)
        daemon.stop()

    def test_accepted_jobs_survive_kill_9(self):
        with tempfile.TemporaryDirectory(prefix="cuzk-test-") as folder:
            settings = [f"daemon.state_dir={folder}/state"]
            daemon = Daemon(self.addCleanup, folder=folder, settings=settings)
            client = Client(daemon.address)
            jobs = [client.submit(request_id=f"job-{i}", payload=read(C1) + b" " * i).job_id
                    for i in range(2)]
            daemon.wait_for_line("SYNTH_START")
            daemon.signal(signal.SIGKILL)
            daemon.wait()
            daemon = Daemon(self.addCleanup, folder=folder, settings=settings)
            client = Client(daemon.address)
            for job in jobs:
                self.assertEqual(client.wait(job).status, COMPLETED)
            # A finished proof is served by the next process as well.
            proof = client.wait(jobs[0]).proof
            daemon.stop()
            daemon = Daemon(self.addCleanup, folder=folder, settings=settings)
            self.assertEqual(Client(daemon.address).wait(jobs[0]).proof, proof)
            daemon.stop()

    def test_sighup_reloads_the_log_level(self):
        daemon = Daemon(self.addCleanup)
        daemon.signal(signal.SIGHUP)
        daemon.wait_for_line("configuration reloaded")
        daemon.stop()


class Bench(unittest.TestCase):
    def test_batch_output_and_waterfall(self):
        daemon = Daemon(self.addCleanup)
        result = run(BENCH, "-a", daemon.address, "--param-cache", PARAMS, "batch", "-t", "porep",
                     "--c1", C1_WRAPPED, "-c", "2", "-j", "2", timeout=600)
        daemon.signal(signal.SIGTERM)
        daemon.wait()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        lines = [l for l in result.stdout.splitlines() if re.match(
            r"  \[\d/2\] COMPLETED \u2014 \d+\.\ds \(prove=\d+ ms, queue=\d+ ms\) verified$", l)]
        self.assertEqual(len(lines), 2, result.stdout)
        self.assertRegex(result.stdout, r"completed:     2\nfailed:        0\n")
        self.assertRegex(result.stdout, r"throughput:    \d+\.\d{3} proofs/min")
        self.assertIn("p95=", result.stdout)
        waterfall = run(CUZK, "waterfall", daemon.log_path)
        self.assertEqual(waterfall.returncode, 0, waterfall.stderr)
        self.assertIn("2 complete", waterfall.stdout.replace(" jobs", ""))
        daemon.stop()

    def test_failed_jobs_and_absent_daemons_are_failures(self):
        daemon = Daemon(self.addCleanup)
        bad = os.path.join(daemon.folder, "bad.json")
        with open(bad, "wb") as file:
            file.write(mutated_c1(seed=[0] * 32))
        result = run(BENCH, "-a", daemon.address, "batch", "-t", "porep", "--c1", bad, "-c", "2")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("seed", result.stdout)
        daemon.stop()
        result = run(BENCH, "-a", "unix:///nonexistent.sock", "status")
        self.assertEqual(result.returncode, 1)


if __name__ == "__main__":
    main()
