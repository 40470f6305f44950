"""Source in, source out: every rewriting of a program, and no device."""

if __name__ != "gradwright.transform":
    raise ImportError(
        "transform/ is a part of gradwright: write `import gradwright.transform`. "
        "Under a bare name it would be a second copy, with a second primitive table."
    )
