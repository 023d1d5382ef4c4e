"""cuzk-bench's sweep and compare, labelled runs, and the what-if of their log: on the sim backend,
so that nothing is proved, and against a server of another make that has no labels."""

import concurrent.futures
import json
import os
import re
import tempfile
import unittest
import xml.etree.ElementTree

import grpc

from harness import BENCH, C1_WRAPPED, CUZK, PARAMS, Daemon, main, proto_modules, run

pb = proto_modules()
from cuzk.v1 import timeline_pb2  # pylint: disable=import-error,wrong-import-position

LOAD = ("-t", "porep", "--c1", C1_WRAPPED)


def bench(address, *arguments, params=PARAMS, json_output=False):
    flags = ["--json"] if json_output else []
    return run(BENCH, "-a", address, "--param-cache", params, *flags, *arguments)


class Simulated(unittest.TestCase):
    """A daemon on the sim backend: a partition takes a second on the device. It makes no proofs, so
    every run exits with 1 and says so; the times are what is looked at."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(cls.addClassCleanup, settings=["gpus.backend=sim"])

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def path(self, name):
        return os.path.join(self.daemon.folder, name)

    def test_sweep_table_labels_and_plot(self):
        result = bench(self.daemon.address, "sweep", *LOAD, "-c", "2", "-j", "1", "-j", "2",
                       "--label", "table", "--log", self.daemon.log_path,
                       "--plot", self.path("sweep.svg"))
        self.assertEqual(result.returncode, 1, result.stderr)
        table = result.stdout.split("=== Sweep ===\n")[1].splitlines()
        self.assertRegex(table[0], r"count +at once +total s +wall s +p50 s +p95 s +prove s"
                                   r" +queue s +proofs/min +device busy +bottleneck +failed")
        rows = [re.split(r" {2,}", line.strip()) for line in table[1:]]
        self.assertEqual([row[:2] for row in rows], [["2", "1"], ["2", "2"]])
        for row in rows:
            self.assertEqual(row[6], "1.0")  # a second on the device
            self.assertTrue(20 < float(row[8]) <= 60, row)
            self.assertGreater(int(row[9].split()[0]), 30)
            self.assertEqual(row[11], "2 simulated")
        log = self.daemon.read_log()
        for label, concurrency in (("table-c2-j1", 1), ("table-c2-j2", 2)):
            self.assertRegex(log, rf"TIMELINE,\d+,RUN_START,{label},"
                                  rf"count=2,concurrency={concurrency},config=porep\n")
            self.assertRegex(log, rf"TIMELINE,\d+,RUN_END,{label},\n")
        picture = xml.etree.ElementTree.parse(self.path("sweep.svg")).getroot()
        lines = picture.findall(".//{http://www.w3.org/2000/svg}polyline")
        self.assertEqual(len(lines), 4)
        self.assertTrue(all(len(line.get("points").split()) == 2 for line in lines))

    def test_json_compare_and_what_if(self):
        sweep = bench(self.daemon.address, "sweep", *LOAD, "-c", "1", "-j", "1", "-c", "2", "-j",
                      "2", json_output=True)
        batch = bench(self.daemon.address, "batch", *LOAD, "-c", "2", "-j", "2", "--label", "again",
                      json_output=True)
        self.assertEqual((sweep.returncode, batch.returncode), (1, 1), sweep.stderr + batch.stderr)
        runs = json.loads(sweep.stdout)["runs"]
        self.assertEqual([(r["label"], r["count"], r["simulated"]) for r in runs],
                         [("c1-j1", 1, 1), ("c2-j2", 2, 2)])
        self.assertEqual(json.loads(batch.stdout)["label"], "again")
        for name, text in (("a.json", sweep.stdout), ("b.json", batch.stdout)):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
        files = (self.path("a.json"), self.path("b.json"))
        compared = run(BENCH, "--json", "compare", *files)
        self.assertEqual(compared.returncode, 0, compared.stderr)
        answer = json.loads(compared.stdout)
        self.assertEqual([(r["count"], r["concurrency"]) for r in answer["runs"]], [(2, 2)])
        self.assertTrue(0.7 < answer["throughput_ratio"] < 1.4, answer)
        self.assertIn("Uncertain", answer["verdict"])
        markdown = run(BENCH, "compare", "--markdown", *files).stdout
        self.assertTrue(markdown.startswith("| count | at once |"), markdown)

        # The device is the wall: two of them halve the run, and more synthesis changes nothing.
        walls = {}
        for knobs in ("synth=4", "devices=2,synth=2,lookahead=2"):
            result = run(CUZK, "waterfall", "--run", "again", "--what-if", knobs, "-f", "json",
                         self.daemon.log_path)
            self.assertEqual(result.returncode, 0, result.stderr)
            answer = json.loads(result.stdout)["what_if"][0]
            self.assertEqual((answer["jobs"], answer["was"]["in_flight"]), (2, 2))
            self.assertAlmostEqual(answer["replayed"]["wall_s"], answer["measured"]["wall_s"],
                                   delta=0.3)
            walls[knobs] = answer["predicted"]["wall_s"]
        self.assertTrue(1.9 < walls["synth=4"] < 2.6, walls)
        self.assertTrue(0.9 < walls["devices=2,synth=2,lookahead=2"] < 1.6, walls)
        text = run(CUZK, "waterfall", "--run", "again", "--what-if", "faster=device:2",
                   self.daemon.log_path)
        self.assertIn("what if faster=device:2?", text.stdout)
        self.assertLessEqual(max(map(len, text.stdout.splitlines())), 80)

    def test_wrong_usage(self):
        address = self.daemon.address
        cases = {
            ("sweep", *LOAD): "each -j is a run",
            ("sweep", *LOAD, "-c", "2", "-j", "1", "-c", "3"): "each -j is a run",
            ("sweep", *LOAD, "-j", "0"): "expected a number from 1",
            ("single", *LOAD, "--count", "2"): "single has no --count",
            ("batch", *LOAD, "--plot", "x"): "batch has no --plot",
            ("batch", *LOAD, "--label", "\x01"): "printable",
            ("compare", "one"): "Usage",
            ("compare", C1_WRAPPED, C1_WRAPPED): "expected the output of",
        }
        for arguments, expected in cases.items():
            result = bench(address, *arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(expected, result.stderr)
        self.assertEqual(run(BENCH, "compare", "/nonexistent", C1_WRAPPED).returncode, 1)
        for arguments in (("--what-if", "synth=0"), ("--what-if", "synth=2", "-f", "html")):
            result = run(CUZK, "waterfall", *arguments, self.daemon.log_path)
            self.assertEqual(result.returncode, 2, result.stderr)
        for command in ("sweep", "compare", "batch", "single"):
            self.assertEqual(run(BENCH, command, "--help").returncode, 0)

    def mark(self, **fields):
        with grpc.insecure_channel(self.daemon.address) as channel:
            stub = channel.unary_unary(
                "/cuzk.v1.Timeline/MarkRun",
                request_serializer=lambda m: m.SerializeToString(),
                response_deserializer=timeline_pb2.MarkRunResponse.FromString)
            stub(timeline_pb2.MarkRunRequest(**fields), timeout=30)

    def test_marks_of_strangers_do_not_break_the_timeline(self):
        for fields in ({"edge": 1}, {"edge": 1, "label": "x" * 65}, {"edge": 1, "label": "a\nb"},
                       {"edge": 0, "label": "a"}, {"edge": 7, "label": "a"}):
            with self.assertRaises(grpc.RpcError) as caught:
                self.mark(**fields)
            self.assertEqual(caught.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        self.mark(edge=1, label="a,b %", count=3, config="x,device=99\nTIMELINE,0 " + "y" * 500)
        self.mark(edge=2, label="a,b %")
        lines = [l for l in self.daemon.read_log().splitlines() if "a%2Cb %25" in l]
        self.assertEqual(len(lines), 2, lines)
        self.assertRegex(lines[0], r"^TIMELINE,\d+,RUN_START,a%2Cb %25,count=3,concurrency=0,"
                                   r"config=x_device_99_TIMELINE_0_y+$")


class OtherMake(unittest.TestCase):
    """A server that only has Prove: no labels, and what it returns are not proofs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cuzk-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(4),
                                  options=[("grpc.max_receive_message_length", 1 << 28)])
        handler = grpc.unary_unary_rpc_method_handler(
            self.prove, request_deserializer=pb.ProveRequest.FromString,
            response_serializer=lambda m: m.SerializeToString())
        self.server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(
            "cuzk.v1.ProvingEngine", {"Prove": handler}),))
        self.address = f"unix://{self.folder}/other.sock"
        self.server.add_insecure_port(f"unix:{self.folder}/other.sock")
        self.server.start()
        self.addCleanup(lambda: self.server.stop(None).wait())

    @staticmethod
    def prove(request, _context):
        result = pb.AwaitProofResponse(job_id=request.submit.request_id, status=1,
                                       proof=b"\x01" * 192, gpu_compute_ms=2000, queue_wait_ms=500)
        return pb.ProveResponse(result=result)

    def test_exit_codes_of_a_sweep(self):
        sweep = ("sweep", *LOAD, "-c", "3", "-j", "2", "-j", "3", "--markdown")
        good = bench(self.address, *sweep, params=self.folder)
        self.assertEqual(good.returncode, 0, good.stderr)
        rows = good.stdout.splitlines()
        self.assertEqual(len(rows), 4, good.stdout)
        self.assertRegex(rows[2], r"^\| +3 \| +2 \|.*\| +2\.0 \| +0\.5 \| +\d+\.\d+ \|$")
        self.assertNotIn("failed", rows[0])
        # With the key at hand the bench sees that these are no proofs.
        bad = bench(self.address, *sweep)
        self.assertEqual(bad.returncode, 6, bad.stdout + bad.stderr)


if __name__ == "__main__":
    main()
