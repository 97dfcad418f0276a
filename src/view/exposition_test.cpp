// SPDX-License-Identifier: Apache-2.0
// Which text a scraper gets, and how the two differ.
#include "view/exposition.hpp"

#include <gtest/gtest.h>

namespace gpulse::view {
namespace {

TEST(Exposition, ScrapersGetWhatTheyLikeBest) {
  // As sent by Prometheus 2.42, 3.x, VictoriaMetrics 1.79, curl and browsers.
  EXPECT_EQ(choose_exposition("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
                              "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
            Exposition::openmetrics);
  EXPECT_EQ(choose_exposition("application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/"
                              "openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;"
                              "q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1"),
            Exposition::openmetrics);
  EXPECT_EQ(
      choose_exposition("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding="
                        "delimited;q=0.7,application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;"
                        "q=0.3,*/*;q=0.2"),
      Exposition::openmetrics);
  EXPECT_EQ(choose_exposition("text/plain;version=0.0.4;q=1,*/*;q=0.1"), Exposition::text);
  EXPECT_EQ(choose_exposition("*/*"), Exposition::text);
  EXPECT_EQ(choose_exposition("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"), Exposition::text);
  EXPECT_EQ(choose_exposition(""), Exposition::text);
}

TEST(Exposition, TheFirstOfEqualsAndNothingThatIsRefused) {
  EXPECT_EQ(choose_exposition("application/openmetrics-text, text/plain"), Exposition::openmetrics);
  EXPECT_EQ(choose_exposition("text/plain, application/openmetrics-text"), Exposition::text);
  EXPECT_EQ(choose_exposition("Application/OpenMetrics-Text ; Version=\"1.0.0\" ; Q=0.2, text/plain;q=0.1"),
            Exposition::openmetrics);
  EXPECT_EQ(choose_exposition("application/openmetrics-text;version=2.0.0"), Exposition::text);
  EXPECT_EQ(choose_exposition("application/openmetrics-text;q=0"), Exposition::text);
  EXPECT_EQ(choose_exposition("application/openmetrics-text;q=nan"), Exposition::text);
  EXPECT_EQ(choose_exposition(";;;,,q=1;=;\"application/openmetrics-text"), Exposition::text);
}

TEST(Exposition, ACountersHeadHasNoTotalInOpenMetrics) {
  EXPECT_EQ(head_of(Exposition::text, "x_seconds_total", "a \"b\" \\", true),
            "# HELP x_seconds_total a \"b\" \\\\\n# TYPE x_seconds_total counter\n");
  EXPECT_EQ(head_of(Exposition::openmetrics, "x_seconds_total", "a \"b\" \\", true),
            "# HELP x_seconds a \\\"b\\\" \\\\\n# TYPE x_seconds counter\n# UNIT x_seconds seconds\n");
}

TEST(Exposition, TheUnitIsTheEndOfTheName) {
  const auto ends = [](std::string_view name) { return head_of(Exposition::openmetrics, name, "h"); };
  EXPECT_EQ(
      ends("x_bytes_per_second"),
      "# HELP x_bytes_per_second h\n# TYPE x_bytes_per_second gauge\n# UNIT x_bytes_per_second bytes_per_second\n");
  EXPECT_EQ(ends("x_ratio"), "# HELP x_ratio h\n# TYPE x_ratio gauge\n# UNIT x_ratio ratio\n");
  EXPECT_EQ(ends("x_info"), "# HELP x_info h\n# TYPE x_info gauge\n");
  EXPECT_EQ(ends("gigabytes"), "# HELP gigabytes h\n# TYPE gigabytes gauge\n");
}

TEST(Exposition, LabelsAreEscapedAndEmptyOnesLeftOut) {
  std::string labels;
  append_label(labels, "a", "1\"2\\3\n4");
  append_label(labels, "b", "");
  append_label(labels, "c", "x");
  EXPECT_EQ(labels, R"({a="1\"2\\3\n4",c="x")");
}

}  // namespace
}  // namespace gpulse::view
