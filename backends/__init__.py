"""Core in, callable out: how a rewritten program runs on each device."""

if __name__ != "gradwright.backends":
    raise ImportError(
        "backends/ is a part of gradwright: write `import gradwright.backends`. "
        "Under a bare name it would be a second copy, with a registry of its own."
    )
