"""Every kind of proof through the daemon, asked for as Curio does, judged by the reference."""

import base64
import json
import os
import tempfile
import unittest

from harness import BENCH, PARAMS, ROOT, Daemon, main, run, unpack

LONG = os.environ.get("CUZK_TEST_LONG") == "1"
FRESH_SECTORS = 20 if LONG else 1
REFERENCE = os.path.join(ROOT, "vectors/reference")
FAILED = 20  # wire-check's exit status for a proof that failed


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def read_base64(path):
    with open(path, "rb") as file:
        return base64.b64encode(file.read()).decode()


class Kinds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="cuzk-test-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.daemon = Daemon(cls.addClassCleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def program(self, name):
        path = self.path(os.path.basename(name)[:-3])
        return path if os.path.exists(path) else unpack(name, self.folder.name)

    def vanilla(self, folder, files):
        """Writes a JSON array of vanilla proofs; returns its path."""
        texts = [read_base64(os.path.join(folder, f)) for f in files]
        path = self.path("vanilla.json")
        with open(path, "w", encoding="utf-8") as out:
            json.dump(texts, out)
        return path

    def prove(self, kind, *arguments):
        """Asks as Curio does; returns the exit status, the answer and the proof's path."""
        proof = self.path("proof.bin")
        result = run(self.program("vectors/clients/wire-check.xz"), "prove", kind, "--addr",
                     self.daemon.address, "--out", proof, *arguments, timeout=600)
        return result.returncode, json.loads(result.stdout.splitlines()[-1]), proof

    def judge(self, command, public, proof):
        verdict = run(self.program("oracle/filref/filref.xz"), command, "--public", public,
                      "--proof", proof, "--params-dir", PARAMS)
        self.assertEqual(verdict.returncode, 0, verdict.stdout + verdict.stderr)

    def prove_post(self, kind, number, folder, name):
        public = os.path.join(folder, f"{name}-public.json")
        values = read_json(public)
        files = [sector["vanilla_proof_file"] for sector in values["sectors"]]
        status, answer, proof = self.prove(kind, "--post-proof", str(number), "--vanilla",
                                           self.vanilla(folder, files), "--randomness",
                                           values["randomness"])
        self.assertEqual(status, 0, answer)
        self.judge("post-verify", public, proof)

    def prove_update(self, folder, name):
        public = os.path.join(folder, f"{name}.json")
        values = read_json(public)
        files = [vanilla["file"] for vanilla in values["vanilla_proofs"]]
        status, answer, proof = self.prove("snap", "--update-proof", "0", "--seal-proof", "5",
                                           "--vanilla", self.vanilla(folder, files),
                                           *self.commitments(values))
        self.assertEqual(status, 0, answer)
        self.judge("update-verify", public, proof)

    @staticmethod
    def commitments(values):
        return ["--comm-r-old", values["comm_r_old"], "--comm-r-new", values["comm_r_new"],
                "--comm-d-new", values["comm_d_new"]]

    def test_sectors_of_the_reference(self):
        self.prove_post("winning", 0, f"{REFERENCE}/winning-2k", "winning")
        self.prove_post("window", 10, f"{REFERENCE}/window-2k", "two")
        self.prove_post("window", 10, f"{REFERENCE}/window-2k", "one")
        self.prove_update(f"{REFERENCE}/update-2k", "public")

    def test_fresh_sectors(self):
        for seed in range(201, 201 + FRESH_SECTORS):
            folder = self.path(f"sector-{seed}")
            made = run(self.program("oracle/filref/filref.xz"), "sector", "make", "--size", "2KiB",
                       "--seed", str(seed), "--out", folder)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.prove_post("winning", 0, folder, "winning")
            self.prove_post("window", 10, folder, "two")
            self.prove_update(folder, "update-public")

    def test_what_is_wrong_is_named(self):
        folder = f"{REFERENCE}/winning-2k"
        status, answer, _ = self.prove("winning", "--post-proof", "0", "--vanilla",
                                       f"{folder}/winning-sector42.bin")
        self.assertEqual(status, FAILED, answer)
        self.assertIn("vanilla_proofs[0]: sector 42: challenge 0: the path leads to leaf",
                      answer["error"])
        values = read_json(f"{REFERENCE}/update-2k/public.json")
        values["comm_r_new"] = values["comm_r_old"]
        status, answer, _ = self.prove("snap", "--update-proof", "0", "--seal-proof", "5",
                                       "--vanilla",
                                       f"{REFERENCE}/update-2k/vanilla-partition0.bin",
                                       *self.commitments(values))
        self.assertEqual(status, FAILED, answer)
        self.assertIn("vanilla_proofs[0]: comm_r_new is not the hash of", answer["error"])

    def test_made_up_sectors(self):
        for kind, more in (("winning", []), ("wpost", ["--sectors", "2"]), ("snap", [])):
            vanilla = self.path(f"{kind}.json")
            made = run(BENCH, "gen-vanilla", "-t", kind, "--size", "2KiB", "-o", vanilla, *more)
            self.assertEqual(made.returncode, 0, made.stderr)
            proved = run(BENCH, "-a", self.daemon.address, "--json", "single",
                         *made.stdout.split(), timeout=600)
            self.assertEqual(proved.returncode, 0, proved.stdout + proved.stderr)

    def test_the_sector_size_may_be_left_out(self):
        """A WindowPoSt without sector size and registered proof, as a plain client sends it."""
        values = read_json(f"{REFERENCE}/window-2k/one-public.json")
        result = run(BENCH, "-a", self.daemon.address, "--json", "single", "-t", "wpost",
                     "--vanilla", f"{REFERENCE}/window-2k/one-sector42.bin",
                     "--randomness", values["randomness"], timeout=600)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    main()
