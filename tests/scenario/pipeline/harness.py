"""harness: an instance for a test, in a directory of its own, taken down whatever happens.

A scenario is a script that makes an Instance, drives it with the `millrace` command as a user
would, and ends with finish(). The build directory comes first on its command line.
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
FIXTURES = os.path.join(ROOT, "tests", "fixtures")
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build"))
MILLRACE = os.path.join(BUILD, "tools", "millrace", "millrace")
SKIP = 77
BACKEND = os.environ.get("MILLRACE_TEST_BACKEND", "cpu")  # "cuda" on a GPU host

_failures = []
_checks = 0


def check(condition, what):
    """Counts one expectation; a failed one is printed and makes the scenario fail at its end."""
    global _checks
    _checks += 1
    if not condition:
        _failures.append(what)
        print(f"FAILED: {what}", flush=True)
    return bool(condition)


def finish():
    print(f"{_checks - len(_failures)} of {_checks} expectations held")
    sys.exit(1 if _failures else 0)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)


def circuits():
    """(curve, circuit, folder) of every fixture that has a key here."""
    for key in sorted(glob.glob(os.path.join(FIXTURES, "*", "*", "*.zkey"))):
        folder = os.path.dirname(key)
        yield os.path.basename(os.path.dirname(folder)), os.path.basename(folder), folder


def fixture(curve, circuit, ending):
    folder = os.path.join(FIXTURES, curve, circuit)
    return os.path.join(folder, ending if "." in ending and not ending.startswith(".") else circuit + ending)


def run(*words, env=None, timeout=300, stdin=None):
    """Runs a command; returns (exit code, standard output, standard error)."""
    done = subprocess.run([str(w) for w in words], env=env, capture_output=True, text=True, timeout=timeout, input=stdin)
    return done.returncode, done.stdout, done.stderr


class Instance:
    def __init__(self, config="", env=None, directory=None):
        self.work = tempfile.mkdtemp(prefix="millrace-test.")
        self.dir = directory or os.path.join(self.work, "instance")
        os.makedirs(self.dir, mode=0o700, exist_ok=True)
        self.env = dict(os.environ, MILLRACE_DIR=self.dir, **(env or {}))
        base = "[memory]\narena = 256M\n[gpud]\nbackend = cpu\n"
        config = (config or base).replace("backend = cpu", f"backend = {BACKEND}")
        with open(os.path.join(self.dir, "millrace.conf"), "w") as f:
            f.write(config)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        try:
            if kind is not None or _failures:
                self.show_logs()
            self("down", "--now", timeout=120)
        finally:
            for pid in self.pids():
                try:
                    os.kill(pid, 9)
                except ProcessLookupError:
                    pass
            shutil.rmtree(self.work, ignore_errors=True)

    def __call__(self, *words, timeout=300):
        return run(MILLRACE, *words, env=self.env, timeout=timeout)

    def ok(self, *words, timeout=300):
        code, out, err = self(*words, timeout=timeout)
        check(code == 0, f"millrace {' '.join(map(str, words))}: exit code {code}: {err.strip()}")
        return out.strip()

    def json(self, *words):
        out = self.ok(*words, "--json")
        return json.loads(out) if out else {}

    def path(self, name):
        return os.path.join(self.work, name)

    def up(self):
        return self.ok("up", timeout=180)

    def down(self, *words):
        return self.ok("down", *words, timeout=180)

    def supervisor(self):
        try:
            with open(os.path.join(self.dir, "run", "supervisor.json")) as f:
                return json.load(f)
        except (OSError, ValueError):
            return {}

    def daemons(self):
        """{name: pid} as the supervisor has them."""
        return {d["name"]: d["pid"] for d in self.supervisor().get("daemons", []) if d["pid"]}

    def pids(self):
        """Every process that has this instance's directory on its command line."""
        found = []
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(path, "rb") as f:
                    words = f.read().split(b"\0")
            except OSError:
                continue
            pid = int(path.split("/")[2])
            if self.dir.encode() in words and pid != os.getpid():
                found.append(pid)
        return found

    def show_logs(self):
        for path in sorted(glob.glob(os.path.join(self.dir, "log", "*.log"))):
            with open(path, errors="replace") as f:
                lines = f.read().splitlines()
            print(f"--- {os.path.basename(path)} (last 25 of {len(lines)} lines)")
            print("\n".join(lines[-25:]))

    def arenas(self):
        """Names that this instance has in shared memory."""
        link = os.path.join(self.dir, "run", "arena")
        return os.listdir(link) if os.path.isdir(link) else []

    def spooled(self):
        spool = os.path.join(self.dir, "spool")
        return sorted(os.listdir(spool)) if os.path.isdir(spool) else []

    def wait_for(self, what, condition, seconds=60):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if condition():
                return True
            time.sleep(0.05)
        return check(False, f"{what} within {seconds} s")


def verified(proof, public, vk):
    code, _, err = run(MILLRACE, "verify", vk, public, proof)
    return check(code == 0, f"{proof} verifies: {err.strip()}")
