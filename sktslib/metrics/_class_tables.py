"""Tables of the classes of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pandas import DataFrame

BACKGROUND = "background"


class ClassTables:
    """What `EventReport` tells of classes, by its `true_label` and `label`."""

    def confusion(self) -> DataFrame:
        """Count the events of each true class by the class that they were found as.

        Returns
        -------
        pandas.DataFrame
            A row and a column for each class, of the true events and of the found ones. The last row, "background",
            counts what is false, and the last column what was missed.

        Raises
        ------
        ValueError
            If the classes of one side are not known.

        Examples
        --------
        >>> from sktslib.metrics import event_report
        >>> report = event_report(["N", "N", "", "V", "V", "", "N", "N"], ["N", "N", "", "N", "N", "", "", ""])
        >>> table = report.confusion()
        >>> table.columns.tolist(), table.loc["N"].tolist(), table.loc["V"].tolist()
        (['N', 'V', 'background'], [1, 0, 1], [1, 0, 0])
        """
        import pandas as pd

        sides = {"true": self.true_label, "found": self.label}
        for side, labels in sides.items():
            if labels is None:
                raise ValueError(
                    f"A report must know the classes of both sides to count them. Got none of the {side} events. Give "
                    "event_report labels of the time points, or "
                    f"{'kinds' if side == 'true' else 'the result of a search or a segmentation'}."
                )
        names = list(dict.fromkeys(name for labels in sides.values() for name in labels.tolist() if name is not None))
        try:
            names.sort()
        except TypeError:  # numbers and texts together
            names.sort(key=str)
        number = dict(zip([*names, None], range(len(names) + 1), strict=True))
        counts = np.zeros((len(number), len(number)), np.int64)
        np.add.at(counts, tuple([number[name] for name in labels.tolist()] for labels in sides.values()), 1)
        index, columns = (pd.Index([*names, BACKGROUND], dtype=object, name=side) for side in sides)
        return pd.DataFrame(counts, index, columns)

    def by_class(self) -> DataFrame:
        """Precision, recall and F1 of each class; a hit is an event that was found as its class.

        Returns
        -------
        pandas.DataFrame
            Indexed by class: `true`, `found` and `hit`, numbers of events; `precision` and `recall`, 0 where there is
            no event; `f1`.

        Raises
        ------
        ValueError
            As `confusion`.
        """
        import pandas as pd

        table = self.confusion()
        true, found, hit = (values[:-1] for values in (table.sum(axis=1), table.sum(axis=0), np.diag(table)))
        columns = {"true": true, "found": found, "hit": hit, "precision": hit / np.maximum(found, 1)}
        columns |= {"recall": hit / np.maximum(true, 1), "f1": 2 * hit / (true + found)}
        return pd.DataFrame(columns, index=table.index[:-1].rename("label"))
