"""The reference implementation as judge: it verifies cuzk's proofs, and it makes sectors."""

import os
import subprocess
import tempfile
import unittest

from harness import CUZK, PARAMS, ROOT, main, run, shared_file, unpack

LONG = os.environ.get("CUZK_TEST_LONG") == "1"
SPARSE = ["c1-2KiB"] + (["c1-2KiB-seed03", "c1-2KiB-seed13", "c1-2KiB-seed1c", "c1-2KiB-seed2b",
                         "c1-2KiB-seed62"] if LONG else [])
FRESH_SECTORS = 20 if LONG else 1


class Judge(unittest.TestCase):
    """The short tier proves one file of each sort, the long tier all."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="cuzk-test-")
        self.filref = unpack("oracle/filref/filref.xz", self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def judge(self, c1, sector):
        proof = self.path("proof.bin")
        made = run(CUZK, "prove", "--quiet", "--c1", c1, "--param-cache", PARAMS, "--out", proof,
                   "--miner-id", "1000", "--sector-num", str(sector), timeout=600)
        self.assertEqual(made.returncode, 0, made.stderr)
        verdict = run(self.filref, "seal-verify", "--c1", c1, "--prover-id", "e807",
                      "--sector", str(sector), "--proof", proof, "--params-dir", PARAMS)
        self.assertEqual(verdict.returncode, 0, verdict.stdout + verdict.stderr)
        wrong = run(self.filref, "seal-verify", "--c1", c1, "--prover-id", "e807",
                    "--sector", str(sector + 1), "--proof", proof, "--params-dir", PARAMS)
        self.assertEqual(wrong.returncode, 1, wrong.stdout)

    def test_reference_sector(self):
        self.judge(os.path.join(ROOT, "vectors/reference/porep-2k/c1.json"), 42)

    def test_sparse_sectors(self):
        for name in SPARSE:
            source = shared_file(f"vectors/sparse/{name}.json.xz")
            with open(self.path("sparse.json"), "wb") as out:
                subprocess.run(["xz", "-dc", source], stdout=out, check=True)
            self.judge(self.path("sparse.json"), 42)

    def test_fresh_sectors(self):
        for seed in range(101, 101 + FRESH_SECTORS):
            out = self.path(f"sector-{seed}")
            made = run(self.filref, "sector", "make", "--size", "2KiB", "--seed", str(seed),
                       "--out", out)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.judge(os.path.join(out, "c1.json"), seed)


if __name__ == "__main__":
    main()
