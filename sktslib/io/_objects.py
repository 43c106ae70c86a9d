"""Recordings from objects of other packages, and how estimators take recordings apart.

Whoever passes such an object has its package, so types are recognized by their names, without imports.
"""

from functools import partial
from operator import methodcaller

import numpy as np

from ..utils._conversion import is_stored
from ..utils._times import EvenTimes, Sampling, as_dates, index_of, index_times
from ..utils.validation import refused
from ._library import check_fits, chosen, unique
from ._recording import Marks, NamedChannels, Recording, Stored, as_table

UNITS = {107: "V", 112: "T", 201: "T/m", 101: "m", 119: "S"}  # common units by MNE's codes
NEAR = 0.1  # tolerance between the clocks of traces, in samples


def of_mne(raw):
    """Return MNE's Raw as a recording, with its annotations as marks; data that is not loaded stays in its files."""
    rate, start, date = float(raw.info["sfreq"]), float(raw.first_time), raw.info["meas_date"]
    if date is not None:
        import pandas as pd

        start = pd.Timestamp(date) + pd.Timedelta(start, "s")
    names, notes = list(raw.ch_names), raw.annotations
    # Onsets count from the measurement date, or without one from the first sample.
    onset = np.asarray(notes.onset, float) - (0.0 if notes.orig_time is None else raw.first_time)
    marks = Marks.of_times(onset, notes.duration, list(notes.description), rate)
    values = raw.get_data().T if raw.preload else Stored((len(raw), len(names)), partial(_samples, raw))
    units = [UNITS.get(int(channel["unit"]), "") for channel in raw.info["chs"]]
    return Recording(values, Sampling(rate, start), names, units, marks)


def _samples(raw, start, end):
    return raw.get_data(start=start, stop=end).T if end > start else np.empty((0, len(raw.ch_names)))


def of_obspy(stream, channels=None):
    """Return a stream or trace of ObsPy as a recording, with NaN where a channel has no samples."""
    import pandas as pd

    traces = [trace for trace in ([stream] if hasattr(stream, "stats") else stream) if trace.stats.npts]
    rates = {trace.id: float(trace.stats.sampling_rate) for trace in traces}
    names = [list(rates)[k] for k in chosen(list(rates), channels, rates)]
    traces = [trace for trace in traces if trace.id in names]
    if other := [trace.stats.sampling_rate for trace in traces if trace.stats.sampling_rate != rates[trace.id]]:
        raise ValueError(f"the traces of a channel must have one sampling rate. Got {other[0]:g} and {rates}.")
    rate, begin = rates[names[0]], min(trace.stats.starttime.ns for trace in traces)
    starts = np.array([(trace.stats.starttime.ns - begin) * 1e-9 * rate for trace in traces])
    first = np.rint(starts).astype(np.int64)
    if (apart := np.abs(starts - first)).max() > NEAR:
        k = int(np.argmax(apart))
        late = f"{traces[k].id}, {starts[k]:g} samples after the first"
        out = f"Choose one, channels={traces[k].id!r}, or interpolate all: stream.interpolate(rate, starttime=...)."
        raise ValueError(f"the traces must be sampled at the same instants. Got {late}. {out}")
    n = max(at + trace.stats.npts for at, trace in zip(first.tolist(), traces, strict=True))
    check_fits(8 * n * len(names), "There are long gaps between the traces: pass a part, stream.slice(start, end).")
    values = np.full((n, len(names)), np.nan)
    for at, trace in zip(first.tolist(), traces, strict=True):
        part = values[at : at + trace.stats.npts, names.index(trace.id)]
        new = np.ma.filled(np.ma.asarray(trace.data).astype(np.float64), np.nan)
        # Samples on which two traces disagree become missing.
        clash = ~np.isnan(part) & ~np.isnan(new) & (part != new)
        part[:] = np.where(clash, np.nan, np.where(np.isnan(new), part, new))
    return Recording(values, Sampling(rate, pd.Timestamp(begin, tz="UTC")), names)


def of_wfdb(record, channels=None):
    """Return a WFDB record in memory as a recording."""
    names, expanded = unique(record.sig_name), record.p_signal is None and record.d_signal is None
    frames = record.samps_per_frame if expanded else [1] * len(names)
    take = chosen(names, channels, {k: record.fs * frame for k, frame in zip(names, frames, strict=True)})
    if expanded:
        values = np.column_stack([(record.e_p_signal or record.dac(expanded=True))[k] for k in take])
    else:
        values = (record.dac() if record.p_signal is None else record.p_signal)[:, take]
    start = 0.0 if record.base_datetime is None else np.datetime64(record.base_datetime, "us")
    sampling = Sampling(record.fs * frames[take[0]], start)
    return Recording(values, sampling, [names[k] for k in take], [record.units[k] for k in take])


