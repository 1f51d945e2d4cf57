"""GLAD: workers differ in ability, and items differ in difficulty."""

from .method import GLAD as GLAD
