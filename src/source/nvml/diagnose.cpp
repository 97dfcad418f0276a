// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/diagnose.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.hpp"
#include "source/nvml/code.hpp"
#include "source/nvml/sleep.hpp"

namespace gpulse::nvml {

namespace {

constexpr std::string_view kControl = "/dev/nvidiactl";

// libnvidia-ml.so.580.159.04 → 580.159.04
std::string version_of_file(const std::string &path) {
  std::array<char, 4096> real{};
  const std::string name = ::realpath(path.c_str(), real.data()) != nullptr ? real.data() : path;
  const auto at = name.rfind(".so.");
  const auto version = at == std::string::npos ? std::string() : name.substr(at + 4);
  return version.contains('.') ? version : std::string();
}

bool looks_like_version(std::string_view word) {
  return word.contains('.') && !word.empty() &&
         std::all_of(word.begin(), word.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

}  // namespace

std::string kernel_module_version(const Sysroot &root) {
  const auto text = root.read("/proc/driver/nvidia/version");
  if (!text) return {};
  const auto line = std::string_view(*text).substr(0, text->find('\n'));
  for (const auto word : split_words(line)) {
    if (looks_like_version(word)) return std::string(word);
  }
  return {};
}

std::string scenario_mistake(const SharedLibrary &library) {
  const auto error = reinterpret_cast<const char *(*)()>(library.symbol("gpulse_sim_error"));
  if (error == nullptr) return {};
  constexpr std::string_view kPrefix = "gpulse-sim: ";
  const std::string text = error();
  return text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text;
}

Problem no_library(const Sysroot &root, const std::string &why) {
  // Only then it is not there; too many open files, no permission or a damaged file are other matters.
  const bool missing = why.starts_with("libnvidia-ml.so.1: ") && why.ends_with("No such file or directory");
  if (!missing) return {"NVIDIA driver library could not be loaded", why};
  const bool module = !kernel_module_version(root).empty();
  const bool hardware = !list_gpus(root).empty();
  if (module) {
    return {"NVIDIA driver library not found (libnvidia-ml.so.1) though the kernel module is loaded",
            "install the driver's user-space package, or in a container pass the driver in (--gpus all)"};
  }
  if (hardware) return {"NVIDIA driver not installed", "install the driver for the NVIDIA GPU in this machine"};
  return {"NVIDIA driver not installed", "no NVIDIA GPU was seen", true};
}

Problem no_init(const Sysroot &root, Return code, const std::string &library_version, const std::string &library_path) {
  const auto module = kernel_module_version(root);
  const bool control = root.exists(kControl);
  switch (code) {
    case Return::lib_rm_version_mismatch: {
      auto library = library_version.empty() ? version_of_file(library_path) : library_version;
      return {fmt::format("NVIDIA driver version mismatch (kernel module {}, library {})",
                          module.empty() ? "unknown" : module, library.empty() ? "unknown" : library),
              "reboot, or reload the nvidia kernel modules"};
    }
    case Return::no_permission:
    case Return::operating_system:
      return {"no permission to use the NVIDIA driver",
              "check the rights on /dev/nvidia*, or the container's device rules"};
    case Return::gpu_not_found:
      return {"NVIDIA driver loaded, but it found no GPU", "check that the GPU is seated and powered"};
    default:
      break;
  }
  if (!module.empty() && !control) {
    return {"NVIDIA driver loaded, but this container has no GPU devices",
            "start it with --gpus all, or give it /dev/nvidia*"};
  }
  if (control && ::access(root.path(kControl).c_str(), R_OK | W_OK) != 0) {
    return {"no permission to open /dev/nvidiactl", "check the rights on /dev/nvidia*"};
  }
  if (code == Return::driver_not_loaded || module.empty()) {
    return {fmt::format("NVIDIA driver not loaded{}",
                        code == Return::driver_not_loaded ? "" : fmt::format(" ({})", code_text(code))),
            "load it: modprobe nvidia", module.empty() && list_gpus(root).empty()};
  }
  return {fmt::format("NVIDIA driver refused to start: {} (code {})", code_text(code), static_cast<unsigned>(code)),
          "see the kernel log; in a container, restart it"};
}

Problem no_count(Return code) {
  if (code == Return::no_permission || code == Return::operating_system) {
    return {"no permission to use the NVIDIA driver",
            "check the rights on /dev/nvidia*, or the container's device rules"};
  }
  return {
      fmt::format("NVIDIA driver does not count its GPUs: {} (code {})", code_text(code), static_cast<unsigned>(code)),
      "see the kernel log"};
}

}  // namespace gpulse::nvml
