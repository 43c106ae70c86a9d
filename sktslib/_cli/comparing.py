"""The commands distance and metrics."""

import inspect

import numpy as np

from . import output
from .commands import errors_of, given, reading_of
from .recordings import Files, compared, searched


# ----------------------------------------------------------------------------------------------------------- distance
def run_distance(options):
    """Print the distances of two series."""
    import pandas as pd

    from ..distances import get_metric

    output.check_picture(options.picture, "--picture")
    files = Files(reading_of(options))
    x = files.read(options.first, "FIRST", weighted=True)
    y = files.read(options.second, "SECOND")
    output.tell_notes([x, y])
    (x,), y, line = compared([x], y, of=("first file", "second file"))
    files.check()
    output.note(line)
    a, b = (np.asarray(searched(one)) for one in (x, y))
    rows, drawn = [], None
    for name, parameters in options.metric or [("dtw", {})]:
        with errors_of("--metric"):
            metric = get_metric(name, parameters)
        timed = metric.uses_times and x.times is not None and y.times is not None
        if metric.uses_times and not timed and (x.times is None) != (y.times is None):
            output.note(f"only one of the series has times, so {metric.full_name} counts samples")
        times = {"tx": x.times[:], "ty": y.times[:]} if timed else {}
        with errors_of(f"--metric {name}", options.parameters):
            d = metric.distance(a, b, weight=x.weight, **times, **given(options, options.parameters))
        path = getattr(d, "path", None)
        if drawn is None and path is not None:
            drawn = metric, float(d), path
        rows.append({"metric": repr(metric), "distance": float(d), "path": 0 if path is None else path.shape[1]})
    frame = pd.DataFrame(rows)
    if not frame["path"].any():
        frame = frame.drop(columns="path")
    if options.picture is not None:
        from . import pictures

        if drawn is None:
            raise ValueError("--picture needs a distance that aligns the series, such as dtw or twed, by --metric.")
        metric, d, path = drawn
        title = f"{x.short_title} (above) and {y.short_title}: {metric!r} {d:.4g}"
        pictures.save_picture(
            pictures.draw_alignment(x.values, y.values, path, x.times, y.times, title), options.picture
        )
    about = {"first": x.title, "second": y.title, "columns": x.channels, "samples": [len(x), len(y)]}
    if options.format == "table":  # distances by different metrics have different scales
        frame["distance"] = [f"{d:.6g}" for d in frame["distance"]]
    output.print_frame(frame, options.format, about, "distances")
    return 0


# ------------------------------------------------------------------------------------------------------------ metrics
def run_metrics(options):
    """List the distances, or explain one and its parameters."""
    import pandas as pd

    from ..distances import get_metric, metric_names

    if options.name is not None:
        if options.format != "table":
            raise ValueError(f"--format must be 'table' with NAME, whose page is text. Got {options.format!r}.")
        with errors_of("NAME"):
            print(inspect.getdoc(type(get_metric(options.name))))
        return 0
    metrics = [get_metric(name) for name in metric_names()]
    columns = {name: [getattr(one, name) for one in metrics] for name in ("name", "family", "full_name")}
    columns["channels"] = ["several" if one.multivariate else "one" for one in metrics]
    columns["metric"] = ["yes" if one.is_metric else "no" for one in metrics]
    columns["parameters"] = [",".join(one.get_params()) for one in metrics]
    output.print_frame(pd.DataFrame(columns), options.format, {}, "metrics")
    return 0
