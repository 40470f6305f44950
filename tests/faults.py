"""Faults to plant in the package, and the one test that each is killed by.

A fault stands in a module, or anywhere in a package of modules: the old text occurs
there exactly once.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One wrong change of the package.

    part: the module or package, as a path without its suffix.  killer: the test that
    fails, as pytest names it, from the folder of the tests.
    """

    name: str
    part: str
    old: str
    new: str
    killer: str


def planted(part: str, *faults: tuple[str, str, str, str]) -> list[Fault]:
    return [Fault(name, part, *rest) for name, *rest in faults]


def gradient(program: str) -> str:
    return f"transform/test_reverse.py::test_gradient[{program}]"


def tangent(program: str) -> str:
    return f"transform/test_forward.py::test_tangent[{program}]"


def core(module: str, program: str) -> str:
    return f"transform/specialise/test_{module}.py::test_core[{program}]"


def value(module: str, program: str) -> str:
    return f"transform/specialise/test_{module}.py::test_value[{program}]"


def lowered(module: str, test: str) -> str:
    return f"transform/lowering/test_{module}.py::test_{test}"


def derivatives(program: str) -> str:
    return f"test_golden.py::test_derivatives[{program}-0]"


CLEARED = "transform/test_cleared.py::test_against_differences"
LISTED = "transform/specialise/test_lists.py::test_against_differences"
HANDED_BACK = "transform/specialise/test_handing_back.py::test_"
STRETCHED = (
    "transform/test_mixed.py::"
    "test_what_may_be_a_number_is_stretched_where_it_is_an_array"
)
AT_PLACES = "transform/specialise/test_inplace.py::test_against_differences"

