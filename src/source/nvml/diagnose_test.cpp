// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/diagnose.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "source/nvml/fake_root.hpp"

namespace gpulse::nvml {
namespace {

using test::FakeRoot;
using testing::HasSubstr;

constexpr auto *kModule =
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\nGCC version: 12.2.0\n";
constexpr auto *kNotThere = "libnvidia-ml.so.1: cannot open shared object file: No such file or directory";

TEST(Diagnose, TheModuleTellsItsVersion) {
  FakeRoot root;
  EXPECT_EQ(kernel_module_version(root.sysroot()), "");
  root.write("/proc/driver/nvidia/version", kModule);
  EXPECT_EQ(kernel_module_version(root.sysroot()), "580.95.05");
  root.write("/proc/driver/nvidia/version", "NVRM version: unknown\n");
  EXPECT_EQ(kernel_module_version(root.sysroot()), "");
}

TEST(Diagnose, NoLibrary) {
  FakeRoot root;
  EXPECT_EQ(no_library(root.sysroot(), kNotThere).what, "NVIDIA driver not installed");
  EXPECT_THAT(no_library(root.sysroot(), kNotThere).remedy, HasSubstr("no NVIDIA GPU was seen"));
  EXPECT_THAT(no_library(root.sysroot(), "wrong ELF class").remedy, HasSubstr("wrong ELF class"));
  root.add_gpu("0000:01:00.0");
  EXPECT_THAT(no_library(root.sysroot(), kNotThere).remedy, HasSubstr("install the driver"));
  for (const std::string why : {"Too many open files", "Permission denied", "Cannot allocate memory"}) {
    const auto problem = no_library(root.sysroot(), "libnvidia-ml.so.1: cannot open shared object file: " + why);
    EXPECT_EQ(problem.what, "NVIDIA driver library could not be loaded");
    EXPECT_THAT(problem.remedy, HasSubstr(why));
    EXPECT_FALSE(problem.absent);
  }
  root.write("/proc/driver/nvidia/version", kModule);
  EXPECT_THAT(no_library(root.sysroot(), kNotThere).what, HasSubstr("though the kernel module is loaded"));
}

TEST(Diagnose, AMismatchNamesBothVersions) {
  FakeRoot root;
  root.write("/proc/driver/nvidia/version", kModule);
  EXPECT_EQ(no_init(root.sysroot(), Return::lib_rm_version_mismatch, "580.159.04", "").what,
            "NVIDIA driver version mismatch (kernel module 580.95.05, library 580.159.04)");
  EXPECT_EQ(no_init(root.sysroot(), Return::lib_rm_version_mismatch, "", "/usr/lib/libnvidia-ml.so.580.159.04").what,
            "NVIDIA driver version mismatch (kernel module 580.95.05, library 580.159.04)");
  EXPECT_EQ(no_init(root.sysroot(), Return::lib_rm_version_mismatch, "", "/usr/lib/libnvidia-ml.so.1").what,
            "NVIDIA driver version mismatch (kernel module 580.95.05, library unknown)");
}

TEST(Diagnose, NoInit) {
  FakeRoot root;
  EXPECT_EQ(no_init(root.sysroot(), Return::driver_not_loaded, "", "").what, "NVIDIA driver not loaded");
  EXPECT_THAT(no_init(root.sysroot(), Return::driver_not_loaded, "", "").remedy, HasSubstr("modprobe nvidia"));
  EXPECT_THAT(no_init(root.sysroot(), Return::no_permission, "", "").what, HasSubstr("no permission"));
  EXPECT_THAT(no_init(root.sysroot(), Return::operating_system, "", "").remedy, HasSubstr("container's device rules"));
  EXPECT_THAT(no_init(root.sysroot(), Return::gpu_not_found, "", "").what, HasSubstr("found no GPU"));
  root.write("/proc/driver/nvidia/version", kModule);
  EXPECT_THAT(no_init(root.sysroot(), Return::unknown, "", "").what, HasSubstr("this container has no GPU devices"));
  root.write("/dev/nvidiactl", "");
  EXPECT_EQ(no_init(root.sysroot(), Return::unknown, "", "").what,
            "NVIDIA driver refused to start: unknown error (code 999)");
}

TEST(Diagnose, NoCount) {
  EXPECT_EQ(no_count(Return::unknown).what, "NVIDIA driver does not count its GPUs: unknown error (code 999)");
  EXPECT_THAT(no_count(Return::no_permission).what, HasSubstr("no permission"));
}

}  // namespace
}  // namespace gpulse::nvml
