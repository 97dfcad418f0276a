// SPDX-License-Identifier: Apache-2.0
// A snapshot in a text for Prometheus, as an exporter or a file for node_exporter shows it: a family per number of the
// metric table, in base units, and of what the agent has counted where that is given. What could not be read has no
// series. The result depends on what is given alone; what stays the same from one to the next is kept, so that a sample
// costs its numbers. One thread at a time.
//
//   labels   gpu (the id: "0", of an instance "0:1"), uuid, vendor; what else a device is stands on gpulse_gpu_info
//   state    the number, with its words in the HELP line: gpulse_compute_mode 0
//   set      a series for each word, 0 or 1, with the word in the label "state"
//   text     a label of gpulse_gpu_info, unless it is longer than a label should be
//   total    of a set a series for each word that is a fault, with the word in the label "reason"
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "insight/tally.hpp"
#include "metric/set.hpp"
#include "model/snapshot.hpp"
#include "view/exposition.hpp"
#include "view/page_contents.hpp"

namespace gpulse::view {

// What every text of ours begins with.
inline constexpr std::string_view kPrometheusHead = "# HELP gpulse_";

// The metrics that the fields name; none: all of devices, of the host and of gpulse itself. What identifies a device or
// a sample is passed by, since it is always there. Processes are an error: series that come and go by the thousand.
Result<MetricSet> prometheus_fields(std::span<const std::string> fields);

class PrometheusView {
 public:
  explicit PrometheusView(const MetricSet &metrics, Exposition exposition = Exposition::text)
      : PrometheusView(PageContents{.metrics = metrics, .peaks = metrics}, exposition) {}
  PrometheusView(const PageContents &contents, Exposition exposition);

  // Appends the text, without its end. `tally`: null where nothing is counted.
  void write(const Snapshot &snapshot, std::string &out, const insight::TallyReport *tally = nullptr);
  // Only when it was taken: of one that does not tell any more what is.
  void write_time(const Snapshot &snapshot, std::string &out) const;

 private:
  enum class From : std::uint8_t { reading, total, peak };
  struct Family {
    MetricId id;
    std::string name, head;
    double multiply = 1, divide = 1;
    From from = From::reading;
    std::size_t place = 0;                // among the totals or the peaks
    std::optional<std::size_t> stand_in;  // the total that is shown where there is no reading
    std::vector<std::string> words{};     // of a set: how the labels end
  };
  struct KnownDevice {
    std::shared_ptr<const DeviceIdentity> identity;
    DeviceId id;
    std::string labels;  // without the closing brace
    std::string info;
    bool repeated = false;  // as a damaged log may have it: the same series must not come twice
  };
  // A device of the sample, with what was counted of it.
  struct Shown {
    const Device *device = nullptr;
    const KnownDevice *known = nullptr;
    const insight::DeviceTally *tally = nullptr;
  };

  void add_families(const MetricSet &metrics, Scope scope, std::vector<Family> &families);
  Family make_family(MetricId id, const Metric &metric, std::string_view more) const;
  void add_kept(const PageContents &contents);
  // In the family's unit; none: it has no series.
  static std::optional<double> value_of(const Family &family, const Row &row);
  static std::optional<double> value_of(const Family &family, const Shown &shown);
  void learn(const std::vector<Device> &devices);
  KnownDevice describe_device(const Device &device) const;
  std::vector<Shown> shown(const Snapshot &snapshot, const insight::TallyReport *tally) const;
  void write_facts(const Snapshot &snapshot, std::string &out) const;
  void write_devices(const std::vector<Device> &devices, std::string &out) const;
  void write_family(const Family &family, const std::vector<Shown> &all, std::string &out) const;
  void write_words(const Family &family, const Shown &shown, double value, std::string &out) const;
  void write_seconds(const Family &family, const std::vector<Shown> &all, std::string &out) const;

  Exposition exposition_;
  bool is_brief_;
  std::string time_head_, count_head_, info_head_, state_head_;
  std::vector<Family> device_, host_, self_;
  std::vector<MetricId> texts_;
  std::vector<KnownDevice> known_;
};

}  // namespace gpulse::view
