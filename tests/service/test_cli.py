"""The command line without a daemon: help, usage errors, configuration, exit codes."""

import os
import tempfile
import unittest

from harness import BENCH, C1, CUZK, PARAMS, main, run


class CommandLine(unittest.TestCase):
    def config(self, text, *arguments):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(text)
            file.flush()
            return run(CUZK, "config", *(arguments or ("check",)), file.name)

    def test_help_is_for_newcomers(self):
        for program in (CUZK, BENCH):
            result = run(program, "--help")
            self.assertEqual(result.returncode, 0)
            self.assertIn("Usage", result.stdout)
        commands = [l.split()[0] for l in run(CUZK, "--help").stdout.splitlines()
                    if l.startswith("  ") and not l.startswith("  cuzk")]
        self.assertGreaterEqual(set(commands), {"serve", "prove", "verify", "params", "waterfall"})
        for command in commands:
            result = run(CUZK, command, "--help")
            self.assertEqual(result.returncode, 0, command)
            self.assertTrue(result.stdout, command)

    def test_version_names_backends(self):
        result = run(CUZK, "version")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"cuzk \d+\.\d+\.\d+")
        self.assertIn("backend cpu:", result.stdout)
        self.assertIn("backend cuda:", result.stdout)

    def test_unknown_commands_are_usage_errors(self):
        for arguments in ([CUZK, "frobnicate"], [BENCH, "frobnicate"], [BENCH],
                          [CUZK, "serve", "--frob"], [CUZK, "serve", "extra"],
                          [BENCH, "batch"], [BENCH, "batch", "-t", "nope", "--c1", C1],
                          [BENCH, "batch", "-t", "porep", "--c1", C1, "-c", "0"],
                          [CUZK, "prove"], [CUZK, "prove", "--c1", C1, "--threads", "many"]):
            result = run(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertTrue(result.stderr.strip(), arguments)

    def test_numbers_of_more_than_64_bits_are_refused(self):
        for arguments in ([CUZK, "prove", "--c1", C1, "--sector-num"],
                          [CUZK, "prove", "--c1", C1, "--miner-id"],
                          [CUZK, "prove", "--c1", C1, "--threads"],
                          [CUZK, "params", "check", "--threads"],
                          [CUZK, "waterfall", "--width"],
                          [BENCH, "synth", "--c1", C1, "--partition"],
                          [BENCH, "single", "-t", "porep", "--c1", C1, "--sector-num"]):
            result = run(*arguments, str(2**64 + 1))
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(str(2**64 + 1), result.stderr, arguments)
            self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)

    def test_config_errors_name_line_key_and_cure(self):
        cases = {
            "[memory]\ntotal_buget = \"4GiB\"\n": "did you mean memory.total_budget",
            "[memory]\ntotal_budget = \"-4GiB\"\n": "a size with a unit",
            "[memory]\ntotal_budget = \"1000000\"\n": "a size with a unit",
            "[memory]\ntotal_budget = 1000000\n": "a size with a unit",
            "[memory]\ntotal_budget = \"4.5.GiB\"\n": "a size with a unit",
            "[scheduler]\nkeep_result = \"5x\"\n": "a duration",
            "[pipeline]\nsynthesis_lookahead = 0\n": "expected 1 to 256",
            "[pipeline]\nsynthesis_lookahead = \"two\"\n": "a whole number",
            "[daemon]\nallow_insecure_tcp = 1\n": "true or false",
            "[daemon]\nstatus_listen = 9821\n": "a text in quotes",
            "[nonsense]\nkey = 1\n": "unknown key nonsense.key",
            "[daemon\n": ":1:",
        }
        for text, expected in cases.items():
            result = self.config(text)
            self.assertEqual(result.returncode, 2, text)
            self.assertIn(expected, result.stderr, text)
            self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)

    def test_retired_keys_are_warnings(self):
        result = self.config("[pipeline]\nslot_size = 3\n")
        self.assertEqual(result.returncode, 0)
        self.assertIn("pipeline.slot_size has no effect", result.stderr)

    def test_precedence_and_sources(self):
        text = "[pipeline]\nsynthesis_lookahead = 3\n[srs]\nparam_cache = \"/from/file\"\n"
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(text)
            file.flush()
            environment = dict(os.environ, CUZK_SRS_PARAM_CACHE="/from/env",
                               FIL_PROOFS_PARAMETER_CACHE="/other")
            shown = run(CUZK, "config", "show", file.name, env=environment).stdout
        self.assertIn("pipeline.synthesis_lookahead = 3  # file", shown)
        self.assertIn('srs.param_cache = "/from/env"  # environment', shown)
        self.assertIn("# default", shown)
        environment = dict(os.environ, CUZK_PIPELINE_SYNTHESIS_LOOKAHEAD="x")
        bad = run(CUZK, "config", "show", env=environment)
        self.assertEqual(bad.returncode, 2)
        self.assertIn("CUZK_PIPELINE_SYNTHESIS_LOOKAHEAD", bad.stderr)

    def test_reference_is_a_valid_configuration(self):
        reference = run(CUZK, "config", "reference").stdout
        result = self.config(reference)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_missing_config_file_is_an_error(self):
        result = run(CUZK, "--config", "/nonexistent/cuzk.toml")
        self.assertEqual(result.returncode, 2)
        self.assertIn("/nonexistent/cuzk.toml", result.stderr)

    def test_public_tcp_without_tls_needs_a_word(self):
        result = run(CUZK, "serve", "--listen", "0.0.0.0:0", "--set", "srs.param_cache=/tmp")
        self.assertEqual(result.returncode, 2)
        self.assertIn("allow_insecure_tcp", result.stderr)

    def test_prove_without_parameters(self):
        with tempfile.TemporaryDirectory() as empty:
            result = run(CUZK, "prove", "--c1", C1, "--param-cache", empty)
        self.assertEqual(result.returncode, 4)
        self.assertIn("v28-stacked-proof-of-replication", result.stderr)

    def test_derive_says_what_is_missing(self):
        cases = {
            (): (2, "--circuit ID is needed"),
            ("--circuit", "porep-32T"): (2, "porep-32T"),
            ("--circuit", "porep-2k", "--param-cache", "/nonexistent"): (4, "/nonexistent"),
            ("--circuit", "porep-2k", "--backend", "sim"): (3, "backend sim cannot derive"),
            ("--circuit", "porep-2k", "--backend", "none"): (3, "backend 'none'"),
            ("--circuit", "porep-2k", "extra"): (2, "unexpected 'extra'"),
        }
        if "NVIDIA" not in run(CUZK, "version").stdout:
            cases[("--circuit", "porep-2k")] = (3, "cuda")
        with tempfile.TemporaryDirectory() as folder:
            for name in os.listdir(PARAMS):
                os.symlink(os.path.join(PARAMS, name), os.path.join(folder, name))
            environment = dict(os.environ, FIL_PROOFS_PARAMETER_CACHE=folder)
            before = sorted(os.listdir(folder))
            for arguments, (code, expected) in cases.items():
                result = run(CUZK, "params", "derive", *arguments, env=environment)
                self.assertEqual(result.returncode, code, arguments)
                self.assertIn(expected, result.stderr)
                self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
            self.assertEqual(sorted(os.listdir(folder)), before)

    def test_prove_with_bad_input(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write("{\"registered_proof\":5}")
            file.flush()
            result = run(CUZK, "prove", "--backend", "cpu", "--c1", file.name)
        self.assertEqual(result.returncode, 1)
        self.assertIn("registered_proof", result.stderr)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)


if __name__ == "__main__":
    main()
