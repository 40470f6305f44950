"""A request: it says which specialisations a call may share."""

import pickle

from gradwright.transform.step import Step


def test_a_request_is_its_options():
    assert Step("grad") == Step("grad", 0, has_aux=False)
    assert len({Step("grad"), Step("grad", 1), Step("grad", has_aux=True)}) == 3


def test_a_request_travels():
    step = Step("value_and_grad", (0, 2))
    assert pickle.loads(pickle.dumps(step)) == step
