// SPDX-License-Identifier: Apache-2.0
#include "view/csv.hpp"

#include <algorithm>
#include <array>

#include "base/hot_code.hpp"
#include "base/json_writer.hpp"
#include "base/nearest.hpp"
#include "metric/format.hpp"
#include "view/json.hpp"

namespace gpulse::view {

namespace {

constexpr std::array<std::string_view, 14> kIdentityNames{"time",   "hostname", "id",    "index",  "parent",
                                                          "mig",    "uuid",     "name",  "vendor", "pci",
                                                          "driver", "label",    "state", "step"};

constexpr std::string_view kHostPrefix = "host.", kProcessPrefix = "process.";

std::string title(const CsvColumn &column) {
  if (const auto *id = std::get_if<MetricId>(&column)) return csv_title(*id);
  return std::string(kIdentityNames[static_cast<std::size_t>(std::get<CsvIdentity>(column))]);
}

std::string words_of(MetricId id, double value) {
  std::string text;
  for (const auto &name : value_words(describe(id), value)) text += (text.empty() ? "" : "|") + name;
  return text.empty() ? "none" : text;
}

[[gnu::hot]] void append_metric(std::string &out, const Snapshot &snapshot, const Device *device, MetricId id) {
  const auto &metric = brief(id);
  const bool of_host = metric.scope == Scope::host;
  if (!of_host && device == nullptr) return;
  if (is_text(metric)) {
    if (!of_host && device->identity != nullptr) append_csv_text(out, device->identity->texts[id].value_or(""));
    return;
  }
  const auto &reading = of_host ? snapshot.host[id] : device->row[id];
  if (!reading) return;
  append_csv_value(out, id, reading.value());
}

std::string device_text(const Device &device, CsvIdentity column) {
  static const DeviceIdentity kNobody;
  const auto &identity = device.identity ? *device.identity : kNobody;
  switch (column) {
    case CsvIdentity::time:
    case CsvIdentity::hostname:
    case CsvIdentity::step:
      break;
    case CsvIdentity::index:
      return std::to_string(device.id.index);
    case CsvIdentity::id:
      return text(device.id);
    case CsvIdentity::parent:
      return identity.parent;
    case CsvIdentity::mig:
      return device.id.instance ? std::to_string(*device.id.instance) : "";
    case CsvIdentity::uuid:
      return identity.uuid;
    case CsvIdentity::name:
      return identity.name;
    case CsvIdentity::vendor:
      return identity.vendor;
    case CsvIdentity::pci:
      return identity.pci;
    case CsvIdentity::driver:
      return identity.driver;
    case CsvIdentity::label:
      return identity.label;
    case CsvIdentity::state:
      return std::string(word(device.state));
  }
  return {};
}

// What a line is about; the device may be null where no column is about one.
struct LineSubject {
  const Snapshot &snapshot;
  std::optional<std::int64_t> step;
  const Device *device = nullptr;
};

std::string identity_text(const LineSubject &subject, CsvIdentity column) {
  const auto &[snapshot, step, device] = subject;
  if (column == CsvIdentity::step) return step ? std::to_string(*step) : "";
  if (column == CsvIdentity::time) return has_time(snapshot) ? iso8601_utc(snapshot.time) : "";
  if (column == CsvIdentity::hostname) return snapshot.hostname;
  return device != nullptr ? device_text(*device, column) : "";
}

[[gnu::hot]] void write_line(const LineSubject &subject, std::span<const CsvColumn> columns, std::string &out) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) out += ',';
    if (const auto *id = std::get_if<MetricId>(&columns[i])) {
      append_metric(out, subject.snapshot, subject.device, *id);
    } else {
      append_csv_text(out, identity_text(subject, std::get<CsvIdentity>(columns[i])));
    }
  }
  out += '\n';
}

[[gnu::hot]] bool is_about_device(const CsvColumn &column) {
  if (const auto *id = std::get_if<MetricId>(&column)) return brief(*id).scope == Scope::device;
  const auto identity = std::get<CsvIdentity>(column);
  return identity != CsvIdentity::time && identity != CsvIdentity::hostname && identity != CsvIdentity::step;
}

}  // namespace

