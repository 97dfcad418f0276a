// SPDX-License-Identifier: Apache-2.0
#include "view/prometheus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <set>

#include "metric/format.hpp"
#include "view/csv.hpp"
#include "view/families.hpp"
#include "view/json.hpp"

namespace gpulse::view {

namespace {

constexpr std::array kStates{DeviceState::ok, DeviceState::asleep, DeviceState::lost, DeviceState::not_responding};
// The ways from one of 128 GPUs to all others are no label.
constexpr std::size_t kLongestText = 256;

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

std::string state_end(std::string_view word) { return label_end("state", word); }
std::string reason_end(std::string_view word) { return label_end("reason", word); }
std::string bit_word(std::size_t bit) { return fmt::format("bit {}", bit); }

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
    if (!id) return failure("no field '" + field + "'", nearest_field(field));
    if (brief(*id).scope == Scope::process) {
      return failure("'" + field + "' makes no series", "Prometheus gets values of devices and of the host");
    }
    set.add(*id);
  }
  return set;
}

PrometheusView::PrometheusView(const PageContents &contents, Exposition exposition)
    : exposition_(exposition),
      is_brief_(contents.is_brief),
      time_head_(head_of(exposition, families::kTime, "When the values were read, in seconds since 1970")),
      count_head_(head_of(exposition, families::kGpus, "GPUs in the sample, instances not counted")),
      info_head_(head_of(exposition, families::kInfo, "What the GPU is; always 1")),
      state_head_(head_of(exposition, families::kState, "Whether the GPU is in this state: 1 of one of them, else 0")) {
  add_families(contents.metrics, Scope::device, device_);
  add_families(contents.metrics, Scope::host, host_);
  add_families(contents.metrics, Scope::self, self_);
  add_kept(contents);
}

PrometheusView::Family PrometheusView::make_family(MetricId id, const Metric &metric, std::string_view more) const {
  const auto name = prometheus_name(metric);
  const double scale = prometheus_scale(metric);
  Family family{.id = id,
                .name = name,
                .head = head_of(exposition_, name, help_of(metric) + std::string(more), metric.kind == Kind::counter),
                .stand_in = {}};
  // 57 / 100 is 0.57, 57 * 0.01 is not.
  (scale < 1 ? family.divide : family.multiply) = scale < 1 ? 1 / scale : scale;
  return family;
}

void PrometheusView::add_families(const MetricSet &metrics, Scope scope, std::vector<Family> &families) {
  metrics.for_each(scope, [&](MetricId id) {
    const auto &metric = describe(id);
    if (is_text(metric)) {
      if (scope == Scope::device) texts_.push_back(id);
      return;
    }
    auto family = make_family(id, metric, "");
    if (metric.kind == Kind::set) std::ranges::transform(metric.words, std::back_inserter(family.words), state_end);
    families.push_back(std::move(family));
  });
}

// What the agent counts: families of their own, but for what the driver counts as well on some devices.
void PrometheusView::add_kept(const PageContents &contents) {
  const auto add = [&](std::span<const MetricId> ids, const MetricSet &metrics, From from, auto row_of,
                       std::string_view more) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (!metrics.contains(ids[i])) continue;
      const Metric row = row_of(describe(ids[i]));
      const auto own = std::ranges::find_if(device_, [&](const Family &f) { return key_of(f.id).key == row.key; });
      if (own != device_.end()) {
        own->stand_in = i;
        continue;
      }
      auto family = make_family(ids[i], row, more);
      family.from = from;
      family.place = i;
      if (key_of(ids[i]).kind == Kind::set) {
        std::ranges::transform(row.words, std::back_inserter(family.words), reason_end);
      }
      device_.push_back(std::move(family));
    }
  };
  add(insight::totalled(), contents.metrics, From::total, total_of, ": total since the agent started");
  add(insight::peaked(), contents.peaks, From::peak, peak_of, ": the highest of the last 60 seconds");
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

