// SPDX-License-Identifier: Apache-2.0
// A snapshot in Prometheus' text format 0.0.4, as an exporter or a file for node_exporter shows it: a family per number
// of the metric table, in base units. What could not be read has no series. The result depends on the snapshot alone;
// what stays the same from one to the next is kept, so that a sample costs its numbers. One thread at a time.
//
//   labels   gpu (the id: "0", of an instance "0:1"), uuid, vendor; what else a device is stands on gpulse_gpu_info
//   state    the number, with its words in the HELP line: gpulse_compute_mode 0
//   set      a series for each word, 0 or 1, with the word in the label "state"
//   text     a label of gpulse_gpu_info, unless it is longer than a label should be
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "metric/set.hpp"
#include "model/snapshot.hpp"

namespace gpulse::view {

// What every text of ours begins with.
inline constexpr std::string_view kPrometheusHead = "# HELP gpulse_";

// The metrics that the fields name; none: all of devices, of the host and of gpulse itself. What identifies a device or
// a sample is passed by, since it is always there. Processes are an error: series that come and go by the thousand.
Result<MetricSet> prometheus_fields(std::span<const std::string> fields);

class PrometheusView {
 public:
  explicit PrometheusView(const MetricSet &metrics);

  // Appends the text.
  void write(const Snapshot &snapshot, std::string &out);

 private:
  struct Family {
    MetricId id;
    std::string name, head;
    double multiply = 1, divide = 1;
    std::vector<std::string> words{};  // of a set: how the labels end
  };
  struct KnownDevice {
    std::shared_ptr<const DeviceIdentity> identity;
    DeviceId id;
    std::string labels;  // without the closing brace
    std::string info;
    bool repeated = false;  // as a damaged log may have it: the same series must not come twice
  };

  // In the family's unit; none: it has no series.
  static std::optional<double> value_of(const Family &family, const Row &row);
  void learn(const std::vector<Device> &devices);
  KnownDevice describe_device(const Device &device) const;
  void write_devices(const std::vector<Device> &devices, std::string &out) const;
  void write_family(const Family &family, const std::vector<Device> &devices, std::string &out) const;

  std::vector<Family> device_, host_, self_;
  std::vector<MetricId> texts_;
  std::vector<KnownDevice> known_;
};

}  // namespace gpulse::view
