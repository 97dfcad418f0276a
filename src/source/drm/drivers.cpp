// SPDX-License-Identifier: Apache-2.0
#include "source/drm/drivers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/text.hpp"

namespace gpulse::drm {

namespace {

constexpr std::array kDrivers{
    Driver{"panfrost", "arm", "Arm Mali", true},
    Driver{"panthor", "arm", "Arm Mali", true},
    Driver{"lima", "arm", "Arm Mali", true},
    Driver{"v3d", "broadcom", "Broadcom V3D", true},
    Driver{"vc4-drm", "broadcom", "Broadcom VideoCore IV", true},
    Driver{"msm", "qualcomm", "Qualcomm Adreno", true},
    Driver{"msm_dpu", "qualcomm", "Qualcomm Adreno", true},
    Driver{"msm_mdp", "qualcomm", "Qualcomm Adreno", true},
    Driver{"msm-mdss", "qualcomm", "Qualcomm Adreno", true},
    Driver{"adreno", "qualcomm", "Qualcomm Adreno", true},
    Driver{"etnaviv", "vivante", "Vivante", true},
    Driver{"etnaviv-gpu", "vivante", "Vivante", true},
    Driver{"powervr", "imagination", "Imagination PowerVR", true},
    Driver{"asahi", "apple", "Apple AGX", true},
    Driver{"RKNPU", "rockchip", "Rockchip NPU", true},
    Driver{"rocket", "rockchip", "Rockchip NPU", true},
    Driver{"ethosu", "arm", "Arm Ethos-U", true},
    Driver{"nouveau", "nvidia", "NVIDIA GPU"},
    Driver{"amdxdna", "amd", "AMD NPU"},
    Driver{"qaic", "qualcomm", "Qualcomm Cloud AI"},
    Driver{"habanalabs", "habana", "Habana Gaudi"},
    Driver{"tenstorrent", "tenstorrent", "Tenstorrent"},
};

// Each has a source of its own.
constexpr std::array<std::string_view, 16> kOthers{"amdgpu", "radeon",     "i915",      "xe",    "intel_vpu", "ivpu",
                                                   "nvidia", "nvidia-drm", "tegra",     "nvgpu", "gk20a",     "gp10b",
                                                   "gv11b",  "ga10b",      "tegra-drm", "host1x"};

// Displays without a GPU, and the virtual ones of machines that have none.
constexpr std::array<std::string_view, 19> kDisplays{"simpledrm",  "simple-framebuffer",
                                                     "ofdrm",      "efidrm",
                                                     "vesadrm",    "vkms",
                                                     "vgem",       "ast",
                                                     "mgag200",    "bochs",
                                                     "bochs-drm",  "cirrus",
                                                     "qxl",        "virtio_gpu",
                                                     "virtio-pci", "hyperv_drm",
                                                     "vboxvideo",  "udl",
                                                     "gud"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kMakers{{
    {"arm", "Arm"},
    {"brcm", "Broadcom"},
    {"qcom", "Qualcomm"},
    {"fsl", "NXP"},
    {"nxp", "NXP"},
    {"img", "Imagination"},
    {"mediatek", "MediaTek"},
    {"hisilicon", "HiSilicon"},
    {"nvidia", "NVIDIA"},
    {"ti", "TI"},
    {"st", "ST"},
    {"xlnx", "Xilinx"},
    {"amd", "AMD"},
    {"starfive", "StarFive"},
}};

template <std::size_t N>
bool contains(const std::array<std::string_view, N> &names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string capitalized(std::string_view word) {
  std::string text(word);
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

// Chips and abbreviations get capitals ("rk3588", "agx"), words do not ("mali").
std::string plain_word(std::string_view word) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (word.size() > 3 && std::none_of(word.begin(), word.end(), is_digit)) return capitalized(word);
  std::string text(word);
  for (auto &c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string plain_maker(std::string_view maker) {
  const auto *const known =
      std::find_if(kMakers.begin(), kMakers.end(), [&](const auto &m) { return m.first == maker; });
  return known == kMakers.end() ? capitalized(maker) : std::string(known->second);
}

}  // namespace

Driver describe_driver(const Card &card) {
  const auto *const known =
      std::find_if(kDrivers.begin(), kDrivers.end(), [&](const Driver &d) { return d.name == card.driver; });
  if (known != kDrivers.end()) return *known;
  return {.name = card.driver, .vendor = card.driver, .device = card.driver, .on_chip = false};
}

bool may_be_generic(std::string_view driver) { return !contains(kOthers, driver) && !contains(kDisplays, driver); }

bool is_generic(const Card &card) {
  if (!may_be_generic(card.driver)) return false;
  // Without a render node it can only drive a display.
  const auto is_worker = [](const Node &node) { return node.major != kDrmMajor || node.minor >= 128; };
  return card.nodes.empty() || std::any_of(card.nodes.begin(), card.nodes.end(), is_worker);
}

std::string plain_name(std::string_view compatible) {
  // On Qualcomm chips the card is the display; the GPU behind it is another device.
  for (const auto *display : {"-mdss", "-dpu", "-mdp", "display-subsystem"}) {
    if (compatible.find(display) != std::string_view::npos) return {};
  }
  const auto comma = compatible.find(',');
  if (comma == std::string_view::npos) return {};
  auto name = plain_maker(compatible.substr(0, comma));
  auto rest = compatible.substr(comma + 1);
  while (!rest.empty()) {
    const auto word = next_piece(rest, '-');
    if (!word.empty()) name += " " + plain_word(word);
  }
  return name;
}

}  // namespace gpulse::drm
