// SPDX-License-Identifier: Apache-2.0
#include "smi/log_row.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "base/text.hpp"
#include "smi/testing_values.hpp"
#include "test_paths.hpp"

namespace gpulse::smi {
namespace {

std::vector<LogRow> rows_with_a_metric() {
  std::vector<LogRow> rows;
  for (const auto table : {log_rows(), instance_rows()}) {
    for (const auto &row : table) {
      if (row.kind == RowKind::value && row.metric && !is_text(describe(*row.metric))) rows.push_back(row);
    }
  }
  return rows;
}

// With its unit, as it stands in the log.
std::string printed(const Form &form, double value) {
  return form.unit.empty() ? form.print(value) : form.print(value) + " " + std::string(form.unit);
}

TEST(LogRows, WhatIsPrintedIsReadBack) {
  std::mt19937 random(1);  // the same every time
  for (const auto &row : rows_with_a_metric()) {
    const auto &form = row.form_in_xml();
    int values = 0;
    for (int turn = 0; turn < 200; ++turn) {
      const auto any = row.mask != 0 ? static_cast<double>(random() % 3) : plausible_value(*row.metric, random);
      const auto value = turn == 0 ? 0 : any;  // of some metrics all but 0 is an error
      if (reason_in(form.print(value))) continue;
      const auto text = printed(form, value);
      const auto reading = read(*row.metric, form, text);
      ASSERT_TRUE(reading) << row.tag << ": " << text;
      EXPECT_EQ(printed(form, reading.value()), text) << row.tag;
      EXPECT_EQ(read(*row.metric, form, printed(form, reading.value())), reading) << row.tag << ": " << text;
      ++values;
    }
    EXPECT_GT(values, 0) << row.tag;
  }
}

TEST(LogRows, NumbersSurviveUpToTheDigitsThatArePrinted) {
  std::mt19937 random(2);
  for (const auto &row : rows_with_a_metric()) {
    const auto unit = describe(*row.metric).unit;
    if (row.mask != 0 || unit == Unit::none) continue;
    const auto step = unit == Unit::bytes              ? 1048576.0
                      : unit == Unit::bytes_per_second ? 1000.0
                      : unit == Unit::seconds          ? (row.form.print == print::timestamp ? 1 : 1e-3)
                      : unit == Unit::watts            ? 0.01
                                                       : 0.0;
    for (int turn = 0; turn < 50; ++turn) {
      const auto value = plausible_value(*row.metric, random);
      EXPECT_NEAR(read(*row.metric, row.form, printed(row.form, value)).value_or(-1), value, step) << row.tag;
    }
  }
}

TEST(LogRows, ElementsOfAGroupHaveNamesOfTheirOwn) {
  for (const auto table : {log_rows(), instance_rows()}) {
    std::vector<std::set<std::string_view>> names(8);
    for (const auto &row : table) {
      for (std::size_t below = row.depth + 1U; below < names.size(); ++below) {
        if (row.kind != RowKind::value) names[below].clear();
      }
      if (row.tag.empty()) continue;
      EXPECT_TRUE(names.at(row.depth).insert(row.tag).second) << row.tag;
    }
  }
}

// The names of elements in NVIDIA's DTD v13 and in logs of other versions.
std::set<std::string> known_elements() {
  std::set<std::string> names{"gpu_reset_status", "edpp_multiplier", "grid_licensed_product", "memory_usage",
                              "compute_processes"};
  for (const auto *reason :
       {"applications_clocks_setting", "sw_power_cap", "hw_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown",
        "sync_boost", "sw_thermal_slowdown", "display_clocks_setting", "unknown"}) {
    names.insert(std::string("clocks_throttle_reason_") + reason);
  }
  const auto add = [&](const std::filesystem::path &path, const std::regex &pattern) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) names.insert((*at)[1]);
  };
  const std::filesystem::path root(kSourceDir);
  add(root / "tests/data/h200/nvsmi_device.dtd", std::regex("<!ELEMENT\\s+(\\w+)"));
  add(root / "src/smi/read_xml_corpus/old.xml", std::regex("<(\\w+)"));
  return names;
}

TEST(LogRows, WhatIsReadHasBeenWrittenBySomeVersion) {
  const auto known = known_elements();
  ASSERT_GT(known.size(), 300U);
  const auto check = [&](std::string_view path) {
    for (const auto name : split(path, '/')) EXPECT_TRUE(known.contains(std::string(name))) << path;
  };
  for (const auto table : {log_rows(), instance_rows()}) {
    for (const auto &row : table) {
      if (!row.tag.empty()) check(row.tag);
    }
  }
  for (const auto elements : {read_only_elements(), read_only_instance_elements()}) {
    for (const auto &element : elements) {
      EXPECT_NE(element.form.parse, nullptr);
      for (const auto path : element.paths) {
        if (!path.empty()) check(path);
      }
    }
  }
}

TEST(LogRows, ReasonsForLowerClocksByName) {
  EXPECT_EQ(event_reason_bit("sw_power_cap"), 4U);
  EXPECT_EQ(event_reason_bit("display_clocks_setting"), 256U);
  EXPECT_EQ(event_reason_bit("user_defined_clocks"), 2U);
  EXPECT_EQ(event_reason_bit("power_cap"), 0U);
  EXPECT_EQ(event_reason_bit(""), 0U);
}

}  // namespace
}  // namespace gpulse::smi
