"""A turn that goes in circles is noticed."""

from myclaw_core.runtime.loops import LoopDetector


def test_the_same_failing_call_three_times_is_a_loop() -> None:
    loops = LoopDetector()

    assert loops.observe("a", "x", failed=True) is None
    assert loops.observe("a", "y", failed=True) is None
    assert str(loops.observe("a", "z", failed=True)) == "the same call failed 3 times"


def test_a_success_in_between_starts_over() -> None:
    loops = LoopDetector()
    loops.observe("a", "x", failed=True)
    loops.observe("a", "x", failed=True)
    loops.observe("a", "ok", failed=False)

    assert loops.observe("a", "x", failed=True) is None


def test_a_sequence_with_the_same_results_twice_is_a_loop() -> None:
    loops = LoopDetector()
    for call in ("a", "b", "a"):
        assert loops.observe(call, "same", failed=False) is None

    assert str(loops.observe("b", "same", failed=False)) == "the same 2 calls gave the same results twice"


def test_a_sequence_with_other_results_is_no_loop() -> None:
    loops = LoopDetector()
    for number, call in enumerate("abababab"):
        assert loops.observe(call, str(number), failed=False) is None


def test_the_same_single_call_repeated_is_left_to_the_step_limit() -> None:
    loops = LoopDetector()
    for _ in range(6):
        assert loops.observe("a", "same", failed=False) is None