FAULTS = [
    # ---- reverse mode --------------------------------------------------------------
    *planted(
        "transform/reverse",
        (
            "a number gets the cotangent of the array beside it",
            "return summed(sweep, c, o) if others and o in sweep.mixed.active else c",
            "return c",
            "transform/test_mixed.py::test_derivatives[sum_beside_a_product-1]",
        ),
        (
            "a store does not clear the cotangent",
            "if not s.accumulate:",
            "if s.accumulate:",
            gradient("a_sum_that_is_cleared"),
        ),
        (
            "a contribution is forgotten",
            "for c in contributions[1:]:",
            "for c in contributions[2:]:",
            gradient("names_bound_again"),
        ),
        (
            "an overwritten value is not saved",
            "return any(sweep.may_follow(s, r) for r in",
            "return any(False for r in",
            gradient("a_product"),
        ),
        (
            "a store in a loop is taken to run once",
            "if common:",
            "if False:",
            gradient("what_the_next_trip_overwrites"),
        ),
        (
            "what a store overwrites is read after it",
            "block.before.setdefault(k, []).append(read)",
            "block.after.setdefault(k, []).append(read)",
            gradient("a_product"),
        ),
        (
            "a value is put back too late",
            "block.undo[source][0] > k:",
            "block.undo[source][0] < k:",
            gradient("trips_that_read_the_sum"),
        ),
        (
            "a cell is read again although it changed",
            "return not any(place in stores(s) for s in block.body[k + 1 : end])",
            "return True",
            gradient("a_condition_on_what_changes"),
        ),
        (
            "a tape begins inside the loop",
            "while home.parent is not None and not home.is_home:",
            "while home.parent is not None and home.parent.parent is not None:",
            gradient("a_product"),
        ),
        (
            "a recursion pops in the order of its pushes",
            "for r in reversed(hand.taken)]",
            "for r in hand.taken]",
            gradient("a_recursion_with_two_calls"),
        ),
        (
            "two calls of one function share their residuals",
            "    if key not in made or len(made[key])",
            "    key = next((c for c in made if c[0].function is s.function), key)\n"
            "    if key not in made or len(made[key])",
            gradient("two_calls"),
        ),
        (
            "a loop that begins below zero has no negative numbers",
            "    return s.start if step > 0 else s.stop + 1",
            "    return linear(0)",
            "transform/reverse/test_lists.py::"
            "test_the_sign_of_a_position_is_asked_where_it_is_not_known[from_below]",
        ),
        (
            "a loop is reversed in its own order",
            "backwards=not s.backwards",
            "backwards=s.backwards",
            gradient("a_name_set_again_in_each_trip"),
        ),
        (
            "the branches change places in reverse",
            "If(condition, then[1], orelse[1])",
            "If(condition, orelse[1], then[1])",
            gradient("only_the_branch_that_needs_it"),
        ),
        (
            "trips are counted after the break",
            "forward.insert(first, Store(trips,",
            "forward.append(Store(trips,",
            gradient("a_break_at_the_end"),
        ),
        (
            "a loop with a break runs one trip too few in reverse",
            "begin + times(sweep, n, need",
            "begin + times(sweep, n - 1, need",
            gradient("a_break_in_a_range_with_a_step"),
        ),
        (
            "the last trip of an endless loop is taken for the first",
            "symbol(placeholder) - 1",
            "symbol(placeholder) - symbol(placeholder)",
            gradient("a_while_that_only_breaks"),
        ),
        (
            "trips that read what they add to are taken for independent",
            "if any(isinstance(t, Load) and t.source in added for t in inner):",
            "if False:",
            gradient("trips_that_add_the_sum"),
        ),
        (
            "trips that set what lies outside are taken for independent",
            "if not all(t.accumulate for t in outer):",
            "if False:",
            gradient("a_sum_that_is_cleared"),
        ),
        (
            "the real part is left out",
            "c = real_part(b, c)",
            "pass",
            gradient("the_real_part_on_the_way"),
        ),
        (
            "a stretched axis is not summed",
            "if d.constant == 1)",
            "if False)",
            gradient("a_row_and_a_column"),
        ),
        (
            "leading axes are not summed",
            "lead = shape.rank - own.rank",
            "lead = 0",
            gradient("fewer_axes"),
        ),
        (
            "a number spread over an array gets no sum",
            "c = b.let(row(np.sum, 1), c)",
            "pass",
            gradient("a_number_and_an_array"),
        ),
        (
            "a cell of Python's takes a cotangent of NumPy's",
            "if not type_of(c).python and bar.type.python:",
            "if False:",
            "transform/test_reverse.py::test_kinds[of_a_cell_beside_an_array]",
        ),
        (
            "a gradient is not of its argument's kind",
            "if (here.python, here.dtype) != (t.python, t.dtype):",
            "if False:",
            "transform/test_reverse.py::test_kinds[of_a_float_beside_an_array]",
        ),
        (
            "the elements of a display change places",
            "np.ndindex(*s.attribute))",
            "np.ndindex(*s.attribute))[::-1]",
            gradient("a_display_in_order"),
        ),
        (
            "a pop that gets nothing pushes nothing",
            "    sweep.builder.add(Push(bar, zero(item) if g is None else g, item))",
            "    _ = g is None or sweep.builder.add(Push(bar, g, item))",
            "transform/test_reverse.py::test_a_pop_that_gets_nothing_pushes_a_zero",
        ),
    ),
    # ---- forward mode --------------------------------------------------------------
    *planted(
        "transform/forward",
        (
            "a tangent that becomes zero stays as it was",
            "if not (s.accumulate and dot == constant(0.0)):",
            "if dot != constant(0.0):",
            tangent("a_sum_that_is_cleared"),
        ),
        (
            "an addition sets the tangent",
            "dot, s.index, s.accumulate, s.first)",
            "dot, s.index)",
            tangent("a_sum_that_reads_itself"),
        ),
        (
            "the tangent of one operand is forgotten",
            "total = term if total is None else b.add_up(total, term)",
            "total = term",
            tangent("two_operands"),
        ),
        (
            "a tangent is read without its index",
            "Load(out, dots, s.index, safe=True, deep=s.deep)",
            "Load(out, dots, safe=True, deep=s.deep)",
            tangent("a_display_in_order"),
        ),
        (
            "the tangent of a real number is complex",
            "dot = real_part(self.builder, dot)",
            "pass",
            tangent("the_modulus"),
        ),
        (
            "the tangent of a sum is not summed",
            'if p.kind == "reduction":',
            'if p.kind == "sum":',
            tangent("elements_and_sums"),
        ),
        (
            "nothing is pushed for what does not vary",
            "                    b.add(Push(self.dots[s.tape], dot, item))",
            "                    _ = s.operand in self.dots and "
            "b.add(Push(self.dots[s.tape], dot, item))",
            "transform/test_forward.py::test_tangents_stand_beside_the_values",
        ),
    ),
    # ---- sparse Jacobians ------------------------------------------------------------
    *planted(
        "transform/dependence",
        (
            "an addition forgets what was there",
            "dot = self.joined(old, [old, dot])",
            "pass",
            "transform/test_dependence.py::test_an_addition_joins_what_was_there",
        ),
        (
            "tapes are not joined",
            "self.tangent(s.operand), labels=True))",
            "self.tangent(s.operand)))",
            "transform/test_dependence.py::test_sums_of_tapes_are_joined",
        ),
    ),
    *planted(
        "transform/following",
        (
            "a part of a set that is written out already is forgotten",
            "found |= sets[part]",
            "pass",
            "transform/test_following.py::test_unions",
        ),
        (
            "the last of an odd number is not joined",
            "np.concatenate([both, a[..., 2 * half :]], axis=-1)",
            "both",
            "transform/test_following.py::test_reductions[None-False-wanted0]",
        ),
        (
            "of an addition at places the last one counts",
            "flat[k] = run.union(int(flat[k]), label)",
            "flat[k] = label",
            "transform/test_following.py::test_additions_at_places_that_come_twice",
        ),
    ),
    # ---- what both stand on ----------------------------------------------------------
    *planted(
        "transform/activity",
        (
            "what varies is looked for once",
            "while size != len(found):",
            "for size in (0,):",
            "transform/test_activity.py::test_activity[round the loop]",
        ),
        (
            "a call passes no derivative on",
            "case Call():",
            "case Call() if False:",
            "transform/test_activity.py::test_activity[through a call]",
        ),
    ),
    *planted(
        "transform/rules",
        (
            "a partial is quoted without what it needs",
            "wanted |= used(s)",
            "pass",
            "transform/test_rules.py::test_a_partial_as_core",
        ),
        (
            "a rule is given the wrong operand",
            "n: operand(names.index(n)) for n",
            "n: operand(0) for n",
            tangent("two_operands"),
        ),
        (
            "a rule's own warnings are shown",
            "if isinstance(s, Let) and _may_warn(s.primitive):",
            "if False:",
            "transform/test_rules.py::test_a_choice_by_elements_is_taken_quietly",
        ),
    ),
    *planted(
        "transform/scopes",
        (
            "a value that leaves its block has no cell",
            "common = _shared(common, chain)",
            "common = own",
            "transform/test_scopes.py::test_enclosed[out of a branch]",
        ),
        (
            "a cell begins in the block of its value",
            "found[v] = common[-1]",
            "found[v] = own[-1]",
            "transform/test_scopes.py::test_enclosed[no further than its last reader]",
        ),
    ),
    # ---- simpler code ----------------------------------------------------------------
    *planted(
        "transform/build",
        (
            "a sign is lost in a sum",
            "return self.operator(operator.sub, b, minus_a)",
            "return self.operator(operator.add, b, minus_a)",
            gradient("a_difference_of_products"),
        ),
        (
            "a difference is turned round",
            "return self.operator(operator.sub, a, minus_b)",
            "return self.operator(operator.sub, minus_b, a)",
            gradient("terms_of_both_signs"),
        ),
        (
            "equal terms of a sum are added with the wrong sign",
            "total = c * other + sign * d",
            "total = c * other - sign * d",
            gradient("terms_of_both_signs"),
        ),
        (
            "a cell is taken to hold what it held before a store",
            "self.known.pop(place, None)",
            "pass",
            gradient("a_while_that_only_breaks"),
        ),
        (
            "what a branch stored is not seen after it",
            "for p in places & set(self.known):",
            "for p in ():",
            value("statements", "a_cell_that_goes_on"),
        ),
        (
            "a value made in a branch is used outside it",
            "self.block, self.known, self.made, self.lengths = outer",
            "self.block, self.known, _, self.lengths = outer",
            gradient("a_recursion_with_two_calls"),
        ),
    ),
    *planted(
        "transform/jacobian",
        (
            "every row empties the same tapes",
            "if again and p in emptied else r",
            "if False else r",
            "transform/test_jacobian.py::test_all_at_once_or_in_turn[looped]",
        ),
        (
            "what varies is done once",
            "waiting = {s for s in once if any(v in late for v in _touched(s))}",
            "waiting = set()",
            "transform/test_jacobian.py::test_against_differences[counted]",
        ),
        (
            "a row is a column",
            "(*every, *index), name)",
            "(*index, *every), name)",
            "transform/test_jacobian.py::test_all_at_once_or_in_turn[waves]",
        ),
        (
            "columns that go together stay rows",
            "last = _at_the_end(b, found, y.type.rank)",
            "last = found",
            "transform/test_jacobian.py::test_the_two_are_one[waves]",
        ),
        (
            "results that share a tape go together",
            "if made(forward) != made(first):",
            "if False:",
            "transform/test_jacobian.py::"
            "test_the_head_says_how_its_directions_are_gone_through["
            "jacrev: a loop over the rows: several results share a tape.]",
        ),
    ),
    *planted(
        "transform/basis",
        (
            "a matrix behind a diagonal is not turned",
            "if not first and type_of(w).rank == 2:",
            "if False:",
            "transform/test_basis.py::test_written[rows by columns]",
        ),
        (
            "the product of a diagonal scales columns",
            "index: Index = (Span(), NewAxis())",
            "index: Index = (NewAxis(), Span())",
            "transform/test_basis.py::test_written[rows of a matrix]",
        ),
        (
            "a diagonal is stretched and stays one",
            "if not all(_alike(type_of(o), t) for o in held):",
            "if False:",
            "transform/test_basis.py::test_as_one_by_one[a column by a table-jacfwd]",
        ),
        (
            "a diagonal of single precision becomes one of double",
            "if not here.python and here.dtype != t.dtype:",
            "if False:",
            "transform/test_basis.py::test_as_one_by_one[single by double-jacfwd]",
        ),
    ),
    *planted(
        "transform/linear",
        (
            "the halves of a linearised program share their cells",
            "given = fresh(backward.body, residuals)",
            "given = Substitution(residuals)",
            "transform/test_linear.py::test_inside_a_program",
        ),
    ),
    *planted(
        "transform/algebra",
        (
            "additions are joined across a read",
            "for key in [key for key in self.added if key[0] in touched]:",
            "for key in ():",
            gradient("a_sum_read_between_its_additions"),
        ),
    ),
    *planted(
        "transform/deadcode",
        (
            "a division that nobody reads is dropped",
            "return not _is_nonzero(s.operands[1])",
            "return False",
            "transform/test_deadcode.py::test_kept[the user's division]",
        ),
        (
            "after a break the rest of the body is needed",
            "return s, set(after_loop)",
            "return s, live",
            "transform/test_deadcode.py::test_kept[what a break leaves with]",
        ),
        (
            "what the other branch reads is dropped",
            "live_then |= live_orelse",
            "live_then &= live_orelse",
            gradient("a_name_set_again_in_each_trip"),
        ),
        (
            "one look round a loop finds what is needed",
            "if grown == head:",
            "if True:",
            gradient("two_that_change_places"),
        ),
    ),
    *planted(
        "transform/simplify",
        (
            "a cell that one branch sets is taken to be set",
            "return _begins(s.then, place) and _begins(s.orelse, place)",
            "return _begins(s.then, place) or _begins(s.orelse, place)",
            gradient("a_break_before_the_step"),
        ),
        (
            "a cell is cleared beyond a break",
            "for t in walk([s])) or may_break([s])",
            "for t in walk([s]))",
            "transform/test_simplify.py::test_left_alone[cleared before a break]",
        ),
        (
            "a cell is taken to be zero after a break",
            "return None if may_break(body) or not is_last else last",
            "return None if not is_last else last",
            "transform/test_simplify.py::test_left_alone[zero unless it breaks]",
        ),
        (
            "a cell with two stores holds the first",
            "if len(written) == 1 and is_first",
            "if is_first",
            gradient("a_product"),
        ),
    ),
    *planted(
        "transform/names",
        (
            "two that are needed at once bear one name",
            "given[0] == kind and not given[1] & conflicts",
            "given[0] == kind",
            gradient("names_bound_again"),
        ),
        (
            "a copy takes the name of what is still needed",
            "if into == v or lives.conflicts[into] >> v & 1 or",
            "if into == v or",
            gradient("two_that_change_places"),
        ),
    ),
    *planted(
        "transform/bounds",
        (
            "the larger of two is taken for both",
            "low = literals[0] if f is max and literals else min(a, c)",
            "low = max(a, c) if f is max else min(a, c)",
            "transform/test_bounds.py::test_what_is_known_is_so[a lesser literal]",
        ),
    ),
    *planted(
        "transform/trips",
        (
            "a counter that is read twice goes",
            "if counted and used[load.out] == 1 and",
            "if counted and",
            "transform/test_trips.py::test_trips[with_a_last_trip-True]",
        ),
    ),
    *planted(
        "transform/nesting",
        (
            "a loop computes a value twice",
            "self._count(b, once and not isinstance(s, For | While))",
            "self._count(b, once)",
            "transform/test_nesting.py::test_nesting[used twice in a loop]",
        ),
        (
            "an expression waits although what it reads changes",
            "if w.places & changed]",
            "if False]",
            "transform/test_nesting.py::test_nesting[pops in their order]",
        ),
    ),
    *planted(
        "transform/ownership",
        (
            "two results share their memory",
            "if roots & taken:",
            "if False:",
            "transform/test_ownership.py::test_what_is_copied[twice]",
        ),
    ),
    *planted(
        "pull",
        (
            "a second pull finds the tape used up",
            "(_fresh(r, made) for r in self.residuals)",
            "self.residuals",
            "transform/test_reverse.py::test_the_halves_may_be_used_again[a_product]",
        ),
    ),
    # ---- names of the user's program -------------------------------------------------
    *planted(
        "transform/liveness",
        (
            "the condition of a while reads nothing",
            "tested = used(s.test) if isinstance(s, gast.While) else NOTHING",
            "tested = NOTHING",
            value("statements", "a_name_that_only_the_condition_reads"),
        ),
        (
            "what a closure reads dies",
            "live = self.statement(s, live, after_loop) | self.captured",
            "live = self.statement(s, live, after_loop)",
            "transform/test_liveness.py::test_live_after[a closure sees later values]",
        ),
        (
            "after a break the loop goes on",
            "return after_loop",
            "return live",
            "transform/test_liveness.py::test_live_after[what is read after the break]",
        ),
        (
            "a walrus is taken to bind before it is read",
            "or seen < first[n.id][0]",
            "or seen > first[n.id][0]",
            value("statements", "a_name_read_and_then_bound_by_a_walrus"),
        ),
        (
            "one look round a loop finds what is live",
            "if grown == head:",
            "if True:",
            "transform/test_liveness.py::test_live_after[a carried name]",
        ),
    ),
    *planted(
        "transform/definite",
        (
            "a break leaves with what is bound after it",
            "self.breaks[-1] = _join(self.breaks[-1], bound)",
            "pass",
            "transform/test_definite.py::"
            "test_unsure_reads[break before the assignment]",
        ),
        (
            "one of two branches is enough to bind",
            "return a & b",
            "return a | b",
            "transform/test_definite.py::test_unsure_reads[one branch]",
        ),
        (
            "a loop that may not run binds",
            "return self._loop(s, bound, bound, bound | _targets(s.target))",
            "return self._loop(s, bound | _targets(s.target), bound, bound)",
            "transform/test_definite.py::test_unsure_reads[a loop may run no times]",
        ),
    ),
    # ---- specialise ------------------------------------------------------------------
    *planted(
        "transform/specialise/statements",
        (
            "zip ends with its longest",
            "shortest = operate(frame, min,",
            "shortest = operate(frame, max,",
            core("statements", "a_zip_ends_with_its_shortest"),
        ),
        (
            "enumerate begins at zero",
            "return items.start + k if isinstance(items.start, Linear)",
            "return k if isinstance(items.start, Linear)",
            core("statements", "a_count_from_one"),
        ),
        (
            "a reversed array in a zip runs forwards",
            "if isinstance(part, Items) and part.backwards:",
            "if False:",
            value("statements", "a_reversed_part_of_a_zip"),
        ),
        (
            "a range in a zip begins at zero",
            "return binary(frame, operator.add, part.start, offset, None)",
            "return offset",
            core("statements", "a_range_in_a_zip"),
        ),
        (
            "subtraction adds",
            "if isinstance(op, gast.Sub):",
            "if False:",
            core("statements", "sums_are_added_in_place"),
        ),
        (
            "a name keeps no value on entry",
            "if name in started and name in frame.env:",
            "if False:",
            core("statements", "one_branch_keeps_what_was"),
        ),
        (
            "a break of a written-out loop skips nothing",
            'statements(f"if not {flag}: pass")',
            'statements("if True: pass")',
            value("statements", "a_break_that_ends_a_written_out_loop"),
        ),
        (
            "a loop that is written out runs its range forwards",
            "ordered = reversed(numbers) if items.backwards else numbers",
            "ordered = numbers",
            core("statements", "an_index_into_a_tuple"),
        ),
        (
            "what a loop changes is taken to hold what it held on entry",
            "frame.builder.forget(changed)",
            "pass",
            value("statements", "a_cell_that_goes_on"),
        ),
    ),
    *planted(
        "transform/specialise/expressions",
        (
            "and is or",
            "return rest() if test is is_and else first",
            "return rest() if test is not is_and else first",
            core("expressions", "a_conjunction_that_is_known"),
        ),
        (
            "or gives the second",
            "return choose(frame, test, lambda: first, rest, node, name)",
            "return choose(frame, test, rest, lambda: first, node, name)",
            core("expressions", "the_first_that_is_true"),
        ),
        (
            "not in is in",
            "if negated else found",
            "if False else found",
            "transform/specialise/test_expressions.py::test_membership_at_run_time[2]",
        ),
    ),
    *planted(
        "transform/specialise/calls",
        (
            "a default is taken for another parameter",
            "offset = len(positional) - len(defaults)",
            "offset = 0",
            value("calls", "all_ways_to_bind"),
        ),
    ),
    *planted(
        "transform/specialise/units",
        (
            "a capture is taken from the first caller",
            "captured = [c.operand_in(frame) for c in",
            "captured = [c.operand_in(unit.caller) for c in",
            value("calls", "captured_in_a_recursion"),
        ),
        (
            "calls with other kinds share a function",
            "return _kind_of(type_of(a))\n",
            "return None\n",
            core("calls", "another_for_another_kind"),
        ),
        (
            "calls with other known numbers share a function",
            'return "static", a.constant',
            'return "static"',
            value("calls", "a_number_needed_two_calls_down0"),
        ),
        (
            "two closures of one code are taken for one",
            "scope = id(closure) if closure else",
            "scope = 0 if closure else",
            value("calls", "two_functions_of_one_code"),
        ),
    ),
    *planted(
        "transform/specialise/builtins",
        (
            "reversed leaves a tuple as it is",
            "items.items[::-1]",
            "items.items",
            value("statements", "reversed_pairs"),
        ),
    ),
    *planted(
        "transform/writer",
        (
            "an argument is added to in place",
            "if isinstance(s.place, Cell | List) and s.place.type.is_array:",
            "if False:",
            "transform/test_writer.py::test_a_sum_is_not_written_into_an_argument",
        ),
    ),
    *planted(
        "transform/specialise/frame",
        (
            "a local that is unbound is looked up outside",
            "if name in self.locals:",
            "if False:",
            "transform/specialise/test_frame.py::"
            "test_an_unbound_name_raises_as_in_python[before its assignment]",
        ),
        (
            "a captured number is kept for ever",
            "return self.hidden_input(value, path, type_)",
            "return constant(value)",
            "transform/specialise/test_frame.py::"
            "test_a_variable_of_an_enclosing_function",
        ),
    ),
    *planted(
        "transform/specialise/slots",
        (
            "an int stays an int",
            "if joined is not None and joined != cell.type:",
            "if False:",
            core("statements", "an_int_becomes_a_float"),
        ),
        (
            "a read that may find nothing is taken to be sure",
            "return frame.builder.load(self.content, unsure=unsure)",
            "return frame.builder.load(self.content)",
            "transform/specialise/test_frame.py::"
            "test_an_unbound_name_raises_as_in_python[in the first trip]",
        ),
        (
            "a branch begins with what the other one left",
            "if held.content is not None or not _is_storage(slot.content):",
            "if False:",
            "transform/specialise/test_slots.py::"
            "test_a_clash_that_nobody_reads[read_on_the_path_that_keeps_it-0.5]",
        ),
        (
            "a loop's head holds what was held before it",
            "heads[slot.name] = Held(kind, held.node)\n"
            "                raise Restart(self.construct)",
            "heads[slot.name] = Held(kind, held.node)",
            "transform/specialise/test_slots.py::"
            "test_the_read_of_a_clash[the_next_trip]",
        ),
    ),
    *planted(
        "transform/specialise/arrays",
        (
            "a length of the run is taken for a constant",
            "operands.append(_as_int(frame, a))\n"
            "            return Hole(len(operands) - 1)\n        raise",
            "return 1\n        raise",
            "transform/specialise/test_arrays.py::"
            "test_lengths_that_the_program_computes",
        ),
    ),
    *planted(
        "transform/specialise/subscripts",
        (
            "a slice is taken to lie inside its axis",
            "frame.unit.at_least_zero.update",
            "dict.fromkeys",
            "transform/specialise/test_subscripts.py::test_lengths_of_slices[0]",
        ),
        (
            "places are taken to be distinct",
            "return same_sign and len(set(known)) == len(known)",
            "return True",
            "transform/specialise/test_subscripts.py::"
            "test_an_element_that_is_picked_twice_counts_twice",
        ),
    ),
    *planted(
        "transform/core",
        (
            "the lines of a function share its values",
            "found.mapping[v] = new = twin(v)",
            "found.mapping[v] = new = v",
            "semantics/test_meaning.py::test_nesting[vjp-grad-jvp]",
        ),
    ),
    *planted(
        "transform/shapes",
        (
            "a length that is not linear is taken for one",
            "crooked |= {k for k, (f, n) in pairs if _value(f, others) != n}",
            "crooked |= set()",
            "transform/test_shapes.py::test_a_length_that_is_not_linear_is_open",
        ),
    ),
    *planted(
        "transform/specialise/bindings",
        (
            "a star takes what stands behind it",
            "size = len(items) - wanted",
            "size = len(items) - wanted + 1",
            "transform/specialise/test_bindings.py::test_unpacking[starred]",
        ),
    ),
    # ---- arrays --------------------------------------------------------------------
    *planted(
        "transform/rules",
        (
            "the axis of a reduction is not put back",
            "if made == 0:",
            "if made >= 0:",
            derivatives("k_means"),
        ),
    ),
    *planted(
        "transform/writer",
        (
            "an index that comes twice counts once",
            "if s.accumulate and may_repeat(s.index):",
            "if False:",
            derivatives("embedded"),
        ),
        (
            "what is indexed leaves errstate",
            "item = Waiting(tree, places, w.width + 8, w.quiet)",
            "item = Waiting(tree, places, w.width + 8)",
            "transform/test_writer.py::test_what_is_indexed_stays_under_errstate",
        ),
    ),
    *planted(
        "transform/build",
        (
            "a transposed product keeps its order",
            "return self.raw(made.primitive, x, y, type=out)",
            "return self.raw(made.primitive, y, x, type=out)",
            derivatives("attention"),
        ),
        (
            "what is transposed twice is transposed once",
            "            return made.operands[0]\n        if isinstance(made",
            "            return a\n        if isinstance(made",
            derivatives("attention"),
        ),
    ),
    *planted(
        "transform/algebra",
        (
            "a sign is lost on its way out of a sum",
            "self._stand_for(s, b.negate(total), is_new=True)",
            "self._stand_for(s, total, is_new=True)",
            derivatives("k_means"),
        ),
        (
            "a number is taken for the array it is spread in",
            "or o in self.mixed | self.short:",
            "or o in self.short - self.mixed:",
            "transform/test_mixed.py::test_derivatives[on_one_path-0]",
        ),
    ),
    *planted(
        "transform/primitives/shaping",
        (
            "every part of what was joined begins at the front",
            "        start = end\n",
            "        start = 0\n",
            derivatives("heat"),
        ),
    ),
    *planted(
        "transform/specialise/arrays",
        (
            "every result of a function is the first",
            "            attribute=k,\n",
            "            attribute=0,\n",
            derivatives("explained"),
        ),
    ),
    *planted(
        "transform/specialise/subscripts",
        (
            "a slice beside an index array has the length of its axis",
            "            dims[axis] = known\n",
            "            pass\n",
            "transform/specialise/test_subscripts.py::"
            "test_a_slice_beside_an_index_array_is_clipped_to_its_axis",
        ),
    ),
    *planted(
        "transform/reverse/cotangents",
        (
            "the cotangent of what was stretched is not summed",
            "c = b.let(SUM_TO, c, attribute=summed_axes(v.type, shape), type=summed)",
            "c = c",
            derivatives("three_layers"),
        ),
    ),
    *planted(
        "lengths",
        (
            "the entry does not compare lengths",
            'yield f"{left} == {right}"',
            'yield f"{left} == {left}"',
            "transform/specialise/test_subscripts.py::"
            "test_a_slice_that_numpy_stretches[2-4]",
        ),
    ),
    *planted(
        "transform/reverse/statements",
        (
            "every item of a store at repeated places gets the cotangent",
            "    if may_repeat(index):\n",
            "    if False:\n",
            derivatives("scattered"),
        ),
    ),
    *planted(
        "transform/reverse/winners",
        (
            "what was changed since it was read is taken to be swapped",
            "return not any(s.place in stores(t) for t in between)",
            "return True",
            "transform/reverse/test_winners.py::"
            "test_what_only_looks_like_a_swap_is_none",
        ),
        (
            "places that meet round the end are taken for two",
            "around = b.operator(operator.mod, b.operator(operator.sub, k, p), length)",
            "around = b.operator(operator.sub, k, p)",
            "transform/reverse/test_winners.py::test_two_places_are_compared",
        ),
    ),
    *planted(
        "transform/specialise/bindings",
        (
            "an operator at repeated places adds for each of them",
            "adds = function in (operator.add, operator.sub) and not may_repeat(index)",
            "adds = function in (operator.add, operator.sub)",
            "semantics/test_kinks.py::test_of_repeated_indices_the_last_write_counts",
        ),
    ),
    *planted(
        "transform/specialise/inplace",
        (
            "ufunc.at changes a place that comes twice once",
            "    elif may_repeat(index):\n",
            "    elif False:\n",
            "transform/specialise/test_inplace.py::test_against_differences[at_places]",
        ),
    ),
    *planted(
        "transform/specialise/generators",
        (
            "all() looks at what stands behind a false item",
            "every = False\\n return every",
            "every = False",
            "transform/specialise/test_generators.py::"
            "test_it_is_the_loop_that_a_person_writes",
        ),
    ),
    # ---- lists ---------------------------------------------------------------------
    *planted(
        "transform/reverse/lists",
        (
            "an item that was inserted stays in the list that is read before",
            "    if must_save(sweep, s):\n        with b.nested([]) as back:\n"
            "            at = inserted_at",
            "    if False:\n        with b.nested([]) as back:\n"
            "            at = inserted_at",
            "transform/reverse/test_lists.py::"
            "test_an_append_is_undone_only_where_the_list_is_read_before",
        ),
        (
            "an item goes back behind the place where it was",
            "lambda: length_of(sweep, xs, path) + 1 + position,",
            "lambda: length_of(sweep, xs, path) + position,",
            "transform/reverse/test_lists.py::"
            "test_an_item_goes_back_to_where_it_was[-2]",
        ),
        (
            "a list that another one replaces keeps its cotangents",
            "    b.add(Take(bar, zeros))\n",
            "",
            derivatives("triangle"),
        ),
        (
            "a trip that a break ends leaves no length",
            "                result += pushes()\n",
            "                pass\n",
            "transform/specialise/test_lists.py::"
            "test_against_differences[begins_in_a_loop_that_breaks1]",
        ),
    ),
    *planted(
        "transform/specialise/births",
        (
            "a list that a loop changes is changed once, while it is rewritten",
            "    if birth.within != tuple(frame.program.constructs):\n",
            "    if False:\n",
            "transform/specialise/test_lists.py::test_against_differences[pairs]",
        ),
    ),
    *planted(
        "transform/writer",
        (
            "a pop waits until the item that it moves is read",
            "        if isinstance(s.place, List) and s.accumulate:",
            "        if False:",
            "transform/specialise/test_lists.py::test_against_differences[positions]",
        ),
    ),
    # ---- memory --------------------------------------------------------------------
    *planted(
        "transform/reverse/statements",
        (
            "what a store overwrote is added to what it stored",
            "back: list[Statement] = [Store(place, old, into)]",
            "back: list[Statement] = [Store(place, old, into, True)]",
            "transform/specialise/test_regions.py::"
            "test_against_differences[arrays_into_rows]",
        ),
        (
            "an element that a loop overwrote is added to what it stored",
            "Store(place, popped, need_index(sweep, into))]",
            "Store(place, popped, need_index(sweep, into), True)]",
            CLEARED + "[stencil]",
        ),
        (
            "what a store overwrites is kept once for all trips",
            "        if block.top:\n            back: list[Statement] =",
            "        if True:\n            back: list[Statement] =",
            derivatives("vibrating_string"),
        ),
        (
            "the cotangent of what was stored stays in the array",
            "    if not s.accumulate:\n        b.store(bar, zero(",
            "    if not (s.accumulate or s.index):\n        b.store(bar, zero(",
            CLEARED + "[kept_after_the_store]",
        ),
        (
            "rows that changed places do not change back",
            "for t in swapped_back(bar, there, here):",
            "for t in ():",
            derivatives("pivoted"),
        ),
    ),
    *planted(
        "transform/reverse/primals",
        (
            "an array is read again although a store has changed it",
            "end = block.at + (1 if is_within or is_of_index else 0)",
            "end = block.at",
            "transform/specialise/test_regions.py::"
            "test_against_differences[a_mask_of_what_it_changes]",
        ),
    ),
    *planted(
        "transform/cleared",
        (
            "an addition to one part is stored in another that was cleared",
            "if adds and (s.index or WHOLE) == cleared.index:",
            "if adds:",
            CLEARED + "[stencil]",
        ),
        (
            "two arrays change places where one is copied to the other",
            "{s.place for s in run} != set(sources):",
            "False:",
            "transform/test_cleared.py::"
            "test_an_array_that_is_copied_does_not_change_places",
        ),
    ),
    *planted(
        "transform/nesting",
        (
            "a cotangent that is cleared next is no copy",
            "tree = each_copied(w.tree) if several else copied(w.tree)",
            "tree = w.tree",
            CLEARED + "[taken_over]",
        ),
    ),
    *planted(
        "transform/writer",
        (
            "what a tape keeps is no copy",
            "kept = copied(w.tree) if s.operand in self.rooted else w.tree",
            "kept = w.tree",
            CLEARED + "[kept_on_a_tape]",
        ),
    ),
    *planted(
        "transform/begin",
        (
            "a cotangent begins as an array that is used again",
            "if not others and isinstance(first, Let) and _is_new(first):",
            "if isinstance(first, Let) and _is_new(first):",
            "transform/test_begin.py::test_an_array_that_is_used_again_is_copied",
        ),
        (
            "a cotangent begins as an argument",
            "return out, [Let(out, COPY, (g,), where=s.where, adjoint=True)]",
            "return g, []",
            "transform/test_begin.py::test_an_argument_is_copied",
        ),
    ),
    *planted(
        "transform/specialise/aliases",
        (
            "an old view is read",
            "                self.stale |= dict.fromkeys(held, place)",
            "                pass",
            "transform/specialise/test_aliases.py::test_refused[one_array_of_two-]",
        ),
        (
            "what a list keeps may change",
            "            self.roots[place] = self.of(place) | self.of(o)",
            "            pass",
            "transform/specialise/test_aliases.py::test_refused[kept_in_a_list-]",
        ),
        (
            "a view from the trip before is read",
            "for _ in range(2 if isinstance(s, For | While) else 1):",
            "for _ in range(1):",
            "transform/specialise/test_aliases.py::"
            "test_refused[read_again_in_the_next_trip-]",
        ),
    ),
    *planted(
        "transform/specialise/regions",
        (
            "a view under a name shows what was there when it was named",
            "    view = view_of(frame, value)\n    if view is not None:\n"
            "        return view\n    return owned",
            "    return owned",
            "semantics/test_aliases.py::test_stores_through_views",
        ),
        (
            "another name of a list of arrays is another list",
            "    if held is not None and held.kind is list:",
            "    if False:",
            LISTED + "[other_names_of_lists_of_arrays]",
        ),
        (
            "of two arrays that change places one is read too late",
            "return frame.builder.let(COPY, item) if held and is_ours else item",
            "return item",
            derivatives("vibrating_string"),
        ),
        (
            "a parameter is no array to store into",
            "    for name in sorted(frame.stored.places):",
            "    for name in ():",
            "semantics/test_aliases.py::"
            "test_a_parameter_that_is_stored_into_is_copied_first",
        ),
    ),
    *planted(
        "overlaps",
        (
            "arrays of a call that overlap are not seen",
            "if isinstance(other, np.ndarray) and np.may_share_memory(",
            "if False and np.may_share_memory(",
            "semantics/test_aliases.py::"
            "test_two_arrays_that_overlap[by_a_subscript-grad]",
        ),
        (
            "one list for two arguments is not seen",
            "if where is not None and any(o is held for o in (*others, *captured)):",
            "if False:",
            "semantics/test_aliases.py::test_one_list_for_two_arguments[appends-grad]",
        ),
    ),
    *planted(
        "transform/specialise/units",
        (
            "arrays that overlap are handed to a derivative",
            "            frame.unit.lent.setdefault(own, name)",
            "            pass",
            "semantics/test_aliases.py::"
            "test_two_arrays_that_overlap[by_a_subscript-inside]",
        ),
        (
            "one array is handed to a derivative twice",
            "if own is not None and any(o is own for o in others):",
            "if False:",
            "transform/specialise/test_nested.py::"
            "test_one_array_is_not_handed_over_twice",
        ),
        (
            "one list is handed to a derivative twice",
            "if any(b is a for p, b in every if p != path):",
            "if False:",
            "transform/specialise/test_nested.py::"
            "test_one_list_is_not_handed_over_twice",
        ),
    ),
    *planted(
        "transform/specialise/lists",
        (
            "a list of the caller's changes by another name",
            "    note_change(frame, listed)  # by that name, perhaps\n",
            "",
            "face/test_compiled.py::"
            "test_a_list_of_the_caller_that_is_changed_by_another_name[traded]",
        ),
    ),
    *planted(
        "transform/specialise/births",
        (
            "a list of the caller's changes unnoticed",
            "if a.given is not None and where is not None:",
            "if False:",
            "semantics/test_aliases.py::test_one_list_for_two_arguments[pops-jvp]",
        ),
    ),
    *planted(
        "transform/specialise/abstract",
        (
            "a function of the program is handed what goes over its caller's list",
            "case Listed() | ListItems() | Items() | From() | Generator() | Mapped():",
            "case Listed():",
            LISTED + "[handed_over_in_an_iterable]",
        ),
    ),
    *planted(
        "transform/reverse/lists",
        (
            "the cotangent of what was inserted is taken from the end",
            "b.add(Remove(removed, bar, inserted_at(sweep, bar, position, path)",
            "b.add(Remove(removed, bar, None",
            LISTED + "[positions]",
        ),
        (
            "the cotangent of what was popped goes to the end",
            "b.add(Insert(bar, g, removed_at(sweep, bar, position, path), path))",
            "b.add(Insert(bar, g, None, path))",
            LISTED + "[positions]",
        ),
        (
            "an item that was popped is missing where it is read before",
            "b.add(Insert(xs, old, removed_at(sweep, xs, position, path), path))",
            "pass",
            LISTED + "[a_queue1]",
        ),
        (
            "an insertion behind the end is looked for there",
            "lambda: _integer(sweep, min, position, last),",
            "lambda: position,",
            LISTED + "[positions]",
        ),
        (
            "the cotangents of a slice lie side by side",
            "_add_each(sweep, bar, more, n, lambda k: start + k * step, path)",
            "_add_each(sweep, bar, more, n, lambda k: start + k, path)",
            LISTED + "[slices]",
        ),
        (
            "a slice is taken to begin at the front",
            "    lower = need(sweep, span.lower)\n",
            "    lower = linear(0)\n",
            LISTED + "[slices]",
        ),
    ),
    *planted(
        "transform/specialise/bindings",
        (
            "an operator gives a list another array for an item",
            "            if isinstance(held, Value) and held.type.is_array:",
            "            if False:",
            LISTED + "[items_changed_in_place]",
        ),
    ),
    *planted(
        "transform/specialise/listing",
        (
            "a list that is multiplied in place keeps its other name",
            "        _repeat(frame, xs, a, node)\n        return True",
            "        return False",
            LISTED + "[multiplied_in_place]",
        ),
        (
            "a list takes the items of an array that is added to it",
            "    if is_operand(a) and not type_of(a).python:\n",
            "    if False:\n",
            LISTED + "[arrays_beside_lists]",
        ),
        (
            "an append goes to the front",
            "        change(frame, xs, (*xs.items, new), node)",
            "        change(frame, xs, (new, *xs.items), node)",
            LISTED + "[straight]",
        ),
    ),
    *planted(
        "transform/specialise/inplace",
        (
            "np.add.at stores",
            "store(frame, y, index, value, node, accumulate=True)",
            "store(frame, y, index, value, node)",
            AT_PLACES + "[at_places]",
        ),
        (
            "np.subtract.at adds",
            "        if f is np.subtract:",
            "        if False:",
            AT_PLACES + "[at_places]",
        ),
        (
            "a number of Python's is weak at places",
            "    if not t.python or dtype == y.type.dtype:",
            "    if True:",
            "transform/specialise/test_inplace.py::"
            "test_numbers_of_python_are_not_weak_at_places[places0-multiply]",
        ),
        (
            "a ufunc at places reads what it has just changed",
            "return frame.builder.let(COPY, a) if is_part else a",
            "return a",
            AT_PLACES + "[at_places_of_what_is_stretched]",
        ),
        (
            "a value for all places is read at each",
            "one = a.type.dims[0].constant == 1",
            "one = False",
            AT_PLACES + "[at_places_of_what_is_stretched]",
        ),
        (
            "what out= gives is another array",
            "        store_all(frame, y, result, node)\n        return now(frame, y)",
            "        store_all(frame, y, result, node)\n        return result",
            "transform/specialise/test_inplace.py::"
            "test_the_result_is_the_array_that_was_given",
        ),
        (
            "out= is stored into where its mask does not hold",
            "    return not _is_given(mask) or",
            "    return True or",
            AT_PLACES + "[outputs_under_a_mask]",
        ),
    ),
    *planted(
        "transform/stored",
        (
            "what stands behind out= is no place",
            'if k.arg == "out":',
            "if False:",
            "transform/test_stored.py::"
            "test_names_that_an_operator_or_a_call_may_change[np.sum(x, out=y)]",
        ),
    ),
    # ---- lowering ------------------------------------------------------------------
    *planted(
        "transform/lowering/nests",
        (
            "two nests are fused although one reads what the other stores, shifted",
            "                if meet and apart:",
            "                if False:",
            lowered("nests", "one_axis[stored_one_behind]"),
        ),
        (
            "a nest goes before what changes its memory",
            "        return not any(item.meets(moved) for item in behind)",
            "        return True",
            lowered("nests", "one_axis[an_element_between]"),
        ),
        (
            "every place is taken for another in each trip",
            "    return alone == symbols",
            "    return True",
            lowered("nests", "two_axes[a_row_that_is_summed_before]"),
        ),
        (
            "a number is computed before what it reads is stored",
            "                if other.meets(item):\n                    break",
            "                pass",
            lowered("nests", "one_axis[an_element_between]"),
        ),
    ),
    *planted(
        "transform/lowering/regions",
        (
            "a slice with a negative step starts one behind the end",
            "    last = length - 1",
            "    last = length",
            lowered("nests", "one_axis[backwards_in_itself]"),
        ),
        (
            "a slice that begins before its array is not cut",
            "        return L.greatest(bound + length, least)",
            "        return bound + length",
            "transform/lowering/test_regions.py::test_every_slice",
        ),
        (
            "a place that may miss is not asked for",
            "    L.add(Let(out, WITHIN, (position, length), axis))\n    return",
            "    return position\n    return",
            lowered("regions", "a_place_is_counted_from_the_end_or_misses[7]"),
        ),
    ),
    *planted(
        "transform/lowering/tapes",
        (
            "a tape is one item too short",
            "        total = total + count",
            "        total = total + count - 1",
            lowered("tapes", "the_items_of_a_counted_loop[3]"),
        ),
        (
            "a pop leaves the item on the tape",
            "    L.add(Store(column.top, symbol(k)))",
            "    pass",
            lowered("tapes", "the_items_of_a_counted_loop[3]"),
        ),
        (
            "ragged items have the room of one element",
            "    start = claim(L, stack, stack.column, shape, count)",
            "    start = claim(L, stack, stack.column, (), linear(1))",
            lowered("tapes", "ragged_items[5]"),
        ),
    ),
    *planted(
        "transform/lowering/program",
        (
            "an array is kept after the store that changes what it reads",
            "                if v in self.waiting and self.touched(v) & places:",
            "                if False:",
            lowered("nests", "one_axis[waits_for_a_store]"),
        ),
        (
            "a stretched axis is read at every place",
            "            for k, f in factors.items():\n                p = moved[-k]",
            "            for k, f in {}.items():\n                p = moved[-k]",
            lowered("program", "a_part_may_be_of_length_one"),
        ),
        (
            "what a loop changes is not kept before it",
            "                if again or self.touched(v) & spoilt:",
            "                if again:",
            lowered("lower", "values[3-cast_and_spoilt]"),
        ),
        (
            "what waits in a branch is kept behind it",
            "                del self.waiting[v]  # nobody reads it out there",
            "                pass",
            lowered("lower", "values[0-waits_in_a_branch]"),
        ),
        (
            "a library gets memory that is larger than its array",
            "        if place in self.exact or place in self.function.params:",
            "        if True:",
            lowered("program", "a_library_gets_an_array_as_large_as_it_is"),
        ),
    ),
    *planted(
        "transform/lowering/arrays",
        (
            "a store does not keep what reads its memory",
            "    L.settle({place})\n\n    def write",
            "    def write",
            lowered("nests", "one_axis[waits_for_a_store]"),
        ),
    ),
    *planted(
        "transform/lowering/reductions",
        (
            "a sum along rows is not begun anew",
            "        w.add(Store(acc, Const(how.start(t), t)))",
            "        L.cell(out.name, t, Const(how.start(t), t))",
            lowered("nests", "two_axes[a_column_that_is_summed_before]"),
        ),
        (
            "a sum over rows begins with what was there",
            "    L.root(full, lambda w, at: w.store(place, at, constant(how",
            "    (lambda *_: 0)(full, lambda w, at: w.store(place, at, constant(how",
            lowered("nests", "two_axes[summed_and_summed_again]"),
        ),
        (
            "an extreme of nothing is infinite",
            "        L.add(If(is_empty, [Raise(",
            "        _ = (If(is_empty, [Raise(",
            lowered("reductions", "an_extreme_of_nothing_is_an_error"),
        ),
    ),
    *planted(
        "transform/lowering/products",
        (
            "the axes of a second matrix change places",
            '    second = (stack[count - (m - 2) :] if m > 2 else "") + "Z" + k',
            '    second = (stack[count - (m - 2) :] if m > 2 else "") + k + "Z"',
            lowered("products", "matmul[a8-b8]"),
        ),
    ),
    *planted(
        "transform/lowering/cells",
        (
            "a name keeps the lengths of the array that it held before",
            "        L.add(Store(c, n))",
            "        pass",
            lowered("cells", "lengths_that_change[4]"),
        ),
    ),
    *planted(
        "transform/lowering/unbound",
        (
            "a name stays unbound when it is bound",
            "        L.add(Store(L.bound[s.place], TRUE))",
            "        pass",
            lowered("unbound", "bound_in_a_loop[3-an_array-x2]"),
        ),
    ),
    *planted(
        "transform/lowering/views",
        (
            "elements are counted column by column",
            "        found = plus(w, times(w, found, n), p)",
            "        found = plus(w, times(w, p, n), found)",
            lowered("views", "values[ascontiguousarray-reshaped]"),
        ),
    ),
    *planted(
        "transform/lowering/listed",
        (
            "items move up from the first one on",
            "body, backwards=up))",
            "body))",
            lowered("lists", "an_item_goes_between_others"),
        ),
    ),
    *planted(
        "transform/lowering/nested_lists",
        (
            "a list that goes on elsewhere stays where it was",
            "        L.add(Store(place, new))\n",
            "",
            lowered("nested_lists", "values[4-groups]"),
        ),
        (
            "a list in a list has more room than it got",
            "start=start, count=n, room=n)",
            "start=start, count=n, room=n + 1)",
            lowered("nested_lists", "values[4-groups]"),
        ),
        (
            "room is given back that others use",
            "    L.add(If(is_last, [Store(top, start)], []))",
            "    L.add(Store(top, start))",
            lowered("nested_lists", "values[4-queue]"),
        ),
        (
            "a list that goes on elsewhere leaves its items behind",
            "        _move(L, stack, stack, p.start, new, p.count)\n",
            "",
            lowered("nested_lists", "values[7-groups]"),
        ),
    ),
    *planted(
        "transform/lowering/lists_on_tapes",
        (
            "the lists in a list are pushed in their order",
            "linear(1), each, backwards=True),",
            "linear(1), each),",
            lowered("nested_lists", "gradients[on_a_tape]"),
        ),
    ),
    *planted(
        "transform/lowering/joining",
        (
            "joined arrays all begin where the first one does",
            "        start = start + shape[k]\n    L.is_memory",
            "    L.is_memory",
            lowered("cells", "values[1-growing-x2]"),
        ),
    ),
    *planted(
        "transform/lowering/masks",
        (
            "all places where a mask holds stand in one",
            "        held.store(count, (), linear(1), accumulate=True)\n",
            "",
            lowered("regions", "masks[7.0]"),
        ),
    ),
    *planted(
        "transform/lowering/lanes",
        (
            "a lane makes one trip too many",
            "            Let(more, row(operator.lt, 2), (t.trip, symbol(trips))),",
            "            Let(more, row(operator.le, 2), (t.trip, symbol(trips))),",
            lowered("lanes", "values[as_often-4]"),
        ),
        (
            "a lane that leaves a loop goes on",
            "case Break():\n                return self._leave()",
            "case Break():\n                return Alloc(self._cell('gone', INT))",
            lowered("lanes", "values[left-4]"),
        ),
        (
            "the most that any lane has is that of none",
            "Let(more, row(operator.gt, 2), (count, symbol(so_far))),",
            "Let(more, row(operator.lt, 2), (count, symbol(so_far))),",
            lowered("lanes", "values[as_often-11]"),
        ),
        (
            "who takes no part in a branch takes part",
            "        rest = [] if otherwise is None else [otherwise]",
            "        rest: list[Statement] = []",
            lowered("lanes", "values[in_a_branch_of_a_loop-11]"),
        ),
    ),
    *planted(
        "transform/lowering/differences",
        (
            "what is stored where samples part is shared",
            "if apart or self.differs(s.operand):",
            "if self.differs(s.operand):",
            "transform/lowering/test_differences.py::"
            "test_what_is_stored_where_samples_part",
        ),
    ),
    *planted(
        "transform/lowering/gather",
        (
            "parts of no length are gathered",
            "    return found if all(L.assume_natural(n - 1) for n in "
            "L.shapes[head.value]) else []",
            "    return found",
            lowered("gather", "parts_of_no_length_are_not_gathered[1-float64]"),
        ),
    ),
    *planted(
        "transform/algebra",
        (
            "what is compared is written anew",
            "        self.compared = _compared(f.body)",
            "        self.compared: set[Any] = set()",
            "transform/test_algebra.py::"
            "test_what_is_compared_is_the_same_to_the_last_bit[float32]",
        ),
    ),
    *planted(
        "transform/in_place",
        (
            "another array under its name is stored into the caller's",
            "place if given_away else _in_two(function, place)",
            "place",
            "transform/test_in_place.py::"
            "test_a_name_gets_another_array_later[stored_before-cpu-2]",
        ),
    ),
    *planted(
        "backends/machine/threads",
        (
            "a share begins within a block",
            "    ends = [BLOCK * (-(-blocks * k // count)) for k in range(count)]",
            "    ends = [samples * k // count for k in range(count)]",
            "backends/machine/test_threads.py::test_shares_are_whole_blocks[7-1000]",
        ),
    ),
    *planted(
        "transform/reverse/primals",
        (
            "a length is that of the last trip",
            "        return symbol(Dim(new, axis))",
            "        return d",
            "transform/reverse/test_primals.py::test_lengths_are_those_of_the_trip[shorter]",
        ),
    ),
    *planted(
        "transform/specialise/rows",
        (
            "a list that is read may have changed in another one",
            "                self.stale[other] = place",
            "                pass",
            "test_errors.py::test_form[an item that two lists hold]",
        ),
        (
            "one list may be in another one twice",
            "            self.doubled.add(place)",
            "            pass",
            "test_errors.py::test_form[one list that is an item twice]",
        ),
    ),
    *planted(
        "transform/shapes",
        (
            "the first length is never another one",
            "first + 2 * step, 3 * step",
            "first, 3 * step",
            "transform/test_shapes.py::test_a_length_that_is_not_linear_is_open",
        ),
    ),
    *planted(
        "transform/lowering/handed",
        (
            "a list that is taken begins as another one",
            "p: List(p.name, p.type, p.depth) for p in lists",
            "p: p for p in lists",
            lowered("handed", "halves_of_linearize[looked_back]"),
        ),
        (
            "lists of lists are handed over without the outer counts",
            "return replace(layout, depth=layout.depth + 1), [*columns, column]",
            "return layout, columns",
            lowered("handed", "both_halves_are_machine_code[in_lists0]"),
        ),
    ),
    *planted(
        "transform/specialise/handing_back",
        (
            "an array by the name of an argument is the caller's",
            "                self.ways.pop(id(a))",
            "                pass",
            HANDED_BACK + "another_array_by_the_name_of_an_argument",
        ),
        (
            "one list is handed over twice",
            "            if own in self.made:",
            "            if False:",
            HANDED_BACK + "what_only_the_function_itself_can_change[twice]",
        ),
        (
            "lists in a list may be others",
            "or any(moves.get(p, (0,))[0] for p in places)",
            "or False",
            HANDED_BACK + "what_only_the_function_itself_can_change[first_rows1]",
        ),
    ),
    *planted(
        "transform/specialise/births",
        (
            "what a list had is thought to be there still",
            "            frame.unit.reordered.add(a.given)",
            "            pass",
            HANDED_BACK + "lists_of_the_caller[scaled_to]",
        ),
        (
            "a list in a list changes unnoticed",
            "            frame.unit.deep.add(a.given)",
            "            pass",
            HANDED_BACK + "one_list_twice_in_a_list_whose_lists_change[grad]",
        ),
    ),
    *planted(
        "transform/specialise/lists",
        (
            "a number becomes of another kind in a list of the caller",
            "        note_doubt(frame, listed)\n",
            "        pass\n",
            HANDED_BACK + "what_only_the_function_itself_can_change[of_two_kinds]",
        ),
    ),
    *planted(
        "transform/ownership",
        (
            "an array of the caller is handed back as a copy",
            "        if k >= first and roots & taken:",
            "        if False:",
            HANDED_BACK + "what_only_the_function_itself_can_change[given_again]",
        ),
    ),
    *planted(
        "backends/machine/half",
        (
            "small halves have eleven digits as well",
            "    power = b.select(is_small, kind(NORMAL), power)",
            "    assert is_small",
            "backends/machine/test_half.py::test_a_float_is_rounded_once[float32]",
        ),
    ),
    *planted(
        "backends/machine/scalars",
        (
            "a double becomes a float before it becomes a half",
            'wide = part if source.kind in "fc" else',
            "wide = part if part.type == FLOAT else",
            "backends/machine/test_half.py::test_a_float_is_rounded_once[float64]",
        ),
    ),
    *planted(
        "backends/machine/body",
        (
            "sums of halves are not rounded",
            "        plain = plain and not is_half(x.type)",
            "        plain = plain and x.absent is None",
            "backends/machine/test_half.py::test_many_at_once[sums_of_rows]",
        ),
    ),
    *planted(
        "transform/lowering/reductions",
        (
            "products of halves are summed as halves",
            '        if s.out.type.dtype != "float16":',
            "        if s.out.type.dtype:",
            "backends/machine/test_half.py::"
            "test_sums_and_products_are_not_rounded_on_the_way",
        ),
    ),
    *planted(
        "transform/mixed",
        (
            "what may be a number is never stretched",
            "    return len(lengths) > 1 or not arrays.isdisjoint(inner)",
            "    return False",
            STRETCHED + "[two_of_them]",
        ),
        (
            "lengths are the same in every trip",
            "    return len(lengths) > 1 or not arrays.isdisjoint(inner)",
            "    return len(lengths) > 1",
            STRETCHED + "[loop_over_a_list]",
        ),
    ),
    *planted(
        "transform/lowering/optional",
        (
            "a number comes off the tape where None was put on it",
            "If(is_none, [Store(cell, NOTHING)], [Store(cell, value)])",
            "If(is_none, [Store(cell, value)], [Store(cell, value)])",
            lowered("optional", "gradients[last_seen0-7]"),
        ),
    ),
    *planted(
        "transform/lowering/regions",
        (
            "a slice goes up whatever its step",
            "    is_up = L.let(operator.gt, step, zero, type=BOOL)\n",
            "    is_up = L.let(operator.ne, step, zero, type=BOOL)\n",
            lowered("regions", "gradients_of_steps_of_the_run[-3]"),
        ),
    ),
    *planted(
        "backends/machine/rounding",
        (
            "what a product has lost does not decide",
            "b.select(down, b.fsub(found, one), found)",
            "found",
            "backends/machine/test_rounding.py::test_as_python_rounds[2]",
        ),
    ),
]
