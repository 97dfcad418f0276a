// SPDX-License-Identifier: Apache-2.0
#include "view/prometheus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/json_writer.hpp"
#include "metric/format.hpp"
#include "view/csv.hpp"
#include "view/json.hpp"

namespace gpulse::view {

namespace {

constexpr std::array kStates{DeviceState::ok, DeviceState::asleep, DeviceState::lost, DeviceState::not_responding};
// The ways from one of 128 GPUs to all others are no label.
constexpr std::size_t kLongestText = 256;
constexpr std::string_view kState = "gpulse_gpu_state";

// Backslashes and line breaks have a meaning in the format, and quotes in a label.
std::string escaped(std::string_view text, bool label) {
  std::string safe;
  for (const char c : text) {
    if (c == '\n') {
      safe += "\\n";
      continue;
    }
    if (c == '\\' || (label && c == '"')) safe += '\\';
    safe += c;
  }
  return safe;
}

std::string head_of(std::string_view name, std::string_view help, bool counter = false) {
  return fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, escaped(help, false), name, counter ? "counter" : "gauge");
}

// "Compute mode (0: default, 1: exclusive thread)".
std::string help_of(const Metric &metric) {
  std::string help(metric.help);
  if (metric.kind != Kind::state || metric.words.empty()) return help;
  std::string words;
  for (std::size_t i = 0; i < metric.words.size(); ++i) {
    words += fmt::format("{}{}: {}", i > 0 ? ", " : "", i, metric.words[i]);
  }
  return fmt::format("{} ({})", help, words);
}

void append_label(std::string &labels, std::string_view name, std::string_view value) {
  // An empty one is the same as none.
  if (value.empty()) return;
  labels += fmt::format("{}{}=\"{}\"", labels.empty() ? '{' : ',', name, escaped(value, true));
}

std::string state_end(std::string_view word) { return fmt::format(",state=\"{}\"}} ", escaped(word, true)); }

[[gnu::hot]] void append_number(std::string &out, double number) {
  JsonWriter(out).value(number);
  out += '\n';
}

// Once, before the first series of a family.
class Head {
 public:
  explicit Head(const std::string &text) : text_(text) {}
  void put(std::string &out) {
    if (!done_) out += text_;
    done_ = true;
  }

 private:
  const std::string &text_;
  bool done_ = false;
};

void write_facts(const Snapshot &snapshot, std::string &out) {
  static const auto kTimeHead =
      head_of("gpulse_sample_timestamp_seconds", "When the values were read, in seconds since 1970");
  static const auto kCountHead = head_of("gpulse_gpus", "GPUs in the sample, instances not counted");
  if (has_time(snapshot)) {
    const auto time = std::chrono::floor<std::chrono::milliseconds>(snapshot.time).time_since_epoch();
    out += kTimeHead;
    out += "gpulse_sample_timestamp_seconds ";
    append_number(out, static_cast<double>(time.count()) / 1e3);
  }
  out += kCountHead;
  out += "gpulse_gpus ";
  append_number(out, static_cast<double>(
                         std::ranges::count_if(snapshot.devices, [](const Device &d) { return !d.is_instance(); })));
}

}  // namespace

Result<MetricSet> prometheus_fields(std::span<const std::string> fields) {
  MetricSet set;
  if (fields.empty()) {
    for (const auto scope : {Scope::device, Scope::host, Scope::self}) {
      for_each_metric(scope, [&](MetricId id, const Metric &) { set.add(id); });
    }
    return set;
  }
  for (const auto &field : fields) {
    if (find_csv_identity(field)) continue;
    const auto id = find_field(field);
    if (!id) return failure("no field '" + field + "'", "`gpulse explain` lists them");
    if (brief(*id).scope == Scope::process) {
      return failure("'" + field + "' makes no series", "Prometheus gets values of devices and of the host");
    }
    set.add(*id);
  }
  return set;
}

PrometheusView::PrometheusView(const MetricSet &metrics) {
  const auto add = [&](Scope scope, std::vector<Family> &families) {
    metrics.for_each(scope, [&](MetricId id) {
      const auto &metric = describe(id);
      if (is_text(metric)) {
        if (scope == Scope::device) texts_.push_back(id);
        return;
      }
      const auto name = prometheus_name(metric);
      const double scale = prometheus_scale(metric);
      Family family{.id = id, .name = name, .head = head_of(name, help_of(metric), metric.kind == Kind::counter)};
      // 57 / 100 is 0.57, 57 * 0.01 is not.
      (scale < 1 ? family.divide : family.multiply) = scale < 1 ? 1 / scale : scale;
      if (metric.kind == Kind::set) std::ranges::transform(metric.words, std::back_inserter(family.words), state_end);
      families.push_back(std::move(family));
    });
  };
  add(Scope::device, device_);
  add(Scope::host, host_);
  add(Scope::self, self_);
}

