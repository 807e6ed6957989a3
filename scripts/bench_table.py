#!/usr/bin/env python3
"""Runs the benchmarks of a build folder and prints a table with the goals; the numbers go to bench.json in it.

The ratios compare with the floor: plain Asio that makes the same requests to the same kind of fake model server, in the same
run.
"""
import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

IDEAL_WALL = {"W1": 0.5, "W3": 0.5, "W4": 0.7}  # responses of 100 ms that come one after another
LIMIT = 900  # seconds of one program
PEER_LIMIT = 60  # seconds of one workload of a peer; one that takes longer has no rows
PEERS = ("ai", "langgraph", "openai_agents")
PEER_SIZES = {"W1": 50, "W2": 100, "W3": 50, "W5": 10}
PIECES = ("W5", "W5P")  # what counts there is the cost of a chunk


def last_json(command, limit=LIMIT):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"ok": False, "note": f"{' '.join(command)}: no end after {limit} s"}
    lines = done.stdout.strip().splitlines()
    if not lines:
        return {"ok": False, "note": f"{' '.join(command)}: no result (exit code {done.returncode})"}
    return json.loads(lines[-1])


def best_of(times, run_once, key):
    """The run with the lowest `key`; one that went wrong counts at once."""
    runs = []
    for _ in range(times):
        run = run_once()
        if not run.get("ok"):
            return run
        runs.append(run)
    return min(runs, key=lambda run: run[key]) if len(runs) > 1 else runs[0]


@contextlib.contextmanager
def fake_model(program):
    """The server on a free port, kept on the last core where there are several; what is measured may use all."""
    cores = sorted(os.sched_getaffinity(0))
    pin = (lambda: os.sched_setaffinity(0, {cores[-1]})) if len(cores) > 1 else None
    server = subprocess.Popen([program, "--port", "0"], stdout=subprocess.PIPE, text=True, preexec_fn=pin)
    try:
        yield int(server.stdout.readline())
    finally:
        server.terminate()
        server.wait()


def base_of(port):
    return f"http://127.0.0.1:{port}"


