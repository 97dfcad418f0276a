// SPDX-License-Identifier: Apache-2.0
#include "source/drm/drivers.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace gpulse::drm {

namespace {

Card card(std::string driver, std::vector<Node> nodes = {{kDrmMajor, 0}, {kDrmMajor, 128}}) {
  Card made;
  made.driver = std::move(driver);
  made.nodes = std::move(nodes);
  return made;
}

TEST(Drivers, NamesOfTheDeviceTreeInPlainWords) {
  for (const auto &[compatible, name] : {
           std::pair{"brcm,2712-v3d", "Broadcom 2712 V3D"},
           {"arm,mali-valhall-csf", "Arm Mali Valhall CSF"},
           {"rockchip,rk3588-mali", "Rockchip RK3588 Mali"},
           {"amlogic,meson-g12a-mali", "Amlogic Meson G12A Mali"},
           {"qcom,adreno-630.2", "Qualcomm Adreno 630.2"},
           {"apple,agx-t8103", "Apple AGX T8103"},
           {"vivante,gc", "Vivante GC"},
           {"qcom,sdm845-mdss", ""},
           {"qcom,sm8250-dpu", ""},
           {"nocomma", ""},
           {"", ""},
       }) {
    EXPECT_EQ(plain_name(compatible), name) << compatible;
  }
}

TEST(Drivers, LeavesOthersToTheirSources) {
  for (const auto *driver : {"amdgpu", "radeon", "i915", "xe", "intel_vpu", "nvidia"}) {
    EXPECT_FALSE(is_generic(card(driver))) << driver;
  }
  for (const auto *driver : {"v3d", "panfrost", "panthor", "msm_dpu", "nouveau", "asahi", "never-heard-of"}) {
    EXPECT_TRUE(is_generic(card(driver))) << driver;
  }
  EXPECT_TRUE(is_generic(card("amdxdna", {{kAccelMajor, 0}})));
}

TEST(Drivers, HidesWhatOnlyShowsAPicture) {
  for (const auto *driver : {"simple-framebuffer", "vkms", "ast", "mgag200", "bochs-drm", "virtio_gpu"}) {
    EXPECT_FALSE(is_generic(card(driver))) << driver;
  }
  // Without a render node any driver's device only drives a display.
  EXPECT_FALSE(is_generic(card("vc4-drm", {{kDrmMajor, 1}})));
}

TEST(Drivers, KnowsTheMaker) {
  for (const auto &[driver, vendor] : {std::pair{"panthor", "arm"},
                                       {"v3d", "broadcom"},
                                       {"msm_dpu", "qualcomm"},
                                       {"nouveau", "nvidia"},
                                       {"asahi", "apple"},
                                       {"amdxdna", "amd"},
                                       {"unheard", "unheard"}}) {
    EXPECT_EQ(describe_driver(card(driver)).vendor, vendor);
  }
}

}  // namespace

}  // namespace gpulse::drm
