"""Random cases of every public function, metric and option against the slow implementations of tests/naive.

python benchmarks/fuzz.py --minutes 10 --seed 0 [--only NAME ...] [--without NAME ...] [--jobs 2]
python benchmarks/fuzz.py --repeat AREA:SEED:NUMBER

A case is drawn from its area, seed and number alone, so that it can be repeated. One comparison is one number, or one
array of an answer as a whole, against an answer that `naive` or a few plain lines found. Comparisons of the package
with itself (chunks and streams with the whole sequence, cutoffs, columns, jobs) are counted apart. Warnings and
unexpected exceptions are differences too. The exit code is 1 if there is any.
"""

import argparse
import sys
import time
import traceback
import warnings
import zlib
from collections import Counter, defaultdict
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[0] / "tests"), str(HERE.parents[0])]

import conftest  # noqa: E402, F401  # names the folder of compiled kernels before numba is imported
import fuzz_collections  # noqa: E402
import fuzz_pairs  # noqa: E402
import fuzz_profiles  # noqa: E402
import fuzz_searches  # noqa: E402
import fuzz_segments  # noqa: E402
import numpy as np  # noqa: E402
from fuzz_cases import Case  # noqa: E402

MODULES = fuzz_pairs, fuzz_collections, fuzz_profiles, fuzz_searches, fuzz_segments
AREAS = {name: area for module in MODULES for name, area in module.AREAS.items()}
PACKAGE = HERE.parent / "sktslib"
SLICE = 2.0  # seconds of one area at a time
# What is drawn need not be meant: queries longer than sequences, constant ones, values that all lie within `eps`.
UNMEANT = (
    "Nothing is found: ",
    "The query should",
    "The 'eps' parameter",
    "The 'max_gap' parameter is below",
    "'x' and 'y' hold one point",
)
SHOWN = 5  # differences of one kind that are listed