def of_xarray(array):
    """Return an array of xarray as a recording, with names and times from its coordinates."""
    times = [dim for dim in array.dims if dim in array.indexes and array.indexes[dim].dtype.kind in "mM"]
    times = times or [dim for dim in array.dims if str(dim).lower() in ("time", "times", "t")] or [array.dims[0]]
    turned = array.transpose(dim := times[0], ...)
    names, units = None, array.attrs.get("units")
    if turned.ndim == 2:
        other = array.indexes.get(turned.dims[1])
        names = None if other is None or not all(isinstance(name, str) for name in other) else list(other)
    elif turned.ndim == 1 and isinstance(array.name, str):
        names = [array.name]
    index = turned.indexes.get(dim)
    units = [units] * (turned.shape[1] if turned.ndim == 2 else 1) if isinstance(units, str) else None
    return Recording(turned, index if index_times(index) is not None else None, names, units)


# Types of other packages by name. Lazy frames and Arrow tables are converted to known tables.
OBJECTS = {"mne.BaseRaw": of_mne, "wfdb.Record": of_wfdb, "xarray.DataArray": of_xarray}
OBJECTS |= dict.fromkeys(["obspy.Trace", "obspy.Stream"], of_obspy) | {"polars.LazyFrame": methodcaller("collect")}
OBJECTS |= dict.fromkeys(["pyarrow.Table", "pyarrow.RecordBatch"], methodcaller("to_pandas"))


def converter_of(X):
    """Return the function that converts an object of another package; None if no conversion is needed."""
    kind = type(X)
    for cls in kind.__mro__ if kind.__module__.partition(".")[0] != "numpy" else ():
        if (name := f"{cls.__module__.partition('.')[0]}.{cls.__name__}") in OBJECTS:
            return OBJECTS[name]
    return None


def open(X, channels=None):
    """Return the recording in an object, with selected channels; with this function the module is a reader."""
    convert = converter_of(X)
    if convert in (of_obspy, of_wfdb):  # their channels may have different rates
        return convert(X, channels)
    recording = recording_of(convert(X))
    return recording if channels is None else recording.select(channels)


def recording_of(X):
    """Return a table or an array as a recording."""
    if isinstance(X, Recording):
        return X
    names = getattr(X, "columns", None)
    values = X if names is None and is_stored(X) else np.asarray(X)
    return Recording(values, index_times(index_of(X)), None if names is None else list(names))


def unwrapped(X, times, name="X", *, whole=False):
    """Return a sequence, or several, as arrays or tables with their times.

    With `whole`, samples that are not in memory are loaded.
    """
    if isinstance(X, np.ndarray) or not isinstance(X, dict | list | tuple):
        return (X, times) if isinstance(X, np.ndarray) else _one(X, times, name, whole)
    may_hold = len(X) > 0 and (isinstance(X, dict) or not isinstance(X[0], int | float))  # not if it holds numbers
    series = dict(X if isinstance(X, dict) else enumerate(X)) if may_hold else {}
    if not any(isinstance(one, Recording) or converter_of(one) for one in series.values()):
        return X, times
    listed = isinstance(times, list | tuple | dict)
    given = dict.fromkeys(series, times) if not listed else times if isinstance(times, dict) else dict(enumerate(times))
    pairs = {k: _one(one, given.get(k), f"{name}[{k!r}]", whole) for k, one in series.items()}
    every, own = ({k: pair[at] for k, pair in pairs.items()} for at in range(2))
    if (listed and len(given) > len(series)) or all(t is None for t in own.values()):
        own = times  # refused later, unless None
    if isinstance(X, dict):
        return every, own
    return list(every.values()), list(own.values()) if isinstance(own, dict) else own


def _one(X, times, name, whole):
    """Return one sequence and its times, as `unwrapped` does."""
    if not isinstance(X, Recording):
        convert = converter_of(X)
        if convert is None:
            plain = not hasattr(X, "__array__") and hasattr(X, "__dlpack__")
            return (np.from_dlpack(X) if plain else X), times
        X = convert(X)
        if not isinstance(X, Recording):  # then it is a table
            return X, times
    own, values = X.times, X.values
    if own is not None and times is not None:
        way_out = f"Leave 'times' out, or pass {name}.values if other times count."
        raise refused("'times'", f"be None where {name!r} is a recording with times of its own", "both", way_out)
    if not is_stored(values) or whole:
        values = as_table(np.asarray(values[:]), X.names)
        own = as_dates(own) if isinstance(own, EvenTimes) else own
    elif X.names is not None or len(X.shape) == 1:
        values = NamedChannels(values, X.names)
    return values, times if own is None else own
