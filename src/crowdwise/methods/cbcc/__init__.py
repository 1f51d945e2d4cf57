"""CBCC: workers belong to communities, whose members have similar confusion matrices."""

from .method import CBCC as CBCC
