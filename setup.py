"""Finds the packages: four folders at the top, each a package of another name."""

from setuptools import find_packages, setup

FOLDERS = {
    "midepoch": "impl/midepoch",
    "midepoch_conformance": "conformance/midepoch_conformance",
    "midepoch_benchmarks": "benchmarks/midepoch_benchmarks",
    "midepoch_spec": "spec",
}


def packages() -> list[str]:
    """Return the packages in these folders, those inside them included; no tests."""
    inside = {
        name: [] if name == "midepoch_spec" else find_packages(folder)
        for name, folder in FOLDERS.items()
    }
    return [*FOLDERS, *(f"{name}.{found}" for name in FOLDERS for found in inside[name])]


setup(packages=packages(), package_dir=FOLDERS)
