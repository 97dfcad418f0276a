"""What is below packaging/ for clusters, and gpulse rules for lists of hosts: taken by the tools that they are for, and true
to what the program does."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent import open_folder, wait_for
from harness import GPULSE, ROOT, Result, environment, gpulse, only_line, run
from scrapers import free_port, needs_prometheus, running
from web import WebAgent

# Descriptions of the API as dataclasses. All that they want of lightkube itself, which would bring a dozen packages.
schema = types.ModuleType("lightkube.core.schema")
vars(schema).update(DictMixin=object, dataclass=dataclasses.dataclass, field=dataclasses.field)
sys.modules.setdefault("lightkube.core", types.ModuleType("lightkube.core"))
sys.modules.setdefault("lightkube.core.schema", schema)

from lightkube.models import apps_v1, core_v1, networking_v1  # noqa: E402

KUBERNETES = ROOT / "packaging" / "kubernetes"
SLURM = ROOT / "packaging" / "slurm"

needs_promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool, of Debian's prometheus")
needs_kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl, which builds the overlays")

TOKEN = "0123456789abcdef0123456789abcdef"


# Kubernetes

Objects = dict[str, dict[str, Any]]
KINDS: dict[str, type[Any]] = {
    "Namespace": core_v1.Namespace,
    "DaemonSet": apps_v1.DaemonSet,
    "NetworkPolicy": networking_v1.NetworkPolicy,
}


class OnceLoader(yaml.SafeLoader):
    """Refuses a key that is there twice, of which YAML would take the last."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        assert len(keys) == len(set(map(str, keys))), f"twice in {keys}, {node.start_mark}"
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        return found


def objects(text: str) -> Objects:
    return {each["kind"]: each for each in yaml.load_all(text, OnceLoader)}


def check(value: Any, kind: Any, where: str) -> None:
    """That it is what Kubernetes' own description of the API has, and nothing besides."""
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        kinds = [each for each in typing.get_args(kind) if each is not type(None)]
        # A port is a number or a name.
        kind = type(value) if type(value) in kinds else kinds[0]
    if typing.get_origin(kind) is list:
        assert isinstance(value, list), where
        for i, each in enumerate(value):
            check(each, typing.get_args(kind)[0], f"{where}[{i}]")
    elif dataclasses.is_dataclass(kind) and isinstance(kind, type):
        assert isinstance(value, dict), where
        # Where Python has a word of its own, the field is called after it with a line behind.
        hints = {name.rstrip("_"): hint for name, hint in typing.get_type_hints(kind).items()}
        fields = {each.name.rstrip("_"): each for each in dataclasses.fields(kind)}
        assert value.keys() <= hints.keys(), f"{where} has no {value.keys() - hints.keys()}"
        needed = {name for name, each in fields.items() if each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING}
        assert needed <= value.keys(), f"{where} needs {needed - value.keys()}"
        for name, each in value.items():
            check(each, hints[name], f"{where}.{name}")
    elif kind in (str, int, bool):
        assert type(value) is kind, f"{where} is {value!r}"


def base() -> Objects:
    return objects("---\n".join((KUBERNETES / "nvidia" / name).read_text() for name in kustomization("nvidia")["resources"]))


