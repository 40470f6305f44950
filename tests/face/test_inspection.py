"""Looking inside."""

import sys
import types

import pytest

import gradwright as gw
from gradwright.inspection import Shown


def energy(x, n=2):
    return x**n


def test_source_of_a_call_and_of_the_last_call() -> None:
    g = gw.grad(energy)
    with pytest.raises(ValueError, match="energy has not been called yet"):
        g.source()
    g(3.0)
    assert g.source() == g.source(1.0) == gw.source(g) == gw.source(g, x=1.0)
    assert "def energy_grad(x, n):" in g.source()


def test_forward_and_reverse_mode_of_plain_functions() -> None:
    forward = gw.source(energy, 1.0, kind="jvp")
    assert "def energy_jvp(x, n, x_dot):" in forward
    both = gw.source(energy, 1.0, kind="vjp")
    assert both.index("def energy_forward(") < both.index("def energy_backward(")
    gw.vjp(energy, 2.0)
    assert gw.source(energy, kind="vjp") == both
    assert "energy_grad_jvp" in gw.source(gw.grad(energy), 1.0, kind="jvp")


def test_what_cannot_be_looked_into() -> None:
    with pytest.raises(TypeError, match="'energy' is not transformed: pass grad of it"):
        gw.source(energy, 1.0)
    with pytest.raises(ValueError, match="kind is 'jvp', 'vjp' or 'linearize', not"):
        gw.source(energy, 1.0, kind="grad")


def test_a_function_without_arguments() -> None:
    assert "def seven_jvp():" in gw.source(lambda: 7.0, kind="jvp").replace(
        "function", "seven"
    )


def test_show_in_a_terminal(capsys) -> None:
    assert gw.grad(energy).show(1.0) is None
    assert gw.show(energy, 1.0, kind="jvp") is None
    shown = capsys.readouterr().out
    assert "def energy_grad(x, n):" in shown
    assert "def energy_jvp(x, n, x_dot):" in shown


def test_show_in_a_notebook(monkeypatch) -> None:
    shell = type("ZMQInteractiveShell", (), {})()
    module = types.SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", module)
    shown = gw.grad(energy).show(1.0)
    assert isinstance(shown, Shown)
    html = shown._repr_html_()
    assert html.startswith("<pre")
    assert "energy_grad" in html
    assert "<span style=" in html
    assert repr(shown) == gw.grad(energy).source(1.0)


def test_repr() -> None:
    assert repr(gw.grad(energy)).startswith("<grad of energy, test_inspection.py:")
    assert repr(gw.grad(len)) == "<grad of len>"
