"""Made-up files, each written by the library that the package reads it with."""

import datetime

import numpy as np
import pandas as pd

RNG = np.random.default_rng(45)
START = datetime.datetime(2024, 3, 1, 12, 30, 5)
VALUES = np.column_stack([np.sin(np.arange(3000) / 20.0), RNG.normal(size=3000)])


def edf(
    path,
    *,
    values=VALUES,
    rates=(100, 100),
    labels=("EEG Fpz", "EEG Cz"),
    annotations=(),
    kind="edf",
    start=START,
    seconds=30,
):
    """Write EDF, EDF+ or BDF."""
    import edfio

    signal = edfio.BdfSignal if kind == "bdf" else edfio.EdfSignal
    limits = (-8388608, 8388607) if kind == "bdf" else (-32768, 32767)
    scale = {"physical_dimension": "uV", "physical_range": (-6, 6), "digital_range": limits}
    signals = [
        signal(values[: seconds * rate, k], rate, label=label, **scale)
        for k, (rate, label) in enumerate(zip(rates, labels, strict=True))
    ]
    notes = [edfio.EdfAnnotation(*one) for one in annotations] or None
    kinds = {"edf": edfio.Edf, "bdf": edfio.Bdf}
    about = edfio.Recording(startdate=start.date()) if start else None
    kinds[kind](
        signals, recording=about, starttime=start.time() if start else None, data_record_duration=1, annotations=notes
    ).write(path)
    return path


def interrupted(path, onsets, **rest):
    """Write EDF+D, whose records begin at `onsets` seconds."""
    edf(path, annotations=[(0.5, None, "f" * 40)], **rest)
    raw = bytearray(path.read_bytes())
    n = int(raw[252:256])
    raw[192:197] = b"EDF+D"
    samples = [int(raw[256 + 216 * n + 8 * k : 264 + 216 * n + 8 * k]) for k in range(n)]
    size, before = 2 * sum(samples), 2 * sum(samples[:-1])
    for k, onset in enumerate(onsets):
        at = 256 * (n + 1) + k * size + before
        note = b"+%g\x14\x14\x00" % onset + (b"+%g\x150.5\x14spike\x14\x00" % (onset + 0.25) if k == 25 else b"")
        raw[at : at + 2 * samples[-1]] = note.ljust(2 * samples[-1], b"\0")[: 2 * samples[-1]]
    path.write_bytes(raw)
    return path


def wfdb_record(folder, *, fs=250, annotations=True, name="made"):
    """Write a record of two leads, with a stretch of invalid samples, and its annotations."""
    import wfdb

    values = VALUES.copy()
    values[100:110, 1] = np.nan
    signals = {"units": ["mV", "mV"], "sig_name": ["II", "V1"], "fmt": ["16", "16"], "p_signal": values}
    wfdb.wrsamp(name, fs=fs, write_dir=str(folder), base_datetime=START, **signals)
    if annotations:
        marks = {"symbol": ["N", "V", "+", "N"], "aux_note": ["", "", "(AFIB", ""]}
        wfdb.wrann(name, "atr", np.array([5, 300, 700, 900]), write_dir=str(folder), **marks)
    return folder / f"{name}.hea"


def mseed(path, *, format="MSEED"):
    """Write two traces of one channel with a gap between them, or one trace as SAC."""
    import obspy

    start = obspy.UTCDateTime(START)
    head = {"network": "XX", "station": "MADE", "channel": "BHZ", "sampling_rate": 100.0, "starttime": start}
    first = obspy.Trace(VALUES[:1000, 0].astype(np.float32), head)
    second = obspy.Trace(VALUES[1200:, 0].astype(np.float32), {**head, "starttime": start + 12})
    obspy.Stream([first, second] if format == "MSEED" else [first]).write(str(path), format=format)
    return path


def table(recording):
    """Return the samples of a recording as a table."""
    return pd.DataFrame(np.asarray(recording), columns=recording.names)
