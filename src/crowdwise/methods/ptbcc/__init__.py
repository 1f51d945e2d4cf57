"""PTBCC: each label comes from one of two prototypes that all workers share, a good and a contrary one."""

from .method import PTBCC as PTBCC
