"""How vectors are cut for a processor: sane sizes for each kind, and what numba is told of is what counts."""

import os
import subprocess
import sys

import pytest

from sktslib.distances._kernels import batch, simd
from sktslib.distances._kernels import pair as pair_kernels
from sktslib.distances._kernels.compile import SMALL
from sktslib.distances._kernels.simd import SIZES, kind_of, sizes_for


@pytest.mark.parametrize("sizes", [*SIZES.values(), simd.SMALL_SIZES])
def test_sizes_fit_together(sizes):
    assert sizes.register in (2, 4, 8)
    assert sizes.lanes in (sizes.register, 2 * sizes.register)
    assert sizes.parts & (sizes.parts - 1) == 0, "kernels shift in place of dividing"
    assert 1 < sizes.parts <= 4, "a cell reads that many points of the series, and the one before"


@pytest.mark.parametrize(
    ("machine", "name", "features", "kind"),
    [
        ("x86_64", "znver5", {"avx512f": True, "avx": True}, "AVX-512"),
        ("AMD64", "skylake", {"avx512f": False, "avx": True}, "AVX"),
        ("x86_64", "nehalem", {"avx512f": False, "avx": False}, "SSE2"),
        ("x86_64", "haswell", {}, "AVX"),
        ("x86_64", "x86-64", {}, "SSE2"),
        ("x86_64", "x86-64", {"avx": True}, "AVX"),
        ("x86_64", "haswell", {"avx": False}, "SSE2"),
        ("arm64", "apple-m1", {}, "other"),
        ("aarch64", "generic", {"neon": True}, "other"),
    ],
)
def test_processors_are_known_by_features_and_names(machine, name, features, kind):
    assert kind_of(machine, name, features) == kind


def test_minima_of_integers_only_where_they_are_one_instruction():
    wide = {"avx512f": True, "avx": True}
    assert sizes_for("x86_64", "znver4", wide).bits
    assert not sizes_for("x86_64", "znver3", {"avx": True}).bits
    assert not sizes_for("x86_64", "sapphirerapids", wide).bits


def test_kernels_take_the_chosen_sizes():
    chosen = simd.CHOSEN
    assert (simd.REGISTER, simd.BITS, simd.REGISTERS) == (chosen.register, chosen.bits, chosen.parts)
    assert (batch.BATCH, pair_kernels.STRIP) == (chosen.lanes, chosen.parts * chosen.register)
    assert not SMALL or chosen == simd.SMALL_SIZES


@pytest.mark.parametrize(
    ("told", "sizes"),
    [
        ({"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": ""}, sizes_for("x86_64", "haswell", {})),
        ({"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""}, sizes_for("x86_64", "x86-64", {})),
        ({"NUMBA_CPU_NAME": "znver4", "NUMBA_CPU_FEATURES": "+avx512f"}, SIZES["AVX-512"]._replace(bits=True)),
        ({"SKTSLIB_BLOCKS": "small"}, simd.SMALL_SIZES),
    ],
)
def test_explicit_choices_are_honored(told, sizes):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_CPU", "SKTSLIB_BLOCKS"))}
    code = "import platform; platform.machine = lambda: 'x86_64'\n"
    code += "from sktslib.distances._kernels.simd import CHOSEN; print(CHOSEN)"
    environment = {**kept, **told, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(sizes)
