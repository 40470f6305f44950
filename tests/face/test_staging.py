"""The program after every stage of its rewriting."""

import gradwright as gw


def energy(x, k):
    total = 0.0
    for _ in range(2):
        total += (x, x * x)[k]
    return total


def test_every_stage_has_its_text() -> None:
    stages = gw.grad(energy).stages(2.0, 1)
    assert [*stages] == [
        "source",
        "normalise",
        "specialise",
        "grad",
        "simplify",
        "emit",
    ]
    assert stages["source"].startswith("def energy(x, k):")
    assert "energy_grad" in stages["grad"]
    assert stages["emit"] == gw.grad(energy).source(2.0, 1)
    assert str(stages) == repr(stages)
    for title in stages:
        assert f"# ---- {title} -" in str(stages)


def test_nested_transforms_and_forward_mode() -> None:
    twice = gw.stages(gw.grad(gw.grad(energy)), 2.0, 1)
    assert [*twice][2:5] == ["specialise", "grad", "grad again"]
    forward = gw.stages(energy, 2.0, 1, kind="jvp")
    assert "jvp" in [*forward]
    backward = gw.stages(energy, 2.0, 1, kind="vjp")
    assert "energy_backward" in backward["simplify"]
