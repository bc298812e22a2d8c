"""``python -m oodometer`` is the same as ``oodometer``."""

from oodometer.cli.main import main

main(prog_name="oodometer")
