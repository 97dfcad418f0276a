// SPDX-License-Identifier: Apache-2.0
#include "source/host/process_text.hpp"

#include <gtest/gtest.h>

#include <random>

#include "base/process_stat.hpp"
#include "base/text.hpp"

namespace gpulse::host {
namespace {

const std::string kId = "3f4e1a2b5c6d7e8f90112233445566778899aabbccddeeff0011223344556677";
const std::string kOther = "a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b1";
const std::string kShort = "3f4e1a2b5c6d";
const std::string kUid = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0";
const std::string kUidSlice = "0f1e2d3c_4b5a_6978_8796_a5b4c3d2e1f0";

TEST(ParseCommand, BlanksBetweenArguments) {
  EXPECT_EQ(parse_command(std::string_view("python3\0train.py\0--lr\0", 22)), "python3 train.py --lr");
  EXPECT_EQ(parse_command(std::string_view("nginx: worker   \0\0\0", 19)), "nginx: worker");
  EXPECT_EQ(parse_command(std::string_view("\0\0", 2)), "");
  EXPECT_EQ(parse_command("a\x1B]0;owned\x07\xFF"), "a ]0;owned \uFFFD");
}

TEST(ParseStatusUser, Effective) {
  EXPECT_EQ(parse_status_user("Name:\tUid:\nUmask:\t0022\nUid:\t1000\t1001\t1002\t1003\nGid:\t7\n"), 1001U);
  EXPECT_EQ(parse_status_user("Name:\tx\n"), std::nullopt);
  EXPECT_EQ(parse_status_user("Uid:\t1000\n"), std::nullopt);
}

TEST(ParseStatusInnerPids, AllButTheFirst) {
  using Pids = std::vector<std::uint32_t>;
  EXPECT_EQ(parse_status_inner_pids("Name:\tx\nNStgid:\t9\t8\nNSpid:\t560\t12\t1\nNSpgid:\t7\t6\n"), (Pids{12, 1}));
  EXPECT_EQ(parse_status_inner_pids("NSpid:\t560\n"), Pids{}) << "lives in /proc's own namespace";
  EXPECT_EQ(parse_status_inner_pids("NSpid:\t560\t4294967295"), Pids{4294967295U});
  EXPECT_EQ(parse_status_inner_pids("Name:\tNSpid:\t1\t2\n"), Pids{}) << "a name";
  EXPECT_EQ(parse_status_inner_pids("Name:\tx\n"), Pids{}) << "before Linux 4.1";
}

TEST(ParseStatusInnerPids, NonsenseIsNone) {
  using Pids = std::vector<std::uint32_t>;
  for (const auto *line : {"NSpid:", "NSpid:\t560\tx", "NSpid:\t560\t12\t-1", "NSpid:\t560\t4294967296"}) {
    EXPECT_EQ(parse_status_inner_pids(line), Pids{}) << line;
  }
  std::string deep = "NSpid:\t560";
  for (int i = 0; i < 32; ++i) deep += "\t7";
  EXPECT_EQ(parse_status_inner_pids(deep), Pids(32, 7));
  EXPECT_EQ(parse_status_inner_pids(deep + "\t7"), Pids{}) << "deeper than the kernel nests";
}

TEST(FindUser, ThirdField) {
  constexpr auto kPasswd = "root:x:0:0::/root:/bin/sh\nbroken\nann:x:1000:1000::/home/ann:/bin/sh\n";
  EXPECT_EQ(find_user(kPasswd, 1000), "ann");
  EXPECT_EQ(find_user(kPasswd, 0), "root");
  EXPECT_EQ(find_user(kPasswd, 7), "");
}

struct Case {
  std::string cgroup;
  Placement expected;
};

void PrintTo(const Case &test, std::ostream *out) { *out << test.cgroup; }

class Cgroup : public testing::TestWithParam<Case> {};

TEST_P(Cgroup, IsPlaced) {
  const auto found = parse_cgroup(GetParam().cgroup);
  const auto &expected = GetParam().expected;
  EXPECT_EQ(found.container, expected.container);
  EXPECT_EQ(found.pod, expected.pod);
  EXPECT_EQ(found.job, expected.job);
  EXPECT_EQ(found.unit, expected.unit);
}

Placement in(std::string container, std::string pod = "") { return {std::move(container), std::move(pod), "", ""}; }
Placement job(std::string number, std::string unit = "") { return {"", "", std::move(number), std::move(unit)}; }

INSTANTIATE_TEST_SUITE_P(
    Nowhere, Cgroup,
    testing::Values(
        Case{"", {}}, Case{"0::/\n", {}}, Case{"nonsense\n", {}},
        Case{"0::/user.slice/user-1000.slice/session-3.scope\n", {}},
        Case{"0::/user.slice/user-1000.slice/user@1000.service/init.scope\n", {}},
        Case{"0::/user.slice/user-0.slice/user@0.service/app.slice/app-term-1.scope\n", {}},
        Case{"0::/machine.slice/libpod-conmon-" + kId + ".scope\n", {}}, Case{"0::/lxc.monitor.web\n", {}},
        Case{"0::/docker/" + kId.substr(1) + "\n", {}}, Case{"0::/x" + kId + "\n", {}}, Case{"0::/job_12\n", {}},
        Case{"0::/lxc\n", {}}, Case{"0::/slurm/uid_0/job_12x\n", {}}, Case{"0::/pod" + kUid + "\n", {}},
        Case{"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-conmon-" + kId + ".scope\n", {}},
        Case{"0::/system.slice/crio-conmon-" + kId + ".scope\n", {}},
        Case{"0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-r5f0c.scope\n", {}},
        Case{"0::/user.slice/user-1000.slice/user@1000.service/tmux-spawn-1b2c.scope\n", {}},
        Case{R"(0::/machine.slice/machine-qemu\x2d3\x2dgamer.scope/libvirt/emulator)"
             "\n",
             {}},
        Case{"0::/machine.slice\n", {}}, Case{"0::/init.scope\n", {}}));

INSTANTIATE_TEST_SUITE_P(
    Containers, Cgroup,
    testing::Values(Case{"12:devices:/docker/" + kId + "\n11:pids:/docker/" + kId + "\n", in(kShort)},
                    Case{"1:name=systemd:/docker/" + kId + "\n0::/system.slice/containerd.service\n", in(kShort)},
                    Case{"0::/system.slice/docker-" + kId + ".scope\n", in(kShort)},
                    Case{"0::/system.slice/docker-" + kId + ".scope (deleted)\n", in(kShort)},
                    Case{"0::/machine.slice/libpod-" + kId + ".scope/container\n", in(kShort)},
                    Case{"0::/system.slice/web.service/libpod-payload-" + kId + "\n", in(kShort)},
                    Case{"0::/system.slice/nerdctl-" + kId + ".scope\n", in(kShort)},
                    Case{"0::/../" + kId + "\n", in(kShort)}, Case{"0::/lxc/web-1\n", in("web-1")},
                    Case{"0::/lxc.payload.web-1/init.scope\n", in("web-1")},
                    Case{"0::/lxc.payload/web-1\n", in("web-1")},
                    Case{"0::/lxc/web\x1B/docker/" + kId + "\n", in(kShort)}, Case{"0::/lxc/a\x1B\n", in("a ")}));

// One line from a real machine for each container engine and each way to set it up.
INSTANTIATE_TEST_SUITE_P(
    Engines, Cgroup,
    testing::Values(
        // Docker: version 1 under cgroupfs and systemd, version 2 under both, rootless, in a container's own namespace.
        Case{"13:cpuset:/docker/" + kId + "\n12:devices:/docker/" + kId + "\n0::/docker/" + kId + "\n", in(kShort)},
        Case{"9:cpu,cpuacct:/system.slice/docker-" + kId + ".scope\n0::/system.slice/docker-" + kId + ".scope\n",
             in(kShort)},
        Case{"0::/docker/" + kId + "\n", in(kShort)},
        Case{"0::/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" + kId + ".scope\n", in(kShort)},
        Case{"0::/../../system.slice/docker-" + kId + ".scope\n", in(kShort)},
        Case{"0::/actions_job/" + kId + "\n", in(kShort)},
        // Podman: root, rootless, in a pod, under cgroupfs, as a service.
        Case{"0::/machine.slice/libpod-" + kId + ".scope\n", in(kShort)},
        Case{"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + kId + ".scope/container\n",
             in(kShort)},
        Case{"0::/machine.slice/machine-libpod_pod_" + kOther + ".slice/libpod-" + kId + ".scope/container\n",
             in(kShort)},
        Case{"0::/libpod_parent/" + kOther + "/libpod-" + kId + "\n", in(kShort)},
        Case{"4:memory:/libpod_parent/libpod-" + kId + "\n", in(kShort)},
        // containerd without Kubernetes; a container in a container.
        Case{"0::/k8s.io/" + kId + "\n", in(kShort)},
        Case{"0::/docker/" + kOther + "/docker/" + kId + "\n", in(kShort)},
        Case{"0::/lxc.payload.ci/system.slice/docker-" + kId + ".scope\n", in(kShort)},
        // LXC, LXD with a project, Proxmox.
        Case{"0::/lxc.payload.train_gpu1/system.slice/ssh.service\n", in("train_gpu1")},
        Case{"3:cpuset:/lxc.payload/gpu1\n", in("gpu1")}, Case{"0::/lxc/101/ns/init.scope\n", in("101")},
        // systemd-nspawn, by hand and as a service; libvirt's LXC.
        Case{"0::/machine.slice/machine-bookworm.scope/payload/system.slice/train.service\n", in("bookworm")},
        Case{R"(1:name=systemd:/machine.slice/machine-my\x2dbox.scope)"
             "\n",
             in("my-box")},
        Case{"0::/machine.slice/systemd-nspawn@build.service/payload\n", in("build")},
        Case{R"(0::/machine.slice/machine-lxc\x2d4242\x2dweb.scope)"
             "\n",
             in("lxc-4242-web")},
        Case{R"(0::/machine.slice/machine-a\x1b\x2.scope)"
             "\n",
             in("a  ")}));

INSTANTIATE_TEST_SUITE_P(
    Pods, Cgroup,
    testing::Values(
        Case{"4:memory:/kubepods/burstable/pod" + kUid + "/" + kId + "\n", in(kShort, kUid)},
        Case{"0::/kubepods/pod0123456789abcdef0123456789abcdef/" + kId + "\n",
             in(kShort, "0123456789abcdef0123456789abcdef")},
        Case{"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + kUidSlice +
                 ".slice/cri-containerd-" + kId + ".scope\n",
             in(kShort, kUid)},
        Case{"0::/kubepods.slice/kubepods-pod" + kUidSlice + ".slice/crio-" + kId + ".scope\n", in(kShort, kUid)},
        Case{"1:name=systemd:/system.slice/containerd.service/kubepods-besteffort-pod" + kUidSlice +
                 ".slice:cri-containerd:" + kId + "\n",
             in(kShort, kUid)},
        Case{"0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + kUidSlice + ".slice/cri-containerd-" +
                 kId + ".scope\n",
             in(kShort, kUid)},
        Case{"0::/kubepods.slice/kubepods-pod" + kUidSlice + ".slice\n", in("", kUid)},
        // containerd under systemd, version 1; CRI-O under cgroupfs; kind: a node that is a container.
        Case{"11:devices:/kubepods-burstable-pod" + kUidSlice + ".slice:cri-containerd:" + kId + "\n",
             in(kShort, kUid)},
        Case{"0::/kubepods/besteffort/pod" + kUid + "/crio-" + kId + "\n", in(kShort, kUid)},
        Case{"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + kUidSlice + ".slice/crio-" + kId +
                 ".scope/container\n",
             in(kShort, kUid)},
        Case{"0::/docker/" + kOther + "/kubelet/kubepods/burstable/pod" + kUid + "/" + kId + "\n", in(kShort, kUid)},
        Case{"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + kUidSlice + ".slice/docker-" + kId +
                 ".scope\n",
             in(kShort, kUid)}));

INSTANTIATE_TEST_SUITE_P(
    Jobs, Cgroup,
    testing::Values(
        Case{"9:memory:/slurm/uid_1000/job_4711/step_0/task_0\n1:name=systemd:/system.slice/slurmd.service\n",
             job("4711", "slurmd.service")},
        Case{"9:memory:/slurm_node7/uid_1000/job_4711/step_batch\n", job("4711")},
        Case{"0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n", job("4711")},
        Case{"0::/system.slice/node7_slurmstepd.scope/job_4711/step_extern\n", job("4711")},
        Case{"0::/system.slice/jupyter.service\n", job("", "jupyter.service")},
        Case{"0::/system.slice/system-foo.slice/foo@1.service\n", job("", "foo@1.service")},
        Case{"0::/user.slice/user-1000.slice/user@1000.service/app.slice/train.service\n", job("", "train.service")},
        // A step with a task of its own, the job's own tracker, a job in a container.
        Case{"0::/system.slice/slurmstepd.scope/job_88/step_batch/user/task_special\n", job("88")},
        Case{"11:devices:/slurm/uid_1007/job_88/step_extern\n10:cpuset:/slurm/uid_1007/job_88/step_extern\n",
             job("88")},
        Case{"0::/system.slice/slurmstepd.scope/job_88/step_0/user/task_0/docker/" + kId + "\n",
             {kShort, "", "88", ""}},
        // Scopes that a user named.
        Case{"0::/user.slice/user-1000.slice/user@1000.service/app.slice/train.scope\n", job("", "train.scope")},
        Case{"0::/system.slice/nightly-train.scope\n", job("", "nightly-train.scope")}));

TEST(ParseArguments, AsTheKernelHasThem) {
  using namespace std::string_view_literals;
  using Words = std::vector<std::string>;
  EXPECT_EQ(parse_arguments("python3\0-c\0import this\0\0"sv), (Words{"python3", "-c", "import this", ""}));
  EXPECT_EQ(parse_arguments("sleep\0"sv), Words{"sleep"});
  EXPECT_EQ(parse_arguments("nginx: worker process\0"sv), (Words{"nginx:", "worker", "process"}));
  EXPECT_EQ(parse_arguments("nginx: worker "sv), (Words{"nginx:", "worker"}));
  EXPECT_EQ(parse_arguments("\x1B[1m\xFF\0"sv), Words{"\x1B[1m\xFF"});
  EXPECT_EQ(parse_arguments("\0"sv), Words{""});
  EXPECT_EQ(parse_arguments(""sv), Words{});
}

TEST(ParseEnvironmentJob, WholeNumbersOnly) {
  using namespace std::string_view_literals;
  EXPECT_EQ(parse_environment_job("A=1\0SLURM_JOB_ID=77\0B=2\0"sv), "77");
  EXPECT_EQ(parse_environment_job("SLURM_JOB_ID=77"sv), "77");
  EXPECT_EQ(parse_environment_job("X=SLURM_JOB_ID=77\0"sv), "");
  EXPECT_EQ(parse_environment_job("SLURM_JOB_ID=7;rm\0"sv), "");
  EXPECT_EQ(parse_environment_job("SLURM_JOB_ID=\0"sv), "");
  EXPECT_EQ(parse_environment_job(""sv), "");
}

TEST(ParseAccount, OfTheEnvironmentAndOfAFile) {
  using namespace std::string_view_literals;
  EXPECT_EQ(parse_environment_account("A=1\0SLURM_JOB_ACCOUNT=physics\0B=2\0"sv), Text("physics"));
  EXPECT_EQ(parse_environment_account("SLURM_JOB_ACCOUNT=\0account=x\0"sv), Text());
  EXPECT_EQ(parse_job_account("user=ann\naccount=physics\npartition=gpu\n"), Text("physics"));
  EXPECT_EQ(parse_job_account("account= high energy \r\naccount=other\n"), Text("high energy"));
  EXPECT_EQ(parse_job_account("user=account=x\n"), Text());
  EXPECT_EQ(parse_job_account("account=\x1B[31mred"), Text(" [31mred"));
  EXPECT_EQ(parse_job_account("account=" + std::string(1'000'000, 'a')), Text(std::string(128, 'a')));
}

TEST(ProcessParsers, AnyTextIsSafe) {
  const std::string pieces[] = {"(",
                                ")",
                                " ",
                                "\n",
                                "/",
                                ":",
                                "0::/",
                                kId,
                                "docker-",
                                ".scope",
                                "kubepods-pod",
                                kUidSlice,
                                ".slice",
                                "lxc/",
                                "slurm/job_",
                                "1 ",
                                "S ",
                                "x.service",
                                "machine-",
                                "\\x2d",
                                "Uid:",
                                "NSpid:",
                                "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 ",
                                "SLURM_JOB_ID=",
                                "SLURM_JOB_ACCOUNT=",
                                "account=",
                                std::string(1, '\0')};
  std::mt19937 random(11);
  for (int round = 0; round < 30'000; ++round) {
    std::string text;
    for (auto count = random() % 20; count > 0; --count) {
      text += random() % 4 == 0 ? std::string(1, static_cast<char>(random())) : pieces[random() % std::size(pieces)];
    }
    parse_process_stat(text);
    parse_status_user(text);
    parse_status_inner_pids(text);
    parse_cgroup(text);
    parse_environment_account(text);
    parse_job_account(text);
    parse_environment_job(text);
    find_user(text, 1);
    const auto command = parse_command(text);
    ASSERT_EQ(printable(command), command) << text;
  }
}

TEST(HidesProcesses, AsProcIsMounted) {
  const std::string root = "1 0 8:1 / / rw,hidepid=2 - ext4 /dev/sda1 rw,hidepid=2\n";
  const std::string open = "24 30 0:22 / /proc rw,nosuid shared:12 - proc proc rw\n";
  EXPECT_FALSE(hides_processes(root + open));
  EXPECT_FALSE(hides_processes(""));
  for (const auto *how : {"1", "2", "4", "noaccess", "invisible", "ptraceable"}) {
    EXPECT_TRUE(hides_processes(root + "24 30 0:22 / /proc rw - proc proc rw,gid=5,hidepid=" + how + "\n")) << how;
  }
  for (const auto *how : {"0", "off"}) {
    EXPECT_FALSE(hides_processes("24 30 0:22 / /proc rw - proc proc rw,hidepid=" + std::string(how) + "\n")) << how;
  }
  // The last one lies over the others; one for a container's own folder is not ours.
  EXPECT_FALSE(hides_processes("24 30 0:22 / /proc rw - proc proc rw,hidepid=2\n" + open));
  EXPECT_FALSE(hides_processes(open + "25 30 0:23 / /srv/proc rw - proc proc rw,hidepid=2\n"));
  EXPECT_FALSE(hides_processes("24 30 0:22 / /proc rw nothing else"));
}

}  // namespace
}  // namespace gpulse::host