// Where a comma, a quote, a line break or a blank at the border would mislead.
void append_csv_text(std::string &out, std::string_view text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos &&
                     (text.empty() || (text.front() != ' ' && text.back() != ' '));
  if (plain) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

[[gnu::hot]] void append_csv_value(std::string &out, MetricId id, double value) {
  const auto kind = brief(id).kind;
  if (kind == Kind::set || kind == Kind::state) return append_csv_text(out, words_of(id, value));
  JsonWriter(out).value(rounded(id, value));
}

std::string csv_title(MetricId id) {
  return std::string(key_of(id).scope == Scope::host ? kHostPrefix : "").append(key_of(id).key);
}

std::optional<MetricId> find_field(std::string_view field) {
  for (const auto &[prefix, scope] : {std::pair(kHostPrefix, Scope::host), std::pair(kProcessPrefix, Scope::process)}) {
    if (field.starts_with(prefix)) return find_metric(scope, field.substr(prefix.size()));
  }
  return find_metric(Scope::device, field);
}

std::string nearest_field(std::string_view field) {
  std::vector<std::string> own(kIdentityNames.begin(), kIdentityNames.end());
  std::vector<std::string> of_others;
  for (const auto &metric : kMetrics) {
    if (metric.scope == Scope::device) {
      own.emplace_back(metric.key);
      if (!metric.smi.empty()) own.emplace_back(metric.smi);
    } else if (metric.scope == Scope::host || metric.scope == Scope::process) {
      const auto prefix = metric.scope == Scope::host ? kHostPrefix : kProcessPrefix;
      of_others.push_back(std::string(prefix).append(metric.key));
    }
  }
  std::vector<std::string_view> names(own.begin(), own.end());
  names.insert(names.end(), of_others.begin(), of_others.end());
  return did_you_mean(field, names, "`gpulse explain` lists them");
}

std::optional<CsvIdentity> find_csv_identity(std::string_view field) {
  const auto *const name = std::find(kIdentityNames.begin(), kIdentityNames.end(), field);
  if (name == kIdentityNames.end()) return std::nullopt;
  return static_cast<CsvIdentity>(name - kIdentityNames.begin());
}

Result<std::vector<CsvColumn>> csv_columns(std::span<const std::string> fields) {
  std::vector<CsvColumn> columns;
  if (fields.empty()) {
    columns = {CsvIdentity::time, CsvIdentity::id, CsvIdentity::uuid, CsvIdentity::name};
    for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
      if (!is_text(metric)) columns.emplace_back(id);
    });
    return columns;
  }
  for (const auto &field : fields) {
    if (const auto identity = find_csv_identity(field)) {
      columns.emplace_back(*identity);
    } else if (const auto id = find_field(field); id && key_of(*id).scope != Scope::process) {
      columns.emplace_back(*id);
    } else {
      return failure("no field '" + field + "'", nearest_field(field));
    }
  }
  return columns;
}

MetricSet needs_of_csv(std::span<const CsvColumn> columns) {
  MetricSet set;
  for (const auto &column : columns) {
    if (const auto *id = std::get_if<MetricId>(&column)) set.add(*id);
  }
  return set;
}

void write_csv_header(std::span<const CsvColumn> columns, std::string &out) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) out += ',';
    append_csv_text(out, title(columns[i]));
  }
  out += '\n';
}

[[gnu::hot]] void write_csv(const Snapshot &snapshot, std::span<const CsvColumn> columns, std::string &out,
                            std::optional<std::int64_t> step) {
  fetch_hot_code(HotCode::csv);
  LineSubject subject{.snapshot = snapshot, .step = step};
  if (!std::any_of(columns.begin(), columns.end(), is_about_device)) return write_line(subject, columns, out);
  for (const auto &device : snapshot.devices) {
    subject.device = &device;
    write_line(subject, columns, out);
  }
}

}  // namespace gpulse::view
