// SPDX-License-Identifier: Apache-2.0
#include "cli/smi_refusal.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/output.hpp"
#include "view/smi/cell.hpp"

namespace gpulse::cli {

int say(const SmiRefusal &refusal) {
  if (auto written = write_out(refusal.text); !written) return fail(written.error());
  if (!refusal.own.empty()) complain(refusal.own);
  return refusal.code;
}

SmiRefusal nothing_found(const Snapshot &snapshot) {
  for (const auto &source : snapshot.sources) {
    if (source.name == "agent")
      return {fmt::format("No devices were found: {}\n", Error{source.problem, source.remedy}.line()), kNotFound};
    if (source.hangs)
      return {fmt::format("The driver does not answer: {}\n", Error{source.problem, source.remedy}.line()), kOther};
  }
  const auto driver = std::find_if(snapshot.sources.begin(), snapshot.sources.end(),
                                   [](const SourceStatus &source) { return source.code != 0; });
  if (driver == snapshot.sources.end()) return {"No devices were found\n", kNotFound};
  switch (driver->code) {
    case kNoDriver:
      return {
          "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest "
          "NVIDIA driver is installed and running.\n\n",
          kNoDriver};
    case kNoLibrary:
      return {
          "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the NVIDIA Display "
          "Driver is properly installed and present in your system.\nPlease also try adding directory that contains "
          "libnvidia-ml.so to your system PATH.\n\n",
          kNoLibrary};
    default:
      return {fmt::format("Failed to initialize NVML: {}\n", view::smi::driver_words(driver->code)),
              std::min<int>(driver->code, kOther)};
  }
}

}  // namespace gpulse::cli
