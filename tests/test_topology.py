"""nvidia-smi topo: how GPUs reach each other over NVLink, switches and PCIe, and how near the network adapters are."""

from __future__ import annotations

from pathlib import Path

from harness import Result, gpulse

PAIR = """
[topology]
level = 40

[[device]]
profile = "a100"
nvlink_links = 4
nvlink_peers = [1, 1, 1, 1]
[[device]]
profile = "a100"
nvlink_links = 4
nvlink_down = [3]
nvlink_peers = [0, 0, 0, 0]
[[device]]
profile = "rtx4090"
"""


def topo(*arguments: str | Path, scenario: str | Path = "eight") -> Result:
    return gpulse("smi", *arguments, scenario=scenario)


def cells(result: Result, count: int) -> list[list[str]]:
    """The connections of the first rows, without the columns about the host."""
    assert result.code == 0, result.out + result.err
    return [[cell.strip() for cell in line.split("\t")[1 : 1 + count]] for line in result.lines[1 : 1 + count]]


def write(folder: Path, text: str) -> Path:
    path = folder / "machine.toml"
    path.write_text(text)
    return path


def test_links_into_switches_connect_all_gpus() -> None:
    matrix = cells(topo("topo", "-m"), 8)
    assert matrix == [["X" if i == j else "NV18" for j in range(8)] for i in range(8)]


def test_the_pci_matrix_never_shows_links() -> None:
    result = topo("topo", "-mp")
    matrix = cells(result, 8)
    # As the scenario has it: pairs behind one host bridge, all on one node.
    assert matrix == [["X" if i == j else "PHB" if i // 2 == j // 2 else "NODE" for j in range(8)] for i in range(8)]
    assert "NV#" not in result.out and "NV#" in topo("topo", "-m").out


def test_a_link_that_is_down_counts_for_both_ends() -> None:
    # Two links of GPU 0 are down; GPU 2 has none.
    assert cells(topo("topo", "-m", scenario="faulty"), 3) == [
        ["X", "NV16", "SYS"], ["NV16", "X", "SYS"], ["SYS", "SYS", "X"],
    ]  # fmt: skip


def test_links_from_gpu_to_gpu_count_for_that_pair(tmp_path: Path) -> None:
    matrix = cells(topo("topo", "-m", scenario=write(tmp_path, PAIR)), 3)
    assert matrix[0] == ["X", "NV3", "NODE"]  # one of the four is down
    assert matrix[1] == ["NV3", "X", "NODE"]
    assert matrix[2] == ["NODE", "NODE", "X"]


def test_drivers_that_do_not_tell_the_kind_of_the_other_end(tmp_path: Path) -> None:
    old = '[driver]\nversion = "450.51.06"\ngeneration = "450.51"\n'
    switches = write(tmp_path, old + '[[device]]\nprofile = "a100"\ncount = 3\n')
    assert cells(topo("topo", "-m", scenario=switches), 3)[0] == ["X", "NV12", "NV12"]
    # GPUs 0 and 1 both have links to GPU 2: that is no switch between them.
    chain = '[[device]]\nprofile = "a100"\nnvlink_links = {}\nnvlink_peers = {}\n'
    ends = [[2, 2], [2, 2], [0, 0, 1, 1]]
    bridged = write(tmp_path, old + "".join(chain.format(len(peers), peers) for peers in ends))
    assert cells(topo("topo", "-m", scenario=bridged), 3) == [
        ["X", "SYS", "NV2"], ["SYS", "X", "NV2"], ["NV2", "NV2", "X"],
    ]  # fmt: skip


def test_a_lost_gpu_does_not_shift_the_others(tmp_path: Path) -> None:
    lost = write(tmp_path, PAIR.replace("[[device]]", "[[device]]\nlost = [[0, 1000]]", 1))
    result = topo("topo", "-m", scenario=lost)
    lines = [line for line in result.lines if line.startswith("GPU") and "\t" in line]
    assert [line.split("\t")[:3] for line in lines] == [["GPU1", " X ", "NODE"], ["GPU2", "NODE", " X "]]


ADAPTERS = {
    # Below the same switch as GPU 0; on the same node; on the other processor, with two ports.
    "mlx5_0": ("pci0000:0f/0000:0f:01.0/0000:0e:00.0/0000:0d:01.0/0000:20:00.0", 0),
    "mlx5_2": ("pci0000:2f/0000:2f:01.0/0000:30:00.0", 0),
    "mlx5_10": ("pci0000:8f/0000:8f:01.0/0000:90:00.0", 1),
    "mlx5_11": ("pci0000:8f/0000:8f:01.0/0000:90:00.1", 1),
}
GPUS = ("pci0000:0f/0000:0f:01.0/0000:0e:00.0/0000:0d:00.0/0000:10:00.0", "pci0000:8f/0000:8f:05.0/0000:11:00.0")


def machine_with_adapters(root: Path) -> Path:
    def plug(path: str, numa: int) -> None:
        folder = root / "sys/devices" / path
        folder.mkdir(parents=True)
        (folder / "numa_node").write_text(f"{numa}\n")
        link = root / "sys/bus/pci/devices" / folder.name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(Path("../../../devices") / path)

    plug(GPUS[0], 0)
    plug(GPUS[1], 1)
    for name, (path, numa) in ADAPTERS.items():
        plug(path, numa)
        link = root / "sys/class/infiniband" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(Path("../../devices") / path / "infiniband" / name)
    return root


def test_network_adapters_stand_beside_the_gpus(tmp_path: Path) -> None:
    root = machine_with_adapters(tmp_path / "root")
    two = write(tmp_path, '[[device]]\nprofile = "h100"\ncount = 2\n')
    result = topo("--sysroot", root, "topo", "-m", scenario=two)
    head, *lines = result.lines
    assert head == "\t\x1b[4mGPU0\tGPU1\tNIC0\tNIC1\tNIC2\tNIC3\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m"
    # The shape is that of a capture from a GB200: adapters leave the host's columns empty.
    assert lines[:6] == [
        "GPU0\t X \tNV18\tPIX\tNODE\tSYS\tSYS\t0-15\t0\t\tN/A",
        "GPU1\tNV18\t X \tSYS\tSYS\tPHB\tPHB\t0-15\t0\t\tN/A",
        "NIC0\tPIX\tSYS\t X \tNODE\tSYS\tSYS\t\t\t\t",
        "NIC1\tNODE\tSYS\tNODE\t X \tSYS\tSYS\t\t\t\t",
        "NIC2\tSYS\tPHB\tSYS\tSYS\t X \tPIX\t\t\t\t",
        "NIC3\tSYS\tPHB\tSYS\tSYS\tPIX\t X \t\t\t\t",
    ]
    legend = "\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_2\n  NIC2: mlx5_10\n  NIC3: mlx5_11\n\n"
    assert result.out.endswith("  NV#  = Connection traversing a bonded set of # NVLinks\n" + legend)
    pci = topo("--sysroot", root, "topo", "-mp", scenario=two)
    assert pci.lines[1] == "GPU0\t X \tSYS\tPIX\tNODE\tSYS\tSYS\t0-15\t0\t\tN/A"
    assert pci.out.endswith("at most a single PCIe bridge\n" + legend)


def test_without_adapters_nothing_is_said_of_them(tmp_path: Path) -> None:
    result = topo("--sysroot", tmp_path, "topo", "-m")
    assert "NIC" not in result.out and result.out.endswith("bonded set of # NVLinks\n")
