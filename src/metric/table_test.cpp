// SPDX-License-Identifier: Apache-2.0
#include "metric/table.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace gpulse {
namespace {

TEST(Table, FindsByKeyAndByForeignName) {
  EXPECT_EQ(find_metric(Scope::device, "power_draw_watts"), device_metric("power_draw_watts"));
  EXPECT_EQ(find_metric(Scope::device, "power.draw"), device_metric("power_draw_watts"));
  EXPECT_EQ(find_metric(Scope::host, "power_draw_watts"), std::nullopt);
  EXPECT_EQ(find_metric(Scope::host, "cpu_percent"), host_metric("cpu_percent"));
  EXPECT_EQ(find_metric(Scope::self, "cpu_percent"), self_metric("cpu_percent"));
  EXPECT_EQ(find_metric(Scope::device, ""), std::nullopt);
  EXPECT_EQ(find_metric(Scope::device, "nonsense"), std::nullopt);
}

TEST(Table, EveryMetricIsFoundByItsNames) {
  for (std::uint16_t i = 0; i < kMetricCount; ++i) {
    const auto &metric = kMetrics[i];
    EXPECT_EQ(find_metric(metric.scope, metric.key), MetricId{i}) << metric.key;
    if (metric.smi.empty()) continue;
    EXPECT_EQ(find_metric(metric.scope, metric.smi), MetricId{i}) << metric.smi;
  }
}

TEST(Table, FindsByRole) {
  EXPECT_EQ(find_role(Scope::device, Role::power), device_metric("power_draw_watts"));
  EXPECT_EQ(find_role(Scope::host, Role::cpu), host_metric("cpu_percent"));
  EXPECT_EQ(find_role(Scope::host, Role::fan), std::nullopt);
}

TEST(Table, SlotsAreDensePerScope) {
  for (const auto scope : {Scope::device, Scope::process, Scope::host, Scope::self, Scope::core, Scope::detail}) {
    std::size_t numbers = 0;
    std::size_t texts = 0;
    for_each_metric(scope, [&](MetricId id, const Metric &metric) {
      EXPECT_EQ(slot(id), is_text(metric) ? texts++ : numbers++) << metric.key;
    });
    EXPECT_EQ(numbers, number_count(scope));
    EXPECT_EQ(texts, text_count(scope));
  }
}

TEST(Table, EveryValueHasAWord) {
  EXPECT_EQ(word(Scope::self), "self");
  EXPECT_EQ(word(Kind::text), "text");
  EXPECT_EQ(word(Unit::bits), "bits");
  EXPECT_EQ(word(Window::fixed), "does not change");
  EXPECT_EQ(word(Group::self), "gpulse itself");
  EXPECT_EQ(symbol(Unit::celsius), "°C");
  EXPECT_EQ(symbol(Unit::bits), "bit");
  EXPECT_EQ(word(Unit::per_second), "per second");
  EXPECT_EQ(symbol(Unit::per_second), "/s");
}

std::string family(MetricId id) { return prometheus_name(describe(id)); }

TEST(Table, EveryMetricFoldsOverTime) {
  const auto fold_of = [](MetricId id) { return fold(describe(id)); };
  EXPECT_EQ(fold_of(device_metric("gpu_utilization_percent")), Fold::mean);
  EXPECT_EQ(fold_of(device_metric("power_peak_watts")), Fold::maximum);
  EXPECT_EQ(fold_of(device_metric("energy_joules")), Fold::counter);
  EXPECT_EQ(fold_of(device_metric("memory_total_bytes")), Fold::last);
  EXPECT_EQ(fold_of(device_metric("performance_state")), Fold::last);
  EXPECT_EQ(fold_of(device_metric("xid_last")), Fold::last);
  EXPECT_EQ(fold_of(device_metric("throttle_reasons")), Fold::any);
  EXPECT_EQ(fold_of(process_metric("command")), Fold::last);
  for (const auto &metric : kMetrics) {
    EXPECT_NE(fold(metric), Fold::by_kind) << metric.key;
    EXPECT_EQ(fold(metric) == Fold::counter, metric.kind == Kind::counter) << metric.key;
  }
}

TEST(Table, ARoleIsAMetricAtCompileTime) {
  static_assert(role_metric<Scope::device>(Role::utilization) == device_metric("gpu_utilization_percent"));
  EXPECT_EQ(find_role(Scope::device, Role::utilization), role_metric<Scope::device>(Role::utilization));
}

TEST(Prometheus, NamesAreInBaseUnits) {
  EXPECT_EQ(family(device_metric("gpu_utilization_percent")), "gpulse_gpu_utilization_ratio");
  EXPECT_EQ(family(device_metric("clock_sm_mhz")), "gpulse_clock_sm_hertz");
  EXPECT_EQ(family(device_metric("energy_joules")), "gpulse_energy_joules_total");
  EXPECT_EQ(family(device_metric("memory_used_bytes")), "gpulse_memory_used_bytes");
  EXPECT_EQ(family(device_metric("temperature_gpu_celsius")), "gpulse_temperature_gpu_celsius");
  EXPECT_EQ(family(device_metric("ecc_corrected_total")), "gpulse_ecc_corrected_total");
  EXPECT_EQ(family(host_metric("cpu_percent")), "gpulse_host_cpu_ratio");
  EXPECT_EQ(family(process_metric("gpu_memory_bytes")), "gpulse_process_gpu_memory_bytes");
  EXPECT_EQ(family(self_metric("sample_seconds")), "gpulse_self_sample_seconds");
  EXPECT_EQ(family(device_metric("memory_bus_width_bits")), "gpulse_memory_bus_width_bytes");
}

TEST(Prometheus, ACountIsCalledByWhatIsCounted) {
  EXPECT_EQ(family(device_metric("fan_count")), "gpulse_fans");
  EXPECT_EQ(family(device_metric("process_count")), "gpulse_processes");
  EXPECT_EQ(family(host_metric("cpu_count")), "gpulse_host_cpus");
}

TEST(Prometheus, Scale) {
  EXPECT_EQ(prometheus_scale(describe(device_metric("gpu_utilization_percent"))), 0.01);
  EXPECT_EQ(prometheus_scale(describe(device_metric("clock_sm_mhz"))), 1e6);
  EXPECT_EQ(prometheus_scale(describe(device_metric("energy_joules"))), 1.0);
  EXPECT_EQ(prometheus_scale(describe(device_metric("memory_bus_width_bits"))), 0.125);
}

TEST(Prometheus, NoTwoFamiliesAreOneAndOnlyCountersAreTotals) {
  std::set<std::string> names;
  for (const auto &metric : kMetrics) {
    if (is_text(metric)) continue;
    const auto name = prometheus_name(metric);
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(name.ends_with("_total"), metric.kind == Kind::counter) << name;
  }
  for (const auto &metric : kMetrics) {
    if (!metric.peak.empty()) {
      EXPECT_TRUE(names.insert(prometheus_name(peak_of(metric))).second) << metric.peak;
    }
    // Only energy may stand in for a count that some drivers keep.
    if (!metric.total.empty() && metric.total != "energy_joules") {
      EXPECT_TRUE(names.insert(prometheus_name(total_of(metric))).second) << metric.total;
    }
  }
}

TEST(Prometheus, WhatIsKeptBetweenScrapes) {
  const auto total = [](MetricId id) { return prometheus_name(total_of(describe(id))); };
  const auto peak = [](MetricId id) { return prometheus_name(peak_of(describe(id))); };
  EXPECT_EQ(total(device_metric("gpu_utilization_percent")), "gpulse_busy_seconds_total");
  EXPECT_EQ(total(device_metric("sm_active_percent")), "gpulse_sm_busy_seconds_total");
  EXPECT_EQ(total(device_metric("throttle_reasons")), "gpulse_throttled_seconds_total");
  EXPECT_EQ(total(device_metric("power_draw_watts")), family(device_metric("energy_joules")));
  EXPECT_EQ(total(device_metric("pcie_rx_bytes_per_second")), "gpulse_pcie_rx_bytes_total");
  EXPECT_EQ(peak(device_metric("gpu_utilization_percent")), "gpulse_gpu_utilization_peak_ratio");
  EXPECT_EQ(peak(device_metric("temperature_gpu_celsius")), "gpulse_temperature_gpu_peak_celsius");
}

}  // namespace
}  // namespace gpulse
