// SPDX-License-Identifier: Apache-2.0
#include "view/smi/units.hpp"

#include <fmt/format.h>

#include "view/smi/log_lists.hpp"

namespace gpulse::view::smi {

std::string unit_log(const Selection &selection, bool xml) {
  const auto time = long_time(selection.snapshot->time);
  const auto driver = driver_version(selection);
  const auto cuda = cuda_version(selection);
  if (xml) {
    return fmt::format(
        "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_unit_v13.dtd\">\n<nvidia_smi_log>\n"
        "\t<timestamp>{}</timestamp>\n\t<driver_version>{}</driver_version>\n\t<cuda_version>{}</cuda_version>\n"
        "\t<hic_info>\n\t</hic_info>\n\t<attached_units>0</attached_units>\n</nvidia_smi_log>\n",
        time, xml_escape(driver), xml_escape(cuda));
  }
  return "\n==============NVSMI LOG==============\n\n" + text_line(0, "Timestamp", time) +
         text_line(0, "Driver Version", driver) + text_line(0, "CUDA Version", cuda) + "\n" +
         text_line(0, "HIC Info", kNotAvailable) + text_line(0, "Attached Units", "0") + "\n";
}

}  // namespace gpulse::view::smi
