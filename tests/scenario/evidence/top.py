"""`millrace top`, driven in tmux as over ssh: what it shows, keys, any size of window, an instance that goes
and comes back, and a terminal that is given back however it ends; and as plain text where there is none."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "pipeline"))
from harness import *  # noqa: E402

if not shutil.which("tmux"):
    skip("tmux is not installed")

wide, wide_w = fixture("bn128", "wide_12", ".zkey"), fixture("bn128", "wide_12", ".wtns")


class Terminal:
    """A tmux server of its own with one window, in which top runs between two looks at the terminal's modes."""

    made = 0

    def __init__(self, m, words="", environment="LC_ALL=C.UTF-8", width=110, height=34):
        self.m = m
        Terminal.made += 1
        self.socket = m.path(f"tmux{Terminal.made}.sock")
        self.before, self.after, self.code = m.path("before"), m.path("after"), m.path("code")
        for path in (self.before, self.after, self.code):
            if os.path.exists(path):
                os.unlink(path)
        script = m.path("run.sh")
        with open(script, "w") as f:
            f.write(f"stty -a > {self.before}\n{environment} MILLRACE_DIR={m.dir} {MILLRACE} top {words}\ncode=$?\n"
                    f"stty -a > {self.after}\necho $code > {self.code}.new\nmv {self.code}.new {self.code}\nexec sleep 600\n")
        self.tmux("-u", "new-session", "-d", "-x", width, "-y", height, f"sh {script}")

    def tmux(self, *words):
        done = subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", *map(str, words)], capture_output=True, text=True)
        return done.stdout

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tmux("kill-server")

    def screen(self, *words):
        return self.tmux("capture-pane", "-p", *words)

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def size(self, width, height):
        self.tmux("resize-window", "-x", width, "-y", height)

    def shows(self, *texts, seconds=15):
        """Waits until every text is on the screen."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            screen = self.screen()
            if all(t in screen for t in texts):
                return check(True, "shown")
            time.sleep(0.1)
        return check(False, f"on the screen: {[t for t in texts if t not in screen]}\n{screen}")

    def pid(self):
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                words = open(path, "rb").read().split(b"\0")
                if words[1:2] == [b"top"] and f"MILLRACE_DIR={self.m.dir}".encode() in open(path.replace("cmdline", "environ"), "rb").read().split(b"\0"):
                    return int(path.split("/")[2])
            except OSError:
                continue
        return None

    def ends(self, code, how):
        """It has ended with that code, and the terminal is as it was."""
        if not self.m.wait_for(f"top ends ({how})", lambda: os.path.exists(self.code), 10):
            return
        check(open(self.code).read().strip() == str(code), f"{how}: exit code {open(self.code).read().strip()}, expected {code}")
        modes = [re.sub(r"rows \d+; columns \d+;", "", open(path).read()) for path in (self.before, self.after)]
        check(modes[0] == modes[1], f"{how}: the terminal's modes are as they were: {modes}")
        check(self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}").strip() == "0 1", f"{how}: main screen, cursor shown")


with Instance() as m:
    # Without an instance there: one line, whatever the output.
    code, out, err = run(MILLRACE, "top", "--once", "--dir", m.path("nowhere"))
    check(code == 10 or code == 3, f"no such directory: {code}")
    check(len(err.strip().splitlines()) == 1 and "nowhere" in err, f"one line that names it: {err.strip()}")
    code, out, err = m("top", "--once")
    check(code in (3, 10) and "not an instance" in err, f"a directory that is none: {code} {err}")
    # One that is not up: said, and shown when it comes.
    m.up()
    m.down()
    code, out, err = m("top", "--once")
    check(code == 10 and "down" in out, f"not up: {code} {out}")

    with Terminal(m, "--window 20s") as t:
        t.shows("down: nothing runs here", "q quit")
        m.up()
        m.ok("circuit", "add", wide, "--alias", "wide")
        t.shows("millrace running", "gpud.0", "budget", "node 0", "leases")
        job = m.ok("submit", "wide", *[wide_w] * 120)
        t.shows("jobs open 1", "now busy", "█", "PROVING", f"{job}.", "wide", "/120", "registration", "descriptor")
        screen = t.screen()
        rows = [line for line in screen.splitlines() if line.startswith(f"{job}.")]
        check(len(rows) >= 3, f"a waterfall of partitions:\n{screen}")
        check(any("m" in r[33:] or "w" in r[33:] for r in rows) and any("█" in r[33:] for r in rows), f"with their steps:\n{screen}")

        # Pages and keys.
        t.keys("2")
        t.shows("JOB STATE", "CIRCUIT", "running")
        t.keys("3")
        t.shows("PARTITION", "-20 s", "now")
        t.keys("4")
        t.shows("budget", "largest free", "READY")
        t.keys("5")
        t.shows("DAEMON", "finalizd", "synthd.0.0", "alive")
        t.keys("h")
        t.shows("f prove_finish", "room")
        t.keys("h")
        t.keys("Space")
        t.shows("PAUSED")
        t.keys("Space")
        t.keys("+")
        t.shows("last 40 s")
        t.keys("-")
        t.shows("last 20 s")
        t.keys("3", "Down", "Down", "Up", "PageDown", "PageUp")
        t.shows("PARTITION")
        t.keys("1")

        # A window of any size; the pipeline does not mind.
        for width, height in ((200, 60), (40, 8), (12, 3), (2, 1), (1, 1), (80, 24)):
            t.size(width, height)
            time.sleep(0.4)
            check(t.pid() is not None, f"alive at {width} x {height}")
        t.shows("millrace running", "gpud.0")
        check(all(len(line) <= 80 for line in t.screen().splitlines()), "drawn for the new size")

        # A daemon dies, the instance goes and comes back.
        m.ok("await", job, m.path("p.json"), m.path("u.json"))
        supervisor = m.supervisor()["pid"]
        os.kill(supervisor, signal.SIGSTOP)
        os.kill(m.daemons()["gpud.0"], signal.SIGKILL)
        t.shows("process_down")
        t.keys("5")
        t.shows("dead")
        os.kill(supervisor, signal.SIGCONT)
        m.wait_for("gpud is back", lambda: m.supervisor().get("ready"))
        t.keys("1")
        m.down()
        t.shows("down: nothing runs here")
        m.up()
        job = m.ok("submit", "wide", *[wide_w] * 20)
        t.shows("millrace running", f"{job}.")
        m.ok("await", job, m.path("p.json"), m.path("u.json"))
        t.keys("q")
        t.ends(0, "q")

    for number, name, code in ((signal.SIGTERM, "SIGTERM", 0), (signal.SIGHUP, "SIGHUP", 0), (signal.SIGABRT, "a fault", 134)):
        with Terminal(m) as t:
            t.shows("millrace running")
            os.kill(t.pid(), number)
            t.ends(code, name)

    # Colours where there are some; without them, and without UTF-8, it is as readable.
    with Terminal(m) as t:
        t.shows("millrace running")
        check("\x1b[3" in t.screen("-e"), "in colour")
    for environment in ("LC_ALL=C.UTF-8 NO_COLOR=1", "LC_ALL=C.UTF-8 TERM=vt100"):
        with Terminal(m, environment=environment) as t:
            t.shows("millrace running")
            check(not any(f"\x1b[3{n}m" in t.screen("-e") for n in range(8)), f"without colour: {environment}")
    job = m.ok("submit", "wide", *[wide_w] * 30)
    with Terminal(m, environment="LC_ALL=C") as t:
        t.shows("millrace running", "####")
        check(t.screen().isascii(), "ASCII alone where the locale is")
    m.ok("await", job, m.path("p.json"), m.path("u.json"))
    with Terminal(m, environment="TERM=no-such-terminal") as t:
        t.ends(10, "an unknown terminal")
        check("no-such-terminal" in t.screen(), "which is named")

    # No terminal: plain text, once or so many times; or JSON.
    job = m.ok("submit", "wide", *[wide_w] * 30)
    out = m.ok("top", "--once")
    check("\x1b" not in out and "gpud.0" in out and f"{job}." in out and "q quit" not in out, f"plain text:\n{out}")
    m.ok("await", job, m.path("p.json"), m.path("u.json"))
    out = m.ok("top", "--count", "2", "--every", "0.5")
    check(out.count("millrace running") == 2, f"two screens:\n{out}")
    shown = m.json("top", "--once")
    check(shown["up"] and shown["gpus"][0]["gpud"] == "gpud.0" and shown["gpus"][0]["waits_for"] in ("no_work", "previous_finish"), f"JSON: {shown['gpus']}")
    code, out, err = m("top", "--every", "0")
    check(code == 2 and "--every" in err, f"a refresh without a pause is refused: {code} {err.strip()}")
finish()