[[gnu::hot]] std::optional<double> PrometheusView::value_of(const Family &family, const Shown &shown) {
  if (family.from == From::reading) {
    if (const auto value = value_of(family, shown.device->row); value || !family.stand_in) return value;
  }
  if (shown.tally == nullptr || !shown.tally->answers) return std::nullopt;
  if (family.from != From::peak) {
    const auto &total = shown.tally->totals[family.stand_in.value_or(family.place)];
    return total ? std::optional(total.value()) : std::nullopt;
  }
  const auto &peak = shown.tally->peaks[family.place];
  if (!peak) return std::nullopt;
  return rounded(family.id, peak.value()) * family.multiply / family.divide;
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

std::vector<PrometheusView::Shown> PrometheusView::shown(const Snapshot &snapshot,
                                                         const insight::TallyReport *tally) const {
  const auto by_uuid = [](const insight::DeviceTally &one) -> const std::string & { return one.uuid.str(); };
  std::vector<Shown> all;
  for (std::size_t i = 0; i < snapshot.devices.size(); ++i) {
    if (known_[i].repeated) continue;
    Shown one{.device = &snapshot.devices[i], .known = &known_[i]};
    if (tally != nullptr && known_[i].identity != nullptr) {
      const auto &uuid = known_[i].identity->uuid.str();
      const auto found = std::ranges::lower_bound(tally->devices, uuid, {}, by_uuid);
      if (found != tally->devices.end() && found->uuid.str() == uuid) one.tally = &*found;
    }
    all.push_back(one);
  }
  return all;
}

void PrometheusView::write_time(const Snapshot &snapshot, std::string &out) const {
  if (!has_time(snapshot)) return;
  const auto time = std::chrono::floor<std::chrono::milliseconds>(snapshot.time).time_since_epoch();
  out.append(time_head_).append(families::kTime) += ' ';
  append_number(out, static_cast<double>(time.count()) / 1e3);
}

void PrometheusView::write_facts(const Snapshot &snapshot, std::string &out) const {
  write_time(snapshot, out);
  out.append(count_head_).append(families::kGpus) += ' ';
  append_number(out, static_cast<double>(
                         std::ranges::count_if(snapshot.devices, [](const Device &d) { return !d.is_instance(); })));
}

void PrometheusView::write_devices(const std::vector<Device> &devices, std::string &out) const {
  static const auto kEnds = [] {
    std::vector<std::string> ends;
    for (const auto state : kStates) ends.push_back(state_end(word(state)));
    return ends;
  }();
  Head info(info_head_);
  for (const auto &known : known_) {
    if (known.info.empty() || known.repeated) continue;
    info.put(out);
    out.append(families::kInfo).append(known.info).append("} 1\n");
  }
  Head state(state_head_);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (known_[i].repeated) continue;
    state.put(out);
    for (std::size_t k = 0; k < kStates.size(); ++k) {
      if (is_brief_ && k > 0 && devices[i].state != kStates[k]) continue;
      out.append(families::kState)
          .append(known_[i].labels)
          .append(kEnds[k])
          .append(devices[i].state == kStates[k] ? "1\n" : "0\n");
    }
  }
}

void PrometheusView::write_words(const Family &family, const Shown &shown, double value, std::string &out) const {
  auto bits = set_bits(value);
  for (std::size_t k = 0; k < family.words.size() || bits != 0; ++k, bits >>= 1U) {
    const bool named = k < family.words.size();
    if ((!named || (is_brief_ && k > 0)) && (bits & 1U) == 0) continue;
    out.append(family.name).append(shown.known->labels);
    out.append(named ? family.words[k] : state_end(bit_word(k))).append((bits & 1U) != 0 ? "1\n" : "0\n");
  }
}

// What is no fault is left out, so that the sum over all means something.
void PrometheusView::write_seconds(const Family &family, const std::vector<Shown> &all, std::string &out) const {
  Head head(family.head);
  const auto calm = describe(family.id).calm;
  for (const auto &shown : all) {
    if (shown.tally == nullptr || !shown.tally->answers) continue;
    const auto &bits = shown.tally->bits[family.place];
    const auto first = static_cast<std::size_t>(std::countr_one(calm));
    for (std::size_t k = 0; k < bits.size(); ++k) {
      const bool named = k < family.words.size();
      if (((calm >> k) & 1U) != 0 || ((!named || (is_brief_ && k != first)) && bits[k] <= 0)) continue;
      head.put(out);
      out.append(family.name).append(shown.known->labels).append(named ? family.words[k] : reason_end(bit_word(k)));
      append_number(out, bits[k]);
    }
  }
}

[[gnu::hot]] void PrometheusView::write_family(const Family &family, const std::vector<Shown> &all,
                                               std::string &out) const {
  Head head(family.head);
  const bool is_set = brief(family.id).kind == Kind::set;
  if (is_set && family.from == From::total) return write_seconds(family, all, out);
  for (const auto &shown : all) {
    const auto value = value_of(family, shown);
    if (!value) continue;
    head.put(out);
    if (is_set) {
      write_words(family, shown, *value, out);
      continue;
    }
    out.append(family.name).append(shown.known->labels).append("} ");
    append_number(out, *value);
  }
}

[[gnu::hot]] void PrometheusView::write(const Snapshot &snapshot, std::string &out, const insight::TallyReport *tally) {
  learn(snapshot.devices);
  write_facts(snapshot, out);
  write_devices(snapshot.devices, out);
  const auto all = shown(snapshot, tally);
  for (const auto &family : device_) {
    if (family.from == From::reading || tally != nullptr) write_family(family, all, out);
  }
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
