"""Sizes of vectors for a processor: its features and its name decide, as numba is told them."""

import os
import subprocess
import sys

import pytest

from sktslib.distances._kernels.simd import Sizes, sizes_for

AVX512, AVX, SSE2 = Sizes(8, 16), Sizes(4, 8), Sizes(4, 4)


@pytest.mark.parametrize(
    ("machine", "name", "features", "sizes"),
    [
        ("x86_64", "znver5", {"avx512f": True, "avx": True}, AVX512),
        ("AMD64", "skylake", {"avx512f": False, "avx": True}, AVX),
        ("x86_64", "nehalem", {"avx512f": False, "avx": False}, SSE2),
        ("x86_64", "haswell", {}, AVX),
        ("x86_64", "x86-64", {}, SSE2),
        ("x86_64", "x86-64", {"avx": True}, AVX),
        ("x86_64", "haswell", {"avx": False}, SSE2),
        ("arm64", "apple-m1", {}, AVX),
        ("aarch64", "generic", {"neon": True}, AVX),
    ],
)
def test_processors_are_known_by_features_and_names(machine, name, features, sizes):
    assert sizes_for(machine, name, features) == sizes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("told", "sizes"),
    [
        ({"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""}, SSE2),
        ({"NUMBA_CPU_NAME": "znver4", "NUMBA_CPU_FEATURES": "+avx512f"}, AVX512),
        ({"SKTSLIB_BLOCKS": "small"}, Sizes(2, 4)),
    ],
)
def test_explicit_choices_are_honored(told, sizes):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_CPU", "SKTSLIB_BLOCKS"))}
    code = "import platform; platform.machine = lambda: 'x86_64'\n"
    code += "from sktslib.distances._kernels.simd import BATCH, REGISTER; print(REGISTER, BATCH)"
    environment = {**kept, **told, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(size) for size in sizes]
