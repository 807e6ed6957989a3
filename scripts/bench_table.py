#!/usr/bin/env python3
"""Runs the benchmarks of a build folder and prints a table with the goals; the numbers go to bench.json in it.

The ratios compare with the floor: plain Asio that makes the same requests to the same fake model server, in the same run.
"""
import argparse
import contextlib
import json
import os
import subprocess
import sys

WORKLOADS = [("W1", 1000), ("W2", 1000), ("W3", 1000), ("W5", 100)]
IDEAL_WALL = {"W1": 0.5, "W3": 0.5}  # five responses of 100 ms, one after another


def last_json(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    lines = done.stdout.strip().splitlines()
    if not lines:
        raise SystemExit(f"{' '.join(command)}: no result (exit code {done.returncode})")
    return json.loads(lines[-1])


def best_of(times, command, key):
    """The run with the lowest `key`; one that went wrong counts at once."""
    runs = []
    for _ in range(times):
        run = last_json(command)
        if not run.get("ok"):
            return run
        runs.append(run)
    return min(runs, key=lambda run: run[key])


@contextlib.contextmanager
def fake_model(program):
    """The server on a free port, on the last core where there are several: then the others are for the client."""
    cores = sorted(os.sched_getaffinity(0))
    pin = (lambda: os.sched_setaffinity(0, {cores[-1]})) if len(cores) > 1 else None
    server = subprocess.Popen([program, "--port", "0"], stdout=subprocess.PIPE, text=True, preexec_fn=pin)
    try:
        yield int(server.stdout.readline())
    finally:
        server.terminate()
        server.wait()


class Table:
    def __init__(self):
        self.rows = []

    def add(self, what, value, unit, floor=None, goal=None, measured=None, at_least=False):
        """`goal` is the most that `measured` may be, or the least; without it, what is measured is the value."""
        ratio = value / floor if floor else None
        measured = measured if measured is not None else (ratio if ratio is not None else value)
        reached = goal is not None and (measured >= goal if at_least else measured <= goal)
        met = "" if goal is None else "met" if reached else "NOT MET"
        self.rows.append({"what": what, "value": value, "unit": unit, "floor": floor, "ratio": ratio, "goal": goal,
                          "met": met})

    def show(self):
        def text(x):
            return "" if x is None else x if isinstance(x, str) else f"{x:.3g}" if x < 1000 else f"{x:,.0f}"

        lines = [["", "value", "unit", "floor", "ratio", "goal", ""]]
        lines += [[r["what"], text(r["value"]), r["unit"], text(r["floor"]), text(r["ratio"]), text(r["goal"]),
                   r["met"]] for r in self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        for line in lines:
            cells = [cell.ljust(w) if i in (0, 2, 6) else cell.rjust(w)
                     for i, (cell, w) in enumerate(zip(line, widths))]
            print("  ".join(cells).rstrip())


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--build", default="build/release")
    options.add_argument("--quick", action="store_true", help="a tenth of the sizes, one run of each")
    chosen = options.parse_args()
    program = os.path.join(chosen.build, "bin")
    scale, times = (10, 1) if chosen.quick else (1, 3)

    micro = [os.path.join(program, "bench_micro")] + (["--benchmark_min_time=0.05"] if chosen.quick else [])
    subprocess.run(micro, check=True)
    print()

    troupe = [os.path.join(program, "troupe"), "bench"]
    table, results = Table(), {}
    spawn = results["spawn"] = last_json(troupe + ["spawn", "--n", str(100_000 // scale)])
    table.add("spawn: children a second", spawn["children_per_s"], "1/s")
    table.add("spawn: peak memory", spawn["peak_rss_mb"], "MiB")
    at_once = 10_000 // scale
    flood = results["flood"] = last_json(troupe + ["flood", "--n", str(at_once)])
    table.add(f"flood: peak memory, {at_once} children at once", flood["peak_rss_mb"], "MiB", goal=250)

    observe = results["observe"] = last_json(troupe + ["observe", "--events", str(10_000_000 // scale)])
    table.add("observe: events a second, all shown ten times a second", observe["events_per_s"], "1/s",
              goal=1e6, at_least=True)
    follow = results["follow"] = last_json(troupe + ["follow", "--events", str(1_000_000 // scale), "--agents",
                                                     str(10_000 // scale), "--pairs", "3" if chosen.quick else "7"])
    table.add("follow: CPU of a run with three bad followers", follow["cpu_s_followed"], "s", follow["cpu_s_alone"],
              goal=1.05)

    for batch in (64, 256):
        store = results[f"store {batch}"] = last_json(troupe + ["store", "--batch", str(batch), "--rounds",
                                                                str(600 // scale)])
        per_write = 1e6 / max(1, store["writes"])
        table.add(f"store: a write in commits of {batch}", store["store_s"] * per_write, "us",
                  store["raw_s"] * per_write, goal=2)

    session = results["session"] = last_json(troupe + ["session", "--turns", "2000"])
    table.add("session: CPU of 2000 turns", session["cpu_s"], "s", goal=2)
    table.add("session: CPU of the second half", session["second_half_cpu_s"], "s", session["first_half_cpu_s"], goal=1.3)
    results["crash"] = last_json(troupe + ["crash", "--kills", str(300 // scale)])

    wire = results["wire"] = last_json(troupe + ["wire", "--rounds", "2" if chosen.quick else "5"])
    table.add("wire: CPU of a stream of 500 chunks, one by one", wire["stream_us"], "us", wire["stream_floor_us"], goal=2)
    table.add("wire: the same, all chunks at once", wire["burst_us"], "us", wire["burst_floor_us"])
    table.add("wire: CPU of a whole answer", wire["call_us"], "us", wire["call_floor_us"])
    table.add("wire: of it on top of plain Asio", wire["call_extra_us"], "us", goal=25)

    with fake_model(os.path.join(program, "fake_model")) as port:
        for name, size in WORKLOADS:
            size = str(size // scale)
            key = "wall_s" if name in IDEAL_WALL else "cpu_s"
            ours = best_of(times, troupe + ["http", "--workload", name, "--n", size, "--base",
                                            f"http://127.0.0.1:{port}"], key)
            floor = best_of(times, [os.path.join(program, "floor"), "--workload", name, "--n", size, "--port",
                                    str(port)], key)
            results[name] = {"troupe": ours, "floor": floor}
            table.add(f"{name}: CPU a child, n={size}", ours["cpu_ms_per_child"], "ms", floor["cpu_ms_per_child"],
                      goal=3 if name == "W2" else None)
            if name == "W2":
                followed = best_of(times, troupe + ["http", "--workload", name, "--n", size, "--follow", "--base",
                                                    f"http://127.0.0.1:{port}"], key)
                results["W2 followed"] = followed
                table.add("W2: the same while one follows all activity", followed["cpu_ms_per_child"], "ms",
                          ours["cpu_ms_per_child"], goal=1.1)
            if name in IDEAL_WALL:
                ideal = IDEAL_WALL[name]
                table.add(f"{name}: wall time (ideal {ideal} s)", ours["wall_s"], "s", floor["wall_s"],
                          goal=1.3 * ideal if name == "W1" else None, measured=ours["wall_s"])
            if name == "W5":
                sent = max(1, floor["events"])  # the runtime may give several chunks as one piece
                table.add("W5: CPU a chunk", ours["cpu_s"] * 1e6 / sent, "us", floor["cpu_s"] * 1e6 / sent)

    table.show()
    wrong = [name for name, r in results.items() for run in (r.values() if "troupe" in r else [r]) if not run.get("ok")]
    for name in dict.fromkeys(wrong):
        print(f"{name}: NOT RIGHT: {json.dumps(results[name])}")
    with open(os.path.join(chosen.build, "bench.json"), "w", encoding="utf-8") as file:
        json.dump({"cores": os.cpu_count(), "results": results, "table": table.rows}, file, indent=1)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
