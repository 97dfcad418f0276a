// SPDX-License-Identifier: Apache-2.0
#include "model/nvml_error.hpp"

#include <gtest/gtest.h>

namespace gpulse {
namespace {

TEST(NvmlError, EveryCodeIsFoundByItsWords) {
  for (std::uint32_t code = 0; code <= 30; ++code) {
    const auto &error = nvml_error(code);
    EXPECT_EQ(error.code, code);
    EXPECT_FALSE(error.text.empty());
    ASSERT_NE(find_nvml_error(error.smi_words), nullptr);
    EXPECT_EQ(find_nvml_error(error.smi_words)->code, code);
  }
}

TEST(NvmlError, ACodeWithoutAnEntryIsAnUnknownError) {
  for (const std::uint32_t code : {31U, 998U, 999U, 0xFFFFFFFFU}) {
    EXPECT_EQ(nvml_error(code).text, "unknown error");
    EXPECT_EQ(nvml_error(code).smi_words, "Unknown Error");
  }
}

TEST(NvmlError, WordsInAnyCase) {
  EXPECT_EQ(find_nvml_error("gpu IS lost")->code, nvml_code::kLost);
  EXPECT_EQ(find_nvml_error("GPU is"), nullptr);
  EXPECT_EQ(find_nvml_error(""), nullptr);
}

}  // namespace
}  // namespace gpulse
