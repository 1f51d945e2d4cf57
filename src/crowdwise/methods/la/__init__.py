"""LA, lightweight aggregation: items are decided one by one, by how often workers were right so far."""

from .method import LightweightAggregation as LightweightAggregation