def run_case(area, seed, number):
    """One case, and what was found in it."""
    case = Case(np.random.default_rng([seed, zlib.crc32(area.encode()), number]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for message in UNMEANT:
            warnings.filterwarnings("ignore", message)
        try:
            AREAS[area](case)
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            place = [frame for frame in frames if Path(frame.filename).resolve().is_relative_to(PACKAGE)]
            where = f"{Path(place[-1].filename).name}:{place[-1].lineno}" if place else "in the case itself"
            case.differ(type(error).__name__, f"{str(error)[:200]} ({where})", traceback.format_exc())
    return case


def run_some(area, seed, first, step, seconds, most):
    """Cases of an area one after the other: the next number, the counts of cases and comparisons, the differences."""
    end, number, cases, count, own, found = time.perf_counter() + seconds, first, 0, 0, 0, []
    while cases < most and (cases == 0 or time.perf_counter() < end):
        case = run_case(area, seed, number)
        found += [(area, f"{area}:{seed}:{number}", what, text) for what, text, _ in case.differences]
        cases, count, own, number = cases + 1, count + case.count, own + case.own, number + step
    return area, number, cases, count, own, found


def in_turns(areas, jobs):
    """The areas and which of the interleaved sequences of numbers is meant, for ever."""
    while True:
        for k in range(jobs):
            for area in areas:
                yield area, k


class Report:
    """What was found so far."""

    def __init__(self):
        self.begin = self.last = time.perf_counter()
        self.cases, self.counts, self.own, self.seconds = Counter(), Counter(), Counter(), Counter()
        self.kinds = defaultdict(list)

    def take(self, result, seconds):
        area, _, cases, count, own, found = result
        self.cases[area] += cases
        self.counts[area] += count
        self.own[area] += own
        self.seconds[area] += seconds
        for of, name, what, text in found:
            kind = self.kinds[of, what]
            kind.append(name)
            if len(kind) <= SHOWN:
                print(f"DIFFERENCE {of} {what}: {text}\n    python benchmarks/fuzz.py --repeat {name}", flush=True)
        if time.perf_counter() - self.last > 60:
            self.last = time.perf_counter()
            print(self.line(), flush=True)

    def line(self):
        seconds, total = time.perf_counter() - self.begin, sum(self.counts.values())
        differences = sum(map(len, self.kinds.values()))
        return f"{seconds:7.0f} s  {total:9,} comparisons  {total / seconds:6.0f} a second  {differences} differences"

    def table(self):
        print(f"\n{'area':18}{'cases':>10}{'comparisons':>14}{'a second':>10}{'with itself':>13}{'differences':>13}")
        for area in self.cases:
            found = sum(len(names) for (of, _), names in self.kinds.items() if of == area)
            rate = self.counts[area] / max(self.seconds[area], 1e-9)
            print(
                f"{area:18}{self.cases[area]:>10,}{self.counts[area]:>14,}{rate:>10.0f}{self.own[area]:>13,}{found:>13,}"
            )
        print(f"\n{self.line()}")
        for (area, what), names in self.kinds.items():
            print(f"{len(names):6} x {area} {what}: {' '.join(names[:3])}")


def run(areas, seed=0, minutes=None, cases=None, jobs=1):
    """All areas in turns until the time is over, or each for so many cases; the report."""
    report, following = Report(), {(area, k): k for area in areas for k in range(jobs)}
    if cases is not None:
        for area in areas:
            begin = time.perf_counter()
            report.take(run_some(area, seed, 0, 1, np.inf, cases), time.perf_counter() - begin)
        return report
    end, turns = report.begin + 60 * minutes, in_turns(areas, jobs)
    if jobs == 1:
        for area, k in turns:
            begin = time.perf_counter()
            if begin >= end:
                return report
            result = run_some(area, seed, following[area, k], 1, SLICE, np.inf)
            following[area, k] = result[1]
            report.take(result, time.perf_counter() - begin)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running = {}
        while running or time.perf_counter() < end:
            while len(running) < jobs and time.perf_counter() < end:
                area, k = next((a, k) for a, k in turns if (a, k) not in [(b, q) for b, q, _ in running.values()])
                call = pool.submit(run_some, area, seed, following[area, k], jobs, SLICE, 10**9)
                running[call] = area, k, time.perf_counter()
            for call in wait(running, return_when=FIRST_COMPLETED).done:
                area, k, begin = running.pop(call)
                following[area, k] = call.result()[1]
                report.take(call.result(), time.perf_counter() - begin)
    return report


def repeat(name):
    """Run one case again and print what it was about."""
    area, seed, number = name.split(":")
    case = run_case(area, int(seed), int(number))
    with np.printoptions(threshold=10_000, precision=17, linewidth=140):
        for key, value in case.shown.items():
            print(f"{key} = {value!r}")
        for what, text, details in case.differences:
            print(f"\nDIFFERENCE {what}: {text}\n{details}")
    print(f"\n{case.count} comparisons, {case.own} with itself, {len(case.differences)} differences")
    return len(case.differences)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--cases", type=int, help="so many cases of each area, instead of minutes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=AREAS, metavar="NAME", default=list(AREAS))
    parser.add_argument("--without", nargs="+", choices=AREAS, metavar="NAME", default=[])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--repeat", metavar="AREA:SEED:NUMBER")
    parser.add_argument("--list", action="store_true", help="the areas, and what each of them does")
    options = parser.parse_args(arguments)
    if options.list:
        for name, area in AREAS.items():
            print(f"{name:18}{area.__doc__.strip().splitlines()[0]}")
        return 0
    if options.repeat:
        return int(repeat(options.repeat) > 0)
    areas = [name for name in options.only if name not in options.without]
    report = run(areas, options.seed, options.minutes, options.cases, options.jobs)
    report.table()
    return int(bool(report.kinds))


if __name__ == "__main__":
    sys.exit(main())
