"""BWA: the truth is the weighted average of the votes, and good workers have more weight."""

from .method import BWA as BWA
