"""`python -m crowdwise` is the command line."""

from .cli import main

main()
