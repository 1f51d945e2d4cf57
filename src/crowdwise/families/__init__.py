"""What groups of methods share: a model of the workers, and the loops over labels that go with it."""
