"""Every way to install the project, each in an environment of its own, with the tests that apply to it."""
