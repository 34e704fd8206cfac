"""The task files, as a package: the harness's proposed plugin looks for them in its folder."""