def kustomization(folder: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.load((KUBERNETES / folder / "kustomization.yaml").read_text(), OnceLoader)
    return loaded


def built(folder: str) -> Objects:
    done = subprocess.run(["kubectl", "kustomize", KUBERNETES / folder], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return objects(done.stdout)


def pod(all_objects: Objects) -> dict[str, Any]:
    found: dict[str, Any] = all_objects["DaemonSet"]["spec"]["template"]["spec"]
    return found


def test_the_check_of_manifests_sees_what_is_wrong() -> None:
    for wrong in ("hostPid: true", "hostPID: 'yes'", "containers: [{image: x}]", "containers: [{name: x, ports: [{port: 1}]}]"):
        with pytest.raises(AssertionError):
            check(yaml.safe_load(wrong) | ({} if "containers" in wrong else {"containers": []}), core_v1.PodSpec, "pod")
    with pytest.raises(AssertionError):
        objects("kind: A\nspec: {a: 1, a: 2}\n")


def test_manifests_are_what_kubernetes_describes() -> None:
    found = base()
    assert found.keys() == {"Namespace", "DaemonSet", "NetworkPolicy", "PodMonitor"}
    for kind, model in KINDS.items():
        check(found[kind], model, kind)


@needs_kubectl
@pytest.mark.parametrize("folder", ["nvidia", "amd-intel", "remote-write"])
def test_kubectl_builds_them(folder: str) -> None:
    found = built(folder)
    for kind, model in KINDS.items():
        check(found[kind], model, kind)
        assert kind == "Namespace" or found[kind]["metadata"]["namespace"] == "gpulse"
    agent = found["DaemonSet"]
    assert agent["spec"]["selector"]["matchLabels"].items() <= agent["spec"]["template"]["metadata"]["labels"].items()
    assert re.fullmatch(r"registry\.example/gpulse:\d+\.\d+\.\d+", pod(found)["containers"][0]["image"])


@needs_kubectl
def test_both_kinds_of_gpus_stand_side_by_side() -> None:
    one, other = built("nvidia"), built("amd-intel")
    assert one["DaemonSet"]["metadata"]["name"] != other["DaemonSet"]["metadata"]["name"]
    assert one["DaemonSet"]["spec"]["selector"] != other["DaemonSet"]["spec"]["selector"]
    assert {kind: each for kind, each in one.items() if kind != "DaemonSet"} == {kind: each for kind, each in other.items() if kind != "DaemonSet"}
    assert "runtimeClassName" not in pod(other)
    assert pod(other)["containers"][0]["securityContext"]["capabilities"] == {"drop": ["ALL"], "add": ["SYS_PTRACE", "PERFMON"]}


def test_the_pod_has_no_right_that_it_does_not_need() -> None:
    spec = pod(base())
    container = spec["containers"][0]
    assert spec["automountServiceAccountToken"] is False and "serviceAccountName" not in spec and "hostNetwork" not in spec
    assert container["securityContext"] == {
        "runAsUser": 0,
        "runAsGroup": 0,
        "privileged": False,
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    writable = {each["name"] for each in container["volumeMounts"] if not each.get("readOnly")}
    assert writable == {"run", "history"}


def test_its_parts_name_each_other() -> None:
    found = base()
    spec, container = pod(found), pod(found)["containers"][0]
    labels = found["DaemonSet"]["spec"]["template"]["metadata"]["labels"]
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    volumes = {each["name"]: each for each in spec["volumes"]}
    assert mounts.keys() == volumes.keys()
    options = dict(word.split("=", 1) for word in container["args"][1:])
    assert options["--listen"].endswith(f":{ports['http']}")
    secret = volumes["token"]["secret"]
    # YAML's octal: a file that everybody may read would be refused.
    assert secret["defaultMode"] == 0o400
    monitor = found["PodMonitor"]["spec"]
    endpoint = monitor["podMetricsEndpoints"][0]
    assert endpoint["authorization"]["credentials"] == {"name": secret["secretName"], "key": Path(options["--token-file"]).name}
    assert options["--token-file"].startswith(mounts["token"]) and options["--history"].startswith(mounts["history"])
    assert options["--pod-resources"].startswith(mounts["pod-resources"])
    for probe in ("livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"] == {"path": "/healthz", "port": "http"}
    assert endpoint["port"] == "http" and found["NetworkPolicy"]["spec"]["ingress"][0]["ports"][0]["port"] == "http"
    for selector in (monitor["selector"], found["NetworkPolicy"]["spec"]["podSelector"]):
        assert selector["matchLabels"].items() <= labels.items()


def test_the_agent_does_what_the_manifest_has_it_do() -> None:
    found = base()
    endpoint = found["PodMonitor"]["spec"]["podMetricsEndpoints"][0]
    args = pod(found)["containers"][0]["args"]
    if shutil.which("kubectl"):
        args = pod(built("remote-write"))["containers"][0]["args"]
    with open_folder() as folder:
        # As the kubelet lays out a Secret.
        secret = folder / "secret"
        (secret / "..2026").mkdir(parents=True)
        for name in ("token", "remote-write"):
            (secret / "..2026" / name).write_text(TOKEN + "\n")
            (secret / "..2026" / name).chmod(0o400)
            (secret / name).symlink_to(Path("..data", name))
        (secret / "..data").symlink_to("..2026")
        own = {"/etc/gpulse": str(secret), "/var/lib/gpulse": str(folder), "/var/lib/kubelet/pod-resources": str(folder),
               "https://metrics.example": f"http://127.0.0.1:{free_port()}"}  # fmt: skip
        words = [re.sub("|".join(own), lambda each: own[str(each[0])], word) for word in args[1:] if not word.startswith("--listen")]
        with WebAgent(folder / "agent", *words) as agent:
            assert agent.ask("/healthz").status == 200
            assert agent.ask(endpoint["path"]).status == 401
            answer = agent.ask(endpoint["path"], Authorization=f"{endpoint['authorization']['type']} {TOKEN}")
            assert answer.status == 200 and "\ngpulse_up 1\n" in answer.text


# Slurm


def script(name: str, folder: Path, **variables: str) -> Result:
    """The prolog or epilog, as Slurm runs it, with a folder of the test in place of /run."""
    own = folder / name
    own.write_text((SLURM / name).read_text().replace("/run/", f"{folder}/run/"))
    own.chmod(0o755)
    return run([own], {"PATH": "/usr/bin:/bin"} | variables)


def job(number: str, **more: str) -> dict[str, str]:
    return {"SLURM_JOB_ID": number, "SLURM_JOB_USER": "ann", "SLURM_JOB_ACCOUNT": "physics", "SLURM_JOB_PARTITION": "gpu"} | more


def test_prolog_and_epilog_keep_a_file_for_each_job(tmp_path: Path) -> None:
    jobs = tmp_path / "run" / "gpulse-jobs"
    for number in ("12", "13"):
        assert script("prolog", tmp_path, **job(number)) == Result(0, "", "")
    assert (jobs / "12").read_text() == "user=ann\naccount=physics\npartition=gpu\n"
    assert (jobs.stat().st_mode & 0o777, (jobs / "12").stat().st_mode & 0o777) == (0o755, 0o644)
    old = jobs / "7"
    old.write_text("account=gone\n")
    os.utime(old, (0, 0))
    assert script("prolog", tmp_path, **job("14")).code == 0
    assert script("epilog", tmp_path, **job("12")) == Result(0, "", "")
    assert sorted(each.name for each in jobs.iterdir()) == ["13", "14"]


def test_what_a_user_may_have_chosen_stays_on_its_line(tmp_path: Path) -> None:
    hostile = "a\nuser=root\x1b[31m;$(touch x)`id`" + "y" * 5000
    assert script("prolog", tmp_path, **job("12", SLURM_JOB_ACCOUNT=hostile)).code == 0
    lines = (tmp_path / "run" / "gpulse-jobs" / "12").read_text().split("\n")
    assert [line.split("=")[0] for line in lines] == ["user", "account", "partition", ""]
    assert lines[1] == ("account=" + hostile.replace("\n", "").replace("\x1b", ""))[: len("account=") + 128]


@pytest.mark.parametrize("number", ["", "../../etc/passwd", "1;2", "-1"])
def test_without_a_number_nothing_is_written_and_nothing_fails(number: str, tmp_path: Path) -> None:
    for name in ("prolog", "epilog"):
        assert script(name, tmp_path, **job(number)) == Result(0, "", "")
    assert not (tmp_path / "run").exists()


def test_a_prolog_that_cannot_write_does_not_drain_the_node(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("no folder")
    assert script("prolog", tmp_path, **job("12")).code == 0
    assert script("epilog", tmp_path, **job("12")).code == 0


PID = 4242
NODE = {
    "/etc/passwd": "ann:x:1000:1000::/home/ann:/bin/sh\n",
    "/proc/uptime": "5000.00 1.00\n",
    "/proc/self/mountinfo": "24 30 0:22 / /proc rw,nosuid shared:12 - proc proc rw\n",
    f"/proc/{PID}/stat": f"{PID} (python3) S 1 1 1 0 -1 4194560 100 0 5 0 1000 0 9 9 20 0 1 0 1000 900000000 2500 1\n",
    f"/proc/{PID}/status": "Name:\tpython3\nUid:\t1000\t1000\t1000\t1000\n",
    f"/proc/{PID}/cmdline": "python3\0train.py\0",
    f"/proc/{PID}/cgroup": "0::/system.slice/slurmstepd.scope/job_12/step_0/user/task_0\n",
    f"/proc/{PID}/environ": "SLURM_JOB_ID=12\0SLURM_JOB_ACCOUNT=claimed\0",
}


@pytest.fixture
def node(sysroot: Any) -> Iterator[tuple[Path, Path]]:
    """A machine with a process of job 12 on its GPU; and the scenario of the driver."""
    root = sysroot(NODE)
    scenario = root.parent / "gpu.toml"
    scenario.write_text(f'[[device]]\nprofile = "h100"\n[[process]]\npid = {PID}\nmemory_mib = 100\n')
    yield root, scenario


def test_the_account_comes_from_the_prolog(node: tuple[Path, Path]) -> None:
    root, scenario = node

    def told(*more: str) -> tuple[str, str, str]:
        (process,) = gpulse("--json", "--sysroot", root, *more, scenario=scenario).json["processes"]
        return process["user"], process["job"], process["account"]

    assert told() == ("ann", "12", "claimed"), "root and its owner may read the environment"
    script("prolog", root, **job("12"))
    assert told() == ("ann", "12", "physics")
    # The job is over, and 13 is another's: neither says anything of 12.
    script("epilog", root, **job("12"))
    script("prolog", root, **job("13", SLURM_JOB_ACCOUNT="biology"))
    assert told() == ("ann", "12", "claimed")


def test_the_agent_tells_the_account_that_everybody_may_know(node: tuple[Path, Path]) -> None:
    root, scenario = node

    def owner(folder: Path) -> str:
        with WebAgent(folder, "--sysroot", root, "--history", folder / "history.db", scenario=scenario) as agent:
            found = re.search(r"^gpulse_gpu_owner_info\{uuid=\"[^\"]+\",(.*)\} 1$", agent.ask("/metrics").text, re.MULTILINE)
            assert found
            return found[1]

    with open_folder() as folder:
        assert owner(folder / "one") == 'user="ann",batch_job="12"', "what only some may read is not for all"
        script("prolog", root, **job("12"))
        assert owner(folder / "two") == 'user="ann",batch_job="12",batch_account="physics"'
        for place, account in (("one", None), ("two", "physics")):
            kept = gpulse("history", "--history", folder / place / "history.db", "--processes", "--jsonl")
            assert [each["account"] for each in kept.json_lines] == [account]


# A list of hosts


def scrape(*words: str | Path, **more: Any) -> str:
    done = gpulse("rules", "--format", "scrape", *words, **more)
    assert (done.code, done.err) == (0, "")
    return done.out


def targets(text: str) -> list[str]:
    (config,) = yaml.load(text, OnceLoader)["scrape_configs"]
    (static,) = config["static_configs"]
    found: list[str] = static["targets"]
    return found


def test_a_list_of_hosts_becomes_targets(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts.txt"
    hosts.write_text("# GPUs\nnode[08-10]   # a rack\nlogin1:9900, [fd00::7]\n\nnode09\n")
    expected = ["node08:9837", "node09:9837", "node10:9837", "login1:9900", "[fd00::7]:9837"]
    assert targets(scrape("--hosts", hosts)) == expected
    assert targets(scrape("node[08-10]", "login1:9900", "[fd00::7]")) == expected
    command: list[str | Path] = [GPULSE, "rules", "--format", "file-sd", "--hosts", "-"]
    done = subprocess.run(command, input=hosts.read_text(), env=environment(), capture_output=True, text=True)
    assert json.loads(done.stdout) == [{"targets": expected}]


@needs_promtool
def test_promtool_takes_it(tmp_path: Path) -> None:
    for name in ('to"ken', "ca.crt"):
        (tmp_path / name).write_text("x")
    config = tmp_path / "gpulse.yml"
    config.write_text(scrape("node[001-128]", "--token-file", tmp_path / 'to"ken', "--ca-file", tmp_path / "ca.crt"))
    done = subprocess.run(["promtool", "check", "config", config], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (loaded,) = yaml.safe_load(config.read_text())["scrape_configs"]
    assert "params" not in loaded and yaml.safe_load(scrape("n1", "--metrics", "usual"))["scrape_configs"][0]["params"] == {"metrics": ["usual"]}
    assert (loaded["scheme"], len(loaded["static_configs"][0]["targets"])) == ("https", 128)
    targets_file = tmp_path / "targets.json"
    targets_file.write_text(gpulse("rules", "--format", "file-sd", "node[1-3]").out)
    config.write_text(json.dumps({"scrape_configs": [{"job_name": "gpulse", "file_sd_configs": [{"files": [str(targets_file)]}]}]}))
    done = subprocess.run(["promtool", "check", "config", config], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@needs_prometheus
def test_prometheus_scrapes_an_agent_with_it() -> None:
    with open_folder() as folder:
        token = folder / "token"
        token.write_text(TOKEN + "\n")
        token.chmod(0o600)
        with WebAgent(folder / "agent", "--token-file", token, "--history", "off") as agent:
            config = folder / "gpulse.yml"
            # The first scrape comes within one interval.
            config.write_text(scrape(f"127.0.0.1:{agent.port}", "--token-file", token).replace("15s", "1s"))
            address = f"127.0.0.1:{free_port()}"
            command: list[str | Path] = ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                                         f"--web.listen-address={address}"]  # fmt: skip
            with running(command, address, "/-/ready") as engine:
                wait_for(lambda: engine.value('gpulse_up{job="gpulse"}') == 1, "a scrape", 30)


@pytest.mark.parametrize(
    "words, code, says",
    [
        ([], 2, "which machines: name them behind --format scrape, or in a file for --hosts"),
        (["node[9-1]"], 2, 'line 1: "node[9-1]" has a range that ends before it begins: write '),
        (["n[1-99999999]"], 2, 'line 1: "n[1-99999999]" is more than 65536 machines: write '),
        (["http://a"], 2, 'line 1: "http://a" has no port behind its colon: write '),
        (["--hosts", "/nonexistent"], 1, "cannot read /nonexistent: No such file or directory"),
        (["--hosts", "/dev/null"], 1, "cannot read /dev/null: it is a device, not a file"),
        (["--hosts", "x", "a"], 2, "host excludes --hosts: see "),
    ],
)
def test_a_list_with_a_mistake_is_told_in_one_line(words: list[str], code: int, says: str) -> None:
    done = gpulse("rules", "--format", "scrape", *words)
    assert (done.code, done.out) == (code, "")
    assert only_line(done.err).startswith("gpulse: " + says)
