"""How many instances a stage has: configured, seen, or implied by what was measured."""

from tests.unit.analyze.builders import CPU_1, CPU_2
from tritonscope.analyze.findings import Quality
from tritonscope.analyze.instances import Busy, count_instances
from tritonscope.repository.stages import InstanceGroup, Stage

PER_GPU = (InstanceGroup("GPU", 1),)


def count(groups, busy=None, *, implied=1, seen=0):
    stages = {"m": Stage("m", "python", 0, groups)}
    measured = {} if busy is None else {"m": Busy(busy, implied)}
    return count_instances(stages, measured, {"m": seen})["m"]


def test_a_configured_number_is_exact():
    assert count(CPU_2, 0.3).count == 2
    assert count(CPU_2, 0.3).quality is Quality.EXACT


def test_processes_that_were_seen_are_exact_where_the_configuration_is_not():
    assert count((), 0.3, seen=3).count == 3
    assert count((), 0.3, seen=3).quality is Quality.EXACT


def test_one_per_gpu_is_at_least_one():
    found = count((), 0.3)
    assert (found.count, found.quality) == (1, Quality.LOWER_BOUND)
    assert "instance_group absent: 1 per GPU" in found.note
    assert "names no GPUs" in count(PER_GPU, 0.3).note


def test_busy_instances_imply_gpus_for_all_stages_that_run_on_each():
    stages = {
        "full": Stage("full", "python", 0, ()),
        "two_each": Stage("two_each", "onnxruntime", 0, (InstanceGroup("GPU", 2),)),
        "fixed": Stage("fixed", "python", 0, CPU_1),
    }
    busy = {"full": Busy(2.9, 3), "two_each": Busy(0.1, 1), "fixed": Busy(0.1, 1)}
    found = {name: instances.count for name, instances in count_instances(stages, busy, {}).items()}
    assert found == {"full": 3, "two_each": 6, "fixed": 1}


def test_more_busy_instances_than_configured_are_explained():
    found = count(CPU_1, 1.9, implied=2)
    assert (found.count, found.quality) == (2, Quality.LOWER_BOUND)
    assert found.note == "configured: 1; the measured 1.90 busy instances imply 2"


def test_a_stage_with_passive_instances_only_still_divides_by_one():
    assert count((InstanceGroup("CPU", 2, passive=True),), 0.0).count == 1