class Table:
    def __init__(self):
        self.rows = []

    def add(self, what, value, unit, floor=None, goal=None, measured=None, at_least=False, reason=""):
        """`goal` is the most that `measured` may be, or the least; without it, what is measured is the ratio to the floor,
        or else the value. `reason` says why a goal is missed; it is shown where it is."""
        ratio = value / floor if floor else None
        measured = measured if measured is not None else (ratio if ratio is not None else value)
        reached = goal is not None and (measured >= goal if at_least else measured <= goal)
        met = "" if goal is None else "met" if reached else "NOT MET"
        self.rows.append({"what": what, "value": value, "unit": unit, "floor": floor, "ratio": ratio, "goal": goal,
                          "at_least": at_least, "met": met, "reason": reason if met == "NOT MET" else ""})

    def show(self):
        def text(x):
            return "" if x is None else x if isinstance(x, str) else f"{x:.3g}" if abs(x) < 1000 else f"{x:,.0f}"

        def goal(row):
            return "" if row["goal"] is None else (">= " if row["at_least"] else "<= ") + text(row["goal"])

        lines = [["", "value", "unit", "floor", "ratio", "goal", "", ""]]
        lines += [[r["what"], text(r["value"]), r["unit"], text(r["floor"]), text(r["ratio"]), goal(r), r["met"],
                   r["reason"]] for r in self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        for line in lines:
            cells = [cell.ljust(w) if i in (0, 2, 6, 7) else cell.rjust(w)
                     for i, (cell, w) in enumerate(zip(line, widths))]
            print("  ".join(cells).rstrip())


class Bench:
    """One run of all: the programs of a build, the table, and what each program printed."""

    def __init__(self, build, quick):
        self.programs, self.quick = os.path.join(build, "bin"), quick
        self.table, self.results = Table(), {}

    def scaled(self, size):
        return size // 10 if self.quick else size

    def troupe(self, name, *arguments, times=1, key="cpu_s"):
        command = [os.path.join(self.programs, "troupe"), "bench", *map(str, arguments)]
        self.results[name] = best_of(times, lambda: last_json(command), key)
        return self.results[name]

    def on_wire(self, name, command_for, times=1, key="cpu_s", limit=LIMIT):
        """Runs what `command_for` gives for a port. Each run has a server of its own: connections that earlier ones have
        ended hold their ports for a minute, and to look for free ones would be most of the cost."""
        def run_once():
            with fake_model(os.path.join(self.programs, "fake_model")) as port:
                return last_json(command_for(port), limit)

        self.results[name] = best_of(times, run_once, key)
        return self.results[name]

    def troupe_on_wire(self, name, *arguments, times=1, key="cpu_s"):
        troupe = os.path.join(self.programs, "troupe")
        return self.on_wire(name, lambda port: [troupe, "bench", "http", *map(str, arguments), "--base", base_of(port)],
                            times, key)

    def floor_on_wire(self, name, *arguments, times=1, key="cpu_s"):
        floor = os.path.join(self.programs, "floor")
        return self.on_wire(name, lambda port: [floor, *map(str, arguments), "--port", str(port)], times, key)


def spawn_rows(b):
    n = b.scaled(1_000_000)
    r = b.troupe("spawn", "spawn", "--n", n, "--sessions", 50)
    b.table.add(f"spawn: children a second, n={n} (floor: bare CAF)", r["children_per_s"], "1/s", r["bare_caf_per_s"],
                goal=0.25, at_least=True, reason="what bare CAF does differs most from run to run; the CPU of a child less")
    b.table.add("spawn: CPU a child", r["cpu_us_per_child"], "us")
    memory = r["resident_mb"]
    b.table.add(f"spawn: memory at the end and after {n // len(memory) * 2} children", memory[-1], "MiB", memory[1],
                goal=1.05, reason="grows until the observer holds as many ended sessions as it keeps")
    at_once = b.scaled(10_000)
    flood = b.troupe("flood", "flood", "--n", at_once)
    b.table.add(f"flood: peak memory, {at_once} children at once", flood["peak_rss_mb"], "MiB", goal=250)


def idle_rows(b):
    r = b.troupe("idle", "idle", "--n", 100_000, "--sessions", 100)
    b.table.add("idle: CPU of a process with 100,000 waiting agents", r["idle_cpu_percent"], "%", goal=1)
    if b.quick:
        b.table.add("idle: memory of a waiting agent", r["bytes_per_agent"], "B", goal=2500,
                    reason="1.5 kB are the actor, of which 1 kB is CAF's; then log, request, and the observer's row")
        return
    r = b.troupe("idle, 1,000,000", "idle", "--n", 1_000_000, "--sessions", 1000)
    b.table.add("idle: peak memory of 1,000,000 waiting agents", r["peak_rss_mb"] * 1024 * 1024 / 1e9, "GB", goal=2.5,
                reason="1.3 kB an agent are CAF's actor; then state, log, request and row, not yet packed")


def latency_rows(b):
    r = b.troupe("latency", "latency", "--turns", 5 if b.quick else 20)
    b.table.add("latency: share of a core that 1000 agents take", r["busy_percent"], "%")
    b.table.add("latency: tool call to next request, p50", r["turn_p50_us"], "us")
    b.table.add("latency: tool call to next request, p99", r["turn_p99_us"], "us", goal=300)
    b.table.add("latency: message to an idle process to its request, p50", r["wake_p50_us"], "us")
    b.table.add("latency: message to an idle process to its request, p99", r["wake_p99_us"], "us", goal=200,
                reason="one thread wakes; what it runs and reads is cold after the sleep")


def session_rows(b):
    # What it costs to wake a thread changes within a run: the run whose halves differ as they do in most.
    runs = sorted((b.troupe("session", "session", "--turns", 10_000) for _ in range(3)),
                  key=lambda run: run["second_half_cpu_s"] / run["first_half_cpu_s"])
    r = b.results["session"] = runs[1]
    b.table.add("session: CPU of 10,000 turns", r["cpu_s"], "s")
    b.table.add("session: CPU of the second half (floor: the first)", r["second_half_cpu_s"], "s", r["first_half_cpu_s"],
                goal=1.2)


def other_rows(b):
    """What other goals of the project ask for."""
    table = b.table
    observe = b.troupe("observe", "observe", "--events", b.scaled(10_000_000))
    table.add("observe: events a second, all shown ten times a second", observe["events_per_s"], "1/s", goal=1e6,
              at_least=True)
    follow = b.troupe("follow", "follow", "--events", 400_000 if b.quick else 1_000_000, "--agents", b.scaled(10_000),
                      "--pairs", 3 if b.quick else 7)
    table.add("follow: CPU of a run with three bad followers", follow["cpu_s_followed"], "s", follow["cpu_s_alone"],
              goal=1.05, reason="the runs themselves differ by as much")
    for batch in (64, 256):
        store = b.troupe(f"store {batch}", "store", "--batch", batch, "--rounds", b.scaled(600))
        per_write = 1e6 / max(1, store["writes"])
        table.add(f"store: a write in commits of {batch} (floor: plain SQLite)", store["store_s"] * per_write, "us",
                  store["raw_s"] * per_write, goal=2)
    b.troupe("crash", "crash", "--kills", b.scaled(300))
    wire = b.troupe("wire", "wire", "--rounds", 2 if b.quick else 5)
    table.add("wire: CPU of a stream of 500 chunks, one by one", wire["stream_us"], "us", wire["stream_floor_us"], goal=2)
    table.add("wire: the same, all chunks at once", wire["burst_us"], "us", wire["burst_floor_us"])
    table.add("wire: CPU of a whole answer", wire["call_us"], "us", wire["call_floor_us"])
    table.add("wire: of it on top of plain Asio", wire["call_extra_us"], "us", goal=25)


def pair(b, workload, n):
    """The same workload by troupe and by the floor, in turns."""
    times, key = 1 if b.quick else 3, "wall_s" if workload in IDEAL_WALL else "cpu_s"
    name, size = f"{workload} {n}", ["--workload", workload, "--n", n]
    floor = b.floor_on_wire(f"{name} floor", *size, times=times, key=key)
    ours = b.troupe_on_wire(name, *size, times=times, key=key)
    return ours, floor


def fan_out_rows(b):
    table, w2 = b.table, {}
    for n in (1000, 10_000):
        ours, floor = pair(b, "W2", n)
        w2[n] = ours["cpu_ms_per_child"]
        table.add(f"W2: CPU a child, n={n} (stretch: 1.6)", w2[n], "ms", floor["cpu_ms_per_child"], goal=2,
                  reason="all children were under way at once: a run that the machine disturbs comes into that state")
    table.add("W2: CPU a child, n=10000 (floor: n=1000)", w2[10_000], "ms", w2[1000], goal=1.1,
              reason="all children were under way at once, and do not fit the caches; plain Asio grows too")
    followed = b.troupe_on_wire("W2 followed", "--workload", "W2", "--n", 1000, "--follow", times=1 if b.quick else 3)
    table.add("W2: the same while one follows all activity (floor: nobody)", followed["cpu_ms_per_child"], "ms", w2[1000],
              goal=1.1,
              reason="of one run each, which end before the follower looks a second time: they differ by as much")
    for n in (1000, 10_000):
        ours, floor = pair(b, "W1", n)
        if n == 1000:
            table.add("W1: wall time, n=1000 (floor: the ideal)", ours["wall_s"], "s", IDEAL_WALL["W1"], goal=1.1,
                      reason="plain Asio on the same cores takes most of it, see the next row")
        table.add(f"W1: wall time, n={n}", ours["wall_s"], "s", floor["wall_s"], goal=1.25 if n > 1000 else None,
                  reason="bound by CPU, as W2")
        above = (ours["peak_rss_mb"] - floor["peak_rss_mb"]) * 1024 / n
        table.add(f"W1: peak memory a child above the floor's, n={n}", above, "KiB", goal=8,
                  reason="most of it is the program: libraries, threads and buffers, whatever n is")


def other_workload_rows(b):
    table = b.table
    ours, floor = pair(b, "W3", 1000)
    table.add("W3: CPU a root, n=1000", ours["cpu_ms_per_child"], "ms", floor["cpu_ms_per_child"], goal=1.8,
              reason="a session of its own for five turns: supervisor, lease, log, rows")
    table.add("W3: wall time, n=1000 (ideal 0.5 s)", ours["wall_s"], "s", floor["wall_s"])
    ours, floor = pair(b, "W4", 100)
    table.add("W4: wall time, n=100 (floor: the ideal)", ours["wall_s"], "s", IDEAL_WALL["W4"], goal=1.2)
    table.add("W4: wall time, n=100", ours["wall_s"], "s", floor["wall_s"])
    for name in PIECES:
        ours, floor = pair(b, name, 100)
        sent = max(1, floor["events"])  # the runtime may give several chunks as one piece
        table.add(f"{name}: CPU a chunk, 100 streams", ours["cpu_s"] * 1e6 / sent, "us", floor["cpu_s"] * 1e6 / sent,
                  goal=2 if name == "W5P" else None)
        if name == "W5P":
            table.add("W5P: a chunk's way from the server's write, p99", ours["delay_p99_us"], "us",
                      floor["delay_p99_us"])
            table.add("W5P: the first chunk's, p99", ours["first_p99_us"], "us", floor["first_p99_us"], goal=1000,
                      measured=ours["first_p99_us"], reason="the last of 100 streams that all begin at once")


def peer_rows(b, folder):
    """Other runtimes against the same server; what they cost beside the floor at the same size."""
    for workload, n in PEER_SIZES.items():
        name, size = f"{workload} {n}", ["--workload", workload, "--n", str(n)]
        floor = b.floor_on_wire(f"{name} floor", *size)
        runs = [("troupe", b.troupe_on_wire(name, *size))]
        for peer in PEERS:
            script = os.path.join(folder, f"{peer}.mjs")
            runs.append((peer, b.on_wire(f"{name} {peer}", lambda port, script=script: ["node", script, *size, "--base",
                                                                                       base_of(port)], limit=PEER_LIMIT)))
        for who, run in runs:
            if run.get("ok"):
                add_peer(b.table, workload, n, who, run, floor)


def add_peer(table, workload, n, who, run, floor):
    unit, each = ("us", 1e3 * n / floor["events"]) if workload == "W5" else ("ms", 1)
    table.add(f"{workload}: {who}: CPU a {'chunk' if workload == 'W5' else 'child'}, n={n}",
              run["cpu_ms_per_child"] * each, unit, floor["cpu_ms_per_child"] * each)
    if workload in IDEAL_WALL:
        table.add(f"{workload}: {who}: wall time", run["wall_s"], "s", floor["wall_s"])
    if workload == "W1":
        table.add(f"{workload}: {who}: peak memory", run["peak_rss_mb"], "MiB", floor["peak_rss_mb"])


def start_rows(b):
    """Start-up and size; of several tries the median."""
    program = os.path.abspath(os.path.join(b.programs, "troupe"))

    def version():
        begin = time.perf_counter()
        subprocess.run([program, "--version"], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - begin

    def first_event():
        with tempfile.TemporaryDirectory() as folder:
            begin = time.perf_counter()
            run = subprocess.Popen([program, "run", "--events", "--workspace", folder, "Survey the workspace"],
                                   cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            for line in run.stdout:
                if '"agent_started"' in line:
                    break
            took = time.perf_counter() - begin
            run.kill()
            run.communicate()
            return took

    started = {"version_ms": statistics.median(version() for _ in range(15)) * 1000,
               "first_call_ms": statistics.median(first_event() for _ in range(7)) * 1000}
    with tempfile.TemporaryDirectory() as folder:
        stripped = os.path.join(folder, "troupe")
        subprocess.run(["strip", "-o", stripped, program], check=True)
        started["stripped_mb"] = os.path.getsize(stripped) / 1e6
    b.results["start"] = {**started, "ok": True}
    b.table.add("start: troupe --version", started["version_ms"], "ms", goal=20)
    # This event leaves in the same step as the call.
    b.table.add("start: troupe run until its agent's first model call", started["first_call_ms"], "ms", goal=60)
    b.table.add("start: size of the stripped program", started["stripped_mb"], "MB", goal=15)


def edit_row(b, source, test_build):
    """From an edit of one source to a test that is linked again. The source is left as it was."""
    build = ["cmake", "--build", test_build, "--target", "test_runtime"]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    with open(source, encoding="utf-8") as file:
        text = file.read()
    try:
        with open(source, "a", encoding="utf-8") as file:
            file.write(f"namespace {{ [[maybe_unused]] constexpr long long edited = {time.time_ns()}; }}\n")
        begin = time.perf_counter()
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
        took = time.perf_counter() - begin
    finally:
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
    b.results["edit"] = {"seconds": took, "ok": True}
    b.table.add(f"edit of {source} to a linked test", took, "s", goal=15)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--build", default="build/release")
    options.add_argument("--quick", action="store_true", help="smaller sizes, one run of each; under five minutes")
    options.add_argument("--only", default="", help="groups, with commas: " + ", ".join(GROUPS))
    options.add_argument("--test-build", default="", help="build folder of tests, to measure an edit and its build")
    options.add_argument("--peers", default="", help="folder of the installed peers: compares with them instead")
    chosen = options.parse_args()
    b = Bench(chosen.build, chosen.quick)
    wanted = chosen.only.split(",") if chosen.only else [] if chosen.peers else list(GROUPS)
    if unknown := [name for name in wanted if name not in GROUPS]:
        raise SystemExit(f"There is no group {unknown[0]}. Groups: {', '.join(GROUPS)}.")

    if "micro" in wanted:
        micro = [os.path.join(b.programs, "bench_micro")] + (["--benchmark_min_time=0.05"] if chosen.quick else [])
        subprocess.run(micro, check=True)
        print()
    for name in wanted:
        print(f"==> {name}", file=sys.stderr)
        try:
            if GROUPS[name]:
                GROUPS[name](b)
        except KeyError as missing:  # a program had no such figure, since it went wrong
            b.results[f"group {name}"] = {"ok": False, "note": f"rows are missing: no figure {missing}"}
    if chosen.peers:
        peer_rows(b, chosen.peers)
    if chosen.test_build:
        edit_row(b, "runtime/sanitizer.cpp", chosen.test_build)

    b.table.show()
    wrong = [name for name, run in b.results.items() if not run.get("ok")]
    for name in wrong:
        print(f"{name}: NOT RIGHT: {json.dumps(b.results[name])}")
    with open(os.path.join(chosen.build, "bench.json"), "w", encoding="utf-8") as file:
        json.dump({"cores": os.cpu_count(), "quick": chosen.quick, "results": b.results, "table": b.table.rows}, file,
                  indent=1)
    return 1 if wrong else 0


GROUPS = {"micro": None, "start": start_rows, "fanout": fan_out_rows, "workloads": other_workload_rows,
          "spawn": spawn_rows, "idle": idle_rows, "latency": latency_rows, "session": session_rows,
          "others": other_rows}

if __name__ == "__main__":
    sys.exit(main())
