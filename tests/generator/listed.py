"""What is done with lists, as templates with holes."""

from __future__ import annotations

from generator.words import Lines, forms


def loops(text: str) -> list[Lines]:
    return [loop.splitlines() for loop in text.strip().split("\n\n")]


# Holes: {L} a list of numbers, {K} another, {F} a number, {v} an array of one axis, {n}
# a small count, {p} a position in {L}; {t}, {u}, {i} new names.
BEGUN = forms("""
    []; [{F}]; [{F}, {F}]; [{F}, {F}, {F}]; [{F}, 0.5]; [{F}] * {n}; [0.0] * {n};
    [0.0] * len({v}); list({v}); list(0.5 * {v}); [0.5 * {t} for {t} in {v}];
    [0.3 * {t} ** 2 for {t} in {v} if {t} > 0.1];
    [0.2 * {i} + {F} for {i} in range({n})];
    [0.3 * {t} * {u} for {t} in {v} for {u} in {L}]; [0.5 * {t} + {F} for {t} in {L}];
    {L} + {K}; {L} + [{F}]; [{F}] + {L}; {L} + list({v}); {L}[1:]; {L}[:-1]; {L}[::-1];
    {L}[::2]; {L}[:]; {L}[-2:]; {L}.copy(); list({L}); {L} * 2; 2 * {L}; {L} * {n};
    list(reversed({L})); [0.3 * {t} * {u} for {t}, {u} in zip({L}, {K})];
    [0.4 * {t} * {i} for {i}, {t} in enumerate({L})]; [{t} for {t} in {L} if {t} < 0.6];
    [0.4 * sum({L}[:{i}]) for {i} in range({n})]
""")
CHANGES = forms("""
    {L}.append({F}); {L}.append({F}); {L}.append(0.5 * {L}[-1] + 0.3 * {F});
    {L}.append(0.5 * {K}[{p}]); {L}.extend([{F}, {F}]); {L}.extend({K});
    {L}.extend({v}); {L}.extend({L}[:2]); {L}.insert(0, {F}); {L}.insert(-1, {F});
    {L}.insert({p}, {F}); {L}.insert(9, 0.5 * {L}[0]); {L}.insert({n}, {F}); {L}.pop();
    {L}.pop(0); {L}.pop({p}); {L}.pop({p}); {L}[0] = {F}; {L}[-1] = {F}; {L}[{p}] = {F};
    {L}[{p}] = 0.5 * {L}[{p}] * {L}[{p}]; {L}[{p}] += {F}; {L}[{p}] *= 0.7;
    {L}[{p}] -= 0.4 * {K}[{p}]; {L}[{p}] /= 2.5; {L}[{p}] **= 2; {L}[1:] = [{F}];
    {L}[:1] = [{F}, {F}]; {L}[1:1] = [{F}]; {L}[:] = {K}; {L}[1:2] = {K}[:2];
    {L}[-2:] = []; {L}[{n}:] = {v}; {L}[:2] = ({F}, {F}); {L} += [{F}]; {L} += {K};
    {L} += [{F}, {F}]; {L} += ({F},); {L}.reverse(); {L}.clear();
    {L}[0], {L}[-1] = {L}[-1], {L}[0]; {L}[{p}], {K}[{p}] = {K}[{p}], {L}[{p}]
""")
LOOPS = loops("""
for {i} in range({n}):
    {L}.append(0.5 * {L}[-1] + 0.3 * {F})

for {i} in range({n}):
    {L}.append(0.4 * {L}[{i}] * {K}[-1])

for {t} in {v}:
    {L}.append(0.4 * {t} * {L}[-1])

for {t} in {v}:
    {L}.insert({p}, 0.5 * {t} + 0.3 * {L}[0])

for {i} in range(len({L})):
    {L}[{i}] *= {F}

for {i} in range(1, len({L})):
    {L}[{i}] = 0.5 * {L}[{i} - 1] + 0.4 * {L}[{i}] ** 2

for {i} in range(1, len({L})):
    {L}[{i}] += 0.3 * {L}[{i} - 1] * {K}[0]

for {i}, {t} in enumerate({L}):
    {L}[{i}] = 0.3 * {t} ** 2 + 0.2 * {L}[0]

while len({L}) > 2:
    {K}[0] += 0.5 * {L}.pop()

for {i} in range({n}):
    {K}.append(0.5 * {L}.pop())

while len({L}) > 1:
    {t} = {L}.pop(0)
    {L}[0] = 0.5 * {L}[0] * {t}

while {L}:
    {K}[0] += 0.2 * {L}.pop()

for {t} in {v}:
    if {t} > 0.1:
        {L}.append(0.5 * {t})
    elif {L}:
        {L}[-1] *= {t}

for {t} in {v}:
    while {L} and {L}[-1] > {t}:
        {L}.pop()
    {L}.append(0.9 * {t})

for {t} in {v}:
    if {t} > 0.1 and len({L}) > 1:
        {L}.pop({p})
    else:
        {L}.insert(0, {t})

for {i} in range({n}):
    {t} = {L}.pop(0)
    {L}.append(0.5 * {t} * {F})

for {i} in range({n}):
    {L}.extend([0.5 * {t} for {t} in {L}[:2]])

for {i} in range({n}):
    {L}[1:2] = [0.5 * {L}[0], 0.3 * {L}[-1]]

for {i} in range({n}):
    {L}[0], {L}[-1] = 0.5 * {L}[-1], {L}[0] ** 2

for {i} in range({n}):
    {L} = [0.5 * {t} * {L}[0] for {t} in {L}]

for {i} in range({n}):
    {N} = [{F}]
    for {t} in {L}:
        {N}.append(0.4 * {t} + 0.3 * {N}[-1])
    {L} = {N}

for {i} in range({n}):
    {L}, {K} = {K}, {L}
    {L}.append(0.5 * {K}[0])

for {i} in range({n}):
    {L} += [0.5 * {L}[-1]]

for {i} in range({n}):
    {L}.append(0.5 * {L}[-1])
    if {L}[-1] > 0.4:
        break
    {L}[0] *= 0.7

for {i} in range({n}):
    {N} = [0.5 * {t} for {t} in {L}]
    {N}[0] = {F}
    {L}[0] += 0.2 * sum({N})

for {t} in {L}:
    if len({K}) < 8:
        {K}.append(0.4 * {t} * {K}[0])
""")
# {R} a list of arrays, {S} another, {A} an array for an item, {T} the name of one, {B}
# an array whose rows are such items; {w} a new name.
BEGUN_OF_ARRAYS = forms("""
    []; [{A}]; [{A}, {A}]; [{T}.copy()]; [{T}]; [{T}, {A}]; list({B}); {R}[1:];
    {R} + {S}; [0.5 * {w} for {w} in {B}]; {R}[::-1]; [0.3 * {w} ** 2 for {w} in {R}];
    {R}.copy(); [{A}] * {n}; {R} + [{A}]; [{w}.copy() for {w} in {R}]; list({R});
    [np.sin({w}) for {w} in {R}]; [{F} * {A} for {i} in range({n})]
""")
CHANGES_OF_ARRAYS = forms("""
    {R}.append({A}); {R}.append({A}); {R}.append({T}); {R}.append({T}.copy());
    {R}.extend({S}); {R}.extend([{A}, {A}]); {R}.insert(0, {A}); {R}.insert({p}, {A});
    {R}.pop(); {R}.pop({p}); {R}[0] = {A}; {R}[-1] = 0.5 * {R}[0]; {R}[{p}] = {A};
    {R} += [{A}]; {R}[1:] = [{A}]; {R}[:] = {S}; {R}.reverse();
    {R}[0], {R}[-1] = {R}[-1], {R}[0]; {R}[{p}] = {R}[{p}] * 0.5; {R}[{p}] += {A};
    {R}[{p}][0] = {F}; {R}.clear()
""")
LOOPS_OF_ARRAYS = loops("""
for {i} in range({n}):
    {R}.append(0.5 * {R}[-1] + 0.3 * {A})

for {i} in range({n}):
    {R}.append(0.5 * np.sin({R}[{i}]))

for {w} in {B}:
    {R}.append(0.5 * {w})

for {i} in range({n}):
    {T} *= 0.5
    {R}.append({T}.copy())

for {i} in range({n}):
    {T}[0] = 0.5 * {T}[-1]
    {R}.insert(0, {T} ** 2)

for {i} in range(len({R})):
    {R}[{i}] = 0.5 * {R}[{i}] + 0.2 * {R}[0]

for {i} in range(1, len({R})):
    {R}[{i}] = 0.4 * {R}[{i}] * {R}[{i} - 1]

while len({R}) > 1:
    {w} = {R}.pop()
    {R}[-1] = {R}[-1] + 0.3 * {w}

for {i} in range({n}):
    {R} = [0.5 * {w} for {w} in {R}]

for {w} in {R}:
    {T} += 0.3 * {w}

for {w} in {R}:
    {K}.append(0.2 * np.sum({w}))

for {w} in {R}:
    {K}[0] += 0.2 * np.sum({w} ** 2)

for {i}, {w} in enumerate({R}):
    {T} += 0.1 * {i} * {w} ** 2
""")
# {D} a list of lists of numbers.
BEGUN_OF_LISTS = forms("""
    [[{F}, {F}], [{F}, 0.5]]; [[{F}, 0.5], [{F}]];
    [[{F} * {i} for {i} in range(3)] for {u} in range(2)]; [{L}, {K}];
    [{L}.copy(), {K}.copy()]; [[0.5 * {t} for {t} in {L}], [{F}]]; [[{F}] * 2, {L}[:2]]
""")
CHANGES_OF_LISTS = forms("""
    {D}[0][0] = {F}; {D}[1][-1] = {F}; {D}[0].append({F});
    {D}[-1].append(0.5 * {D}[0][0]); {D}[0][0] += {F}; {D}[1].pop();
    {D}[1].insert(0, {F}); {D}[0] = [{F}, {F}]; {D}.append([{F}, {F}]);
    {D}[0], {D}[1] = {D}[1], {D}[0]; {D}[0] += [{F}]; {D}[1][0] *= 0.7;
    {D}[0].extend({D}[1])
""")
LOOPS_OF_LISTS = loops("""
for {t} in {D}:
    {t}[0] = 0.5 * {t}[-1] + 0.3 * {F}

for {t} in {D}:
    {t}.append(0.4 * {t}[0])

for {i}, {t} in enumerate({D}):
    {t}[0] *= 0.2 * {i} + 0.5

for {i} in range(2):
    {D}[{i}][0] *= 0.5 * {F}

for {i} in range({n}):
    {D}[0].append(0.5 * {D}[1][0])
""")
NUMBERS = {
    "list": forms("""
        sum({L}); sum({L}); {L}[0]; {L}[-1]; {L}[{p}]; {L}[{p}]; 0.1 * len({L});
        max({L}); min({L}); sum(0.5 * {t} ** 2 for {t} in {L});
        0.5 * np.sum(np.array({L}) ** 2); np.mean({L}); sum({L}[1:]); sum({L}[{p}:]);
        0.3 * np.dot({L}, {L}); np.max({L});
        0.3 * sum({t} * {u} for {t}, {u} in zip({L}, {K}));
        0.2 * sum({i} * {t} for {i}, {t} in enumerate({L})); 0.5 * sum(reversed({L}))
    """),
    "rows": forms("""
        0.3 * np.sum(np.stack({R})); np.mean(np.array({R})); np.sum({R}[-1]) * 0.3;
        np.sum({R}[0] * {R}[-1]) * 0.2; 0.1 * len({R}); np.sum(sum({R})) * 0.2;
        sum(np.sum({w} ** 2) * 0.2 for {w} in {R}); np.sum(np.concatenate({R})) * 0.3
    """),
    "table": forms("""
        sum({D}[0]); {D}[1][0]; {D}[-1][-1]; 0.1 * len({D}[0]);
        0.3 * sum(sum({t}) for {t} in {D}); sum([0.3 * {t}[0] for {t} in {D}]);
        0.3 * np.sum(np.array({D})); 0.5 * np.sum(np.array({D}) ** 2)
    """),
}
ARRAYS = {
    "list": forms("""
        np.array({L}); np.array({L}); np.asarray({L}); np.array({L})[::-1];
        0.5 * np.array({L}) ** 2; np.stack({L}); np.cumsum({L});
        np.array([{L}[0], {L}[-1]]); np.array([{L}, {L}])
    """),
    "rows": forms("""
        np.array({R}); np.stack({R}); np.stack({R}); np.stack({R}, axis=1);
        np.concatenate({R}); np.concatenate({R}); sum({R}); {R}[0]; {R}[-1]; {R}[{p}];
        np.vstack({R}); np.hstack({R}); np.stack({R}, axis=-1); np.concatenate({R}[1:]);
        np.array({R})[0]; np.stack([{R}[0], {R}[-1]])
    """),
    "table": forms("np.array({D}); np.array({D}[0]); np.stack({D})"),
}  # fmt: skip
