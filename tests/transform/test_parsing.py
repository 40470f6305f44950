"""Threads that parse at once do not meet in the parser."""

from concurrent.futures import ThreadPoolExecutor

import gast

from gradwright.transform.parsing import PARSER, statements


def test_the_statements_of_a_text() -> None:
    first, second = statements("a = 1\nif a: pass")
    assert isinstance(first, gast.Assign) and isinstance(second, gast.If)


def test_many_threads_parse() -> None:
    text = "\n".join(f"x{k} = [(y + {k}) * (y - {k}) for y in z]" for k in range(50))
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: len(statements(text)), range(40)))
    assert made == [50] * 40


def test_one_thread_at_a_time() -> None:
    with ThreadPoolExecutor(1) as pool, PARSER:
        waiting = pool.submit(statements, "a = 1")
        assert not waiting.done()
        PARSER.release()
        assert len(waiting.result(timeout=60)) == 1
        PARSER.acquire()
