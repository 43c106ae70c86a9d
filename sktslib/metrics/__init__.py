"""Scores of found events and segmentations against annotations."""

from ._events import EventReport as EventReport
from ._events import (
    EventScorer,
    boundary_error,
    event_f1_score,
    event_report,
    events_from_labels,
    labels_from_events,
    segmentation_covering,
)

__all__ = [
    "EventScorer",
    "boundary_error",
    "event_f1_score",
    "event_report",
    "events_from_labels",
    "labels_from_events",
    "segmentation_covering",
]
