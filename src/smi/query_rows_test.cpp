// SPDX-License-Identifier: Apache-2.0
#include "smi/query_row.hpp"

#include <gtest/gtest.h>

#include <set>

#include "metric/state_names.hpp"
#include "smi/csv_columns.hpp"
#include "smi/testing_values.hpp"

namespace gpulse::smi {
namespace {

std::vector<QueryField> all_fields() {
  std::vector<QueryField> fields;
  for (std::size_t kind = 0; kind < kQueryKinds; ++kind) {
    const auto some = fields_of(static_cast<QueryKind>(kind));
    fields.insert(fields.end(), some.begin(), some.end());
  }
  return fields;
}

Column column(std::string_view title) { return csv_columns({title}).front(); }

TEST(QueryRows, EveryFieldIsAColumnOfCsv) {
  for (const auto &field : all_fields()) {
    for (const auto title : {field.name, field.alias}) {
      // In a list of processes `name` is the program's.
      if (title.empty() || title == "name") continue;
      const auto found = column(title);
      if (field.metric) {
        EXPECT_EQ(found.what, Column::What::metric) << title;
        EXPECT_EQ(found.metric, *field.metric) << title;
        EXPECT_EQ(found.mask, field.mask) << title;
        EXPECT_EQ(found.form.print, field.form.print) << title;
      } else {
        EXPECT_EQ(found.fact, field.fact) << title;
      }
    }
  }
}

TEST(QueryRows, EveryNameOfAMetricIsAFieldOfQueryGpu) {
  std::set<std::string_view> names;
  for (const auto &field : fields_of(QueryKind::gpu)) EXPECT_TRUE(names.insert(field.name).second) << field.name;
  for (const auto scope : {Scope::device, Scope::detail}) {
    for_each_metric(scope, [&](MetricId, const Metric &metric) {
      EXPECT_TRUE(metric.smi.empty() || names.contains(metric.smi)) << metric.smi;
    });
  }
}

TEST(QueryRows, WhatIsPrintedIsReadBackWithAndWithoutItsUnit) {
  std::mt19937 random(1);  // the same every time
  for (const auto &field : all_fields()) {
    if (!field.metric || is_text(describe(*field.metric))) continue;
    const std::string unit(field.form.unit);
    const auto title = std::string(field.name) + (unit.empty() ? "" : " [" + unit + "]");
    const auto found = column(title);
    EXPECT_EQ(found.unit, unit);
    for (int turn = 0; turn < 100; ++turn) {
      const auto value = field.mask != 0 ? static_cast<double>(random() % 3) : plausible_value(*field.metric, random);
      const auto text = field.form.print(value);
      if (reason_in(text)) continue;
      const auto bare = read(found.metric, found.form, text, found.unit);
      ASSERT_TRUE(bare) << field.name << ": " << text;
      EXPECT_EQ(field.form.print(bare.value()), text) << field.name;
      EXPECT_EQ(read(found.metric, found.form, text + " " + unit, ""), bare) << field.name << ": " << text;
    }
  }
}

TEST(QueryRows, OlderTitles) {
  EXPECT_EQ(column("vbios").metric, device_metric("vbios_version"));
  EXPECT_EQ(column("display_mode").told, "display_mode");
  EXPECT_EQ(column("clocks_throttle_reasons.unknown").mask, state_names::throttle_bit("other"));
  EXPECT_EQ(column("clocks_throttle_reasons.user_defined_clocks").mask,
            state_names::throttle_bit("application clocks"));
  EXPECT_EQ(column("clocks_event_reasons.perhaps").what, Column::What::ignored);
}

}  // namespace
}  // namespace gpulse::smi
