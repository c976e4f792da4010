"""The closed network against answers that are known without it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollout.prediction.queueing import Seconds, on_cores, one_mutex, populations

positive = st.floats(1e-3, 1e3)


def product_form(threads: int, first: Seconds, second: Seconds) -> float:
    """Throughput from the normalising constants of the product form (Gordon and Newell 1967), in logarithms."""

    def weight(station: Seconds, n: int) -> float:
        return sum(math.log(station(k)) for k in range(1, n + 1))

    def constant(n: int) -> float:
        terms = [weight(first, here) + weight(second, n - here) for here in range(n + 1)]
        top = max(terms)
        return top + math.log(sum(math.exp(term - top) for term in terms))

    return math.exp(constant(threads - 1) - constant(threads))


def test_one_thread_never_waits() -> None:
    """Alone, a query takes its think time and its operations, nothing else."""
    (alone,) = populations(1, on_cores(0.7, 0.7, 4), one_mutex(3, 0.1, 5.0))
    assert alone.latency_seconds == pytest.approx(0.7 + 3 * 0.1)
    assert alone.mutex_utilisation == pytest.approx(3 * 0.1 / 1.0)


def test_two_threads_as_worked_by_hand() -> None:
    """Think 1, one operation of 1: states 2-0, 1-1, 0-2 weigh 1/2, 1, 1, so the mutex works 4/5 of the time."""
    two = populations(2, on_cores(1, 1, 2), one_mutex(1, 1, 1))[-1]
    assert two.queries_per_second == pytest.approx(0.8)
    assert two.mutex_utilisation == pytest.approx(0.8)


def test_a_saturated_mutex_sets_the_rate() -> None:
    """With many threads the rate is one over the mutex time of a query, to the last digits."""
    many = populations(1000, on_cores(1.0, 1.0, 1000), one_mutex(10, 0.001, 0.1))[-1]
    assert many.queries_per_second == pytest.approx(1.0, rel=1e-9)
    assert many.mutex_utilisation == pytest.approx(1.0)


def test_cores_set_the_rate_where_the_mutex_does_not() -> None:
    """Without operations the rate is the cores' over the think time."""
    many = populations(64, on_cores(0.5, 0.5, 4), one_mutex(0, 1, 1))[-1]
    assert many.queries_per_second == pytest.approx(4 / 0.5)
    assert many.mutex_utilisation == 0


def test_waiting_for_a_device_needs_no_core() -> None:
    """A thread that is on a core for a tenth of its time shares it with nine others."""
    ten = populations(10, on_cores(1.0, 0.1, 1), one_mutex(0, 1, 1))[-1]
    assert ten.queries_per_second == pytest.approx(10.0)


def test_instances_share_the_load_evenly() -> None:
    """Eight mutexes serve eight times the rate of one when all are busy, and no more when one thread asks."""
    one, eight = one_mutex(1, 2.0, 2.0), one_mutex(1, 2.0, 2.0, instances=8)
    assert eight(1) == one(1) == 2.0
    assert eight(10**6) == pytest.approx(one(10**6) / 8, rel=1e-4)


@given(st.integers(1, 40), positive, st.tuples(positive, positive), st.integers(1, 20), st.integers(1, 8))
def test_it_is_the_product_form(
    threads: int, think: float, mutex: tuple[float, float], cores: int, instances: int
) -> None:
    """Mean value analysis gives what the product form gives, for any load."""
    stations = on_cores(think, think, cores), one_mutex(1, *mutex, instances)
    solved = populations(threads, *stations)[-1]
    assert solved.queries_per_second == pytest.approx(product_form(threads, *stations), rel=1e-6)
    assert 0 <= solved.mutex_utilisation <= 1 + 1e-9


def test_one_thread_has_its_one_core_to_itself() -> None:
    """20 us beside the mutex and 36.9 operations of 0.12 us at it: 40,934 queries a second, counted once."""
    alone = populations(1, on_cores(20e-6, 24.43e-6, 1), one_mutex(36.9, 0.12e-6, 1.33e-6))[-1]
    assert alone.queries_per_second == pytest.approx(1 / (20e-6 + 36.9 * 0.12e-6), rel=1e-9)
