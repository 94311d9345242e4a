"""The workbench for authors of Harbor benchmark tasks.

Nothing is imported here: `author --version` must cost little more than click itself.
"""

__version__ = "0.1.0"
