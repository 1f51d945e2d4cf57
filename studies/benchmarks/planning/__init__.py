"""Replays what `crowdwise next` and `plan` say on real crowds with known truth; run by `make study NAME=planning`."""
