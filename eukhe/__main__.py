"""`python -m eukhe` is `eukhe`."""

from eukhe.cli.main import main

main()
