import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from oodometer.data.subset import FreeSlots


@given(lasts=st.lists(st.integers(0, 30), min_size=1, max_size=30), order=st.randoms(use_true_random=False))
@settings(deadline=None, derandomize=True, max_examples=80)
def test_a_step_is_free_if_all_others_can_still_come_in_time(lasts, order):
    """The reference counts: until each step, no more may have to come than there are steps left."""
    # Last steps that can all be kept: the k-th smallest is at least k.
    left = [max(min(last, len(lasts)), place) for place, last in enumerate(sorted(lasts), start=1)]
    slots = FreeSlots(np.array(left))

    def all_in_time(others, step):
        return all(sum(last <= until for last in others) <= until - step for until in range(step, len(lasts) + 1))

    for step in range(1, len(lasts) + 1):
        for last in set(left):
            others = list(left)
            others.remove(last)
            assert slots.is_free(step, last) == all_in_time(others, step)
        allowed = [last for last in left if slots.is_free(step, last)]
        taken = order.choice(allowed)
        left.remove(taken)
        slots.take(taken)
