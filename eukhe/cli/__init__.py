"""The command line: one file a command; `commands` names them all, `main` runs them."""