PrometheusView::KnownDevice PrometheusView::describe_device(const Device &device) const {
  KnownDevice known{.identity = device.identity, .id = device.id, .labels = {}, .info = {}};
  append_label(known.labels, "gpu", text(device.id));
  if (device.identity == nullptr) return known;
  const auto &identity = *device.identity;
  append_label(known.labels, "uuid", identity.uuid);
  append_label(known.labels, "vendor", identity.vendor);
  known.info = known.labels;
  append_label(known.info, "name", identity.name);
  append_label(known.info, "driver", identity.driver);
  append_label(known.info, "pci", identity.pci);
  append_label(known.info, "parent", identity.parent);
  append_label(known.info, "profile", identity.label);
  for (const auto id : texts_) {
    const auto text = identity.texts[id].value_or("");
    if (text.size() <= kLongestText) append_label(known.info, key_of(id).key, text);
  }
  return known;
}

[[gnu::hot]] std::optional<double> PrometheusView::value_of(const Family &family, const Row &row) {
  const auto &reading = row[family.id];
  if (!reading) return std::nullopt;
  const double value = rounded(family.id, reading.value()) * family.multiply / family.divide;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

void PrometheusView::learn(const std::vector<Device> &devices) {
  const auto is_known = [](const Device &device, const KnownDevice &known) {
    return device.identity == known.identity && device.id == known.id;
  };
  if (std::ranges::equal(devices, known_, is_known)) return;
  known_.clear();
  std::set<std::string> seen;
  for (const auto &device : devices) {
    known_.push_back(describe_device(device));
    known_.back().repeated = !seen.insert(known_.back().labels).second;
  }
}

void PrometheusView::write_devices(const std::vector<Device> &devices, std::string &out) const {
  static const auto kInfoHead = head_of("gpulse_gpu_info", "What the GPU is; always 1");
  static const auto kStateHead = head_of(kState, "Whether the GPU is in this state: 1 of one of them, else 0");
  static const auto kEnds = [] {
    std::vector<std::string> ends;
    for (const auto state : kStates) ends.push_back(state_end(word(state)));
    return ends;
  }();
  Head info(kInfoHead);
  for (const auto &known : known_) {
    if (known.info.empty() || known.repeated) continue;
    info.put(out);
    out.append("gpulse_gpu_info").append(known.info).append("} 1\n");
  }
  Head state(kStateHead);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (known_[i].repeated) continue;
    state.put(out);
    for (std::size_t k = 0; k < kStates.size(); ++k) {
      out.append(kState)
          .append(known_[i].labels)
          .append(kEnds[k])
          .append(devices[i].state == kStates[k] ? "1\n" : "0\n");
    }
  }
}

[[gnu::hot]] void PrometheusView::write_family(const Family &family, const std::vector<Device> &devices,
                                               std::string &out) const {
  Head head(family.head);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto value = value_of(family, devices[i].row);
    if (!value || known_[i].repeated) continue;
    head.put(out);
    if (brief(family.id).kind != Kind::set) {
      out.append(family.name).append(known_[i].labels).append("} ");
      append_number(out, *value);
      continue;
    }
    auto bits = set_bits(*value);
    for (std::size_t k = 0; k < family.words.size() || bits != 0; ++k, bits >>= 1U) {
      const bool named = k < family.words.size();
      if (!named && (bits & 1U) == 0) continue;
      out.append(family.name).append(known_[i].labels);
      out.append(named ? family.words[k] : state_end(fmt::format("bit {}", k)))
          .append((bits & 1U) != 0 ? "1\n" : "0\n");
    }
  }
}

[[gnu::hot]] void PrometheusView::write(const Snapshot &snapshot, std::string &out) {
  learn(snapshot.devices);
  write_facts(snapshot, out);
  write_devices(snapshot.devices, out);
  for (const auto &family : device_) write_family(family, snapshot.devices, out);
  const auto write_row = [&](const std::vector<Family> &families, const Row &row) {
    for (const auto &family : families) {
      const auto value = value_of(family, row);
      if (!value) continue;
      out.append(family.head).append(family.name) += ' ';
      append_number(out, *value);
    }
  };
  write_row(host_, snapshot.host);
  write_row(self_, snapshot.self);
}

}  // namespace gpulse::view
