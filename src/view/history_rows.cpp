// SPDX-License-Identifier: Apache-2.0
// A history for programs: comma-separated values and lines of JSON.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <variant>

#include "base/json_writer.hpp"
#include "view/csv.hpp"
#include "view/event_cells.hpp"
#include "view/history.hpp"
#include "view/json.hpp"

namespace gpulse::view {

namespace {

// What the lists have in common: names, and a value or none for each of them in every row.
using Value = std::variant<std::monostate, double, std::int64_t, std::string>;
struct Records {
  std::vector<std::string> names;
  std::vector<std::vector<Value>> rows;
};

Value value_of(std::optional<double> number) { return number ? Value(*number) : Value(); }
Value value_of(std::string_view text) { return text.empty() ? Value() : Value(std::string(text)); }
Value value_of(MetricId id, const Reading &reading) { return reading ? Value(rounded(id, reading.value())) : Value(); }

std::string csv_of(const Records &records) {
  std::string out;
  for (std::size_t i = 0; i < records.names.size(); ++i) out.append(i > 0 ? "," : "").append(records.names[i]);
  out += '\n';
  for (const auto &row : records.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out += ',';
      if (const auto *number = std::get_if<double>(&row[i])) JsonWriter(out).value(*number);
      if (const auto *number = std::get_if<std::int64_t>(&row[i])) JsonWriter(out).value(*number);
      if (const auto *text = std::get_if<std::string>(&row[i])) append_csv_text(out, *text);
    }
    out += '\n';
  }
  return out;
}

void write_record(JsonWriter &json, const Records &records, const std::vector<Value> &row) {
  json.begin_object();
  for (std::size_t i = 0; i < row.size(); ++i) {
    json.key(records.names[i]);
    if (std::holds_alternative<std::monostate>(row[i])) json.null();
    if (const auto *number = std::get_if<double>(&row[i])) json.value(*number);
    if (const auto *number = std::get_if<std::int64_t>(&row[i])) json.value(*number);
    if (const auto *text = std::get_if<std::string>(&row[i])) json.value(std::string_view(*text));
  }
  json.end_object();
}

std::string json_of(const Records &records) {
  std::string out;
  for (const auto &row : records.rows) {
    JsonWriter json(out);
    write_record(json, records, row);
    out += '\n';
  }
  return out;
}

void write_array(JsonWriter &json, const Records &records) {
  json.begin_array();
  for (const auto &row : records.rows) write_record(json, records, row);
  json.end_array();
}

double to_milliseconds(double seconds) { return std::round(seconds * 1000) / 1000; }
std::optional<double> to_milliseconds(std::optional<double> seconds) {
  return seconds ? std::optional(to_milliseconds(*seconds)) : std::nullopt;
}

bool is_kept(const Metric &metric) { return kept(metric) == Kept::fold || kept(metric) == Kept::range; }

std::vector<std::string> process_names() {
  std::vector<std::string> names{"id", "uuid", "pid", "type"};
  for_each_metric(Scope::process, [&](MetricId, const Metric &metric) {
    if (is_text(metric)) names.emplace_back(metric.key);
  });
  for (const auto *name : {"first", "last", "seconds", "gpu_seconds"}) names.emplace_back(name);
  for_each_metric(Scope::process, [&](MetricId, const Metric &metric) {
    if (is_kept(metric)) names.emplace_back(metric.key);
    if (kept(metric) == Kept::range) names.push_back(std::string(metric.key) + "_max");
  });
  return names;
}

Records process_records(const HistoryPage &page) {
  Records records{.names = process_names(), .rows = {}};
  for (const auto &use : *page.processes) {
    const auto &process = use.process;
    const auto &identity = page.devices[use.device].identity;
    std::vector<Value> row{text(process.device), value_of(identity ? identity->uuid.str() : ""),
                           std::int64_t{process.pid}, type_word(process.types)};
    for_each_metric(Scope::process, [&](MetricId id, const Metric &metric) {
      if (is_text(metric)) row.push_back(value_of(process.texts ? (*process.texts)[id].value_or("") : ""));
    });
    row.insert(row.end(), {iso8601_utc(use.first), iso8601_utc(use.last), to_milliseconds(use.seconds),
                           value_of(to_milliseconds(busy_seconds(use)))});
    for_each_metric(Scope::process, [&](MetricId id, const Metric &metric) {
      if (is_kept(metric)) row.push_back(value_of(id, process.row[id]));
      if (kept(metric) == Kept::range) row.push_back(value_of(id, use.most[id]));
    });
    records.rows.push_back(std::move(row));
  }
  return records;
}

Records total_records(const HistoryPage &page, HistoryOwner by) {
  const auto owner = find_role(Scope::process, by == HistoryOwner::user ? Role::user : Role::job);
  Records records{.names = {owner ? std::string(key_of(*owner).key) : "owner", "processes", "devices", "seconds",
                            "gpu_seconds", "memory_byte_seconds"},
                  .rows = {}};
  for (const auto &total : history_totals(*page.processes, by)) {
    records.rows.push_back({value_of(total.name), static_cast<std::int64_t>(total.processes),
                            static_cast<std::int64_t>(total.devices), to_milliseconds(total.seconds),
                            value_of(to_milliseconds(total.gpu_seconds)), value_of(total.byte_seconds)});
  }
  return records;
}

Records event_records(const HistoryPage &page) {
  Records records{.names = {"time", "id", "uuid", "kind", "code", "text"}, .rows = {}};
  for (const auto &event : *page.events) {
    const auto device = std::ranges::find_if(page.devices, [&](const Device &each) {
      return !event.device.empty() && each.identity && each.identity->uuid == event.device;
    });
    records.rows.push_back({iso8601_utc(event.time), value_of(device == page.devices.end() ? "" : text(device->id)),
                            value_of(event.device.str()), std::string(word(event.kind)), event.code, event.text.str()});
  }
  return records;
}

bool is_of_host(MetricId id) { return key_of(id).scope == Scope::host; }

constexpr std::size_t kHost = static_cast<std::size_t>(-1);
constexpr std::size_t kPiece = 65536;  // bytes that are handed on at once

// Goes through the curves of a page, time by time.
class Walk {
 public:
  explicit Walk(const HistoryPage &page) : page_(page), places_(page.curves->curves.size(), 0) {
    only_holding_ = std::ranges::all_of(page.curves->curves, &HistoryCurve::holds);
    for (std::size_t i = 0; i < page.curves->curves.size(); ++i) {
      const auto &curve = page.curves->curves[i];
      curves_.emplace(std::pair(is_of_host(curve.metric) ? kHost : curve.device, curve.metric.index), i);
    }
  }

  // To the next time that has a point; false: there is none.
  bool next() {
    std::optional<WallTime> earliest;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const auto &curve = page_.curves->curves[i];
      if (is_passive(curve)) continue;
      while (time_ && places_[i] < curve.points.size() && curve.points[places_[i]].time <= *time_) ++places_[i];
      if (places_[i] == curve.points.size()) continue;
      const auto time = curve.points[places_[i]].time;
      earliest = earliest ? std::min(*earliest, time) : time;
    }
    if (!earliest) return false;
    time_ = earliest;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const auto &curve = page_.curves->curves[i];
      if (!is_passive(curve)) continue;
      while (places_[i] < curve.points.size() && curve.points[places_[i]].time < *time_ + page_.curves->step)
        ++places_[i];
    }
    return true;
  }
  WallTime time() const { return *time_; }

  // Null: nothing is known of it at this time. What holds until it changes is there whenever anything else is.
  const HistoryPoint *point(std::size_t place, MetricId id) const {
    const auto found = curves_.find({is_of_host(id) ? kHost : place, id.index});
    if (found == curves_.end()) return nullptr;
    const auto &curve = page_.curves->curves[found->second];
    const auto at = places_[found->second];
    if (is_passive(curve)) return at > 0 ? &curve.points[at - 1] : nullptr;
    return at < curve.points.size() && curve.points[at].time == *time_ ? &curve.points[at] : nullptr;
  }
  // The devices that have something at this time.
  std::vector<std::size_t> devices() const {
    std::vector<std::size_t> there;
    for (std::size_t place = 0; place < page_.devices.size(); ++place) {
      const auto is_there = [&](MetricId id) {
        const auto found = is_of_host(id) ? curves_.end() : curves_.find({place, id.index});
        return found != curves_.end() && !is_passive(page_.curves->curves[found->second]) &&
               point(place, id) != nullptr;
      };
      if (std::ranges::any_of(page_.curves->metrics, is_there)) there.push_back(place);
    }
    return there;
  }

 private:
  bool is_passive(const HistoryCurve &curve) const { return curve.holds && !only_holding_; }

  const HistoryPage &page_;
  std::map<std::pair<std::size_t, std::uint16_t>, std::size_t> curves_;
  std::vector<std::size_t> places_;  // of each curve the point that comes next, or is there now
  bool only_holding_ = false;
  std::optional<WallTime> time_;
};

void append_line(std::string &out, const HistoryPage &page, const Walk &walk, std::size_t place, bool range) {
  out += iso8601_utc(walk.time()) + ',';
  if (place != kHost) append_csv_text(out, text(page.devices[place].id));
  out += ',';
  if (place != kHost && page.devices[place].identity) append_csv_text(out, page.devices[place].identity->uuid);
  for (const auto id : page.curves->metrics) {
    const auto *point = walk.point(place, id);
    const auto append = [&](double HistoryPoint::*value) {
      out += ',';
      if (point != nullptr) append_csv_value(out, id, point->*value);
    };
    append(&HistoryPoint::value);
    if (!range) continue;
    append(&HistoryPoint::least);
    append(&HistoryPoint::greatest);
  }
  out += '\n';
}

Snapshot snapshot_of(const HistoryPage &page, const Walk &walk) {
  Snapshot snapshot;
  snapshot.time = walk.time();
  snapshot.hostname = page.hostname;
  snapshot.origin = "HISTORY";
  for (const auto place : walk.devices()) {
    auto &device = snapshot.devices.emplace_back(page.devices[place]);
    for (const auto id : page.curves->metrics) {
      const auto *point = is_of_host(id) ? nullptr : walk.point(place, id);
      if (point != nullptr) device.row[id] = point->value;
    }
  }
  for (const auto id : page.curves->metrics) {
    const auto *point = is_of_host(id) ? walk.point(kHost, id) : nullptr;
    if (point != nullptr) snapshot.host[id] = point->value;
  }
  return snapshot;
}

}  // namespace

void write_history_csv(const HistoryPage &page, bool range, const HistoryWrite &write) {
  std::string out = "time,id,uuid";
  for (const auto id : page.curves->metrics) {
    const auto title = csv_title(id);
    out += ',' + title;
    if (range) out += ',' + title + "_min," + title + "_max";
  }
  out += '\n';
  const bool only_host = std::ranges::all_of(page.curves->metrics, is_of_host);
  for (Walk walk(page); walk.next();) {
    if (only_host) append_line(out, page, walk, kHost, range);
    for (const auto place : walk.devices()) append_line(out, page, walk, place, range);
    if (out.size() < kPiece) continue;
    if (!write(out)) return;
    out.clear();
  }
  write(out);
}

void write_history_json(const HistoryPage &page, const HistoryWrite &write) {
  MetricSet metrics;
  for (const auto id : page.curves->metrics) metrics.add(id);
  JsonMemory memory;
  std::string out;
  for (Walk walk(page); walk.next();) {
    write_json(snapshot_of(page, walk), out, {.only = &metrics, .memory = &memory});
    out += '\n';
    if (out.size() < kPiece) continue;
    if (!write(out)) return;
    out.clear();
  }
  write(out);
}

std::string history_processes_csv(const HistoryPage &page) { return csv_of(process_records(page)); }
std::string history_processes_json(const HistoryPage &page) { return json_of(process_records(page)); }
std::string history_totals_csv(const HistoryPage &page, HistoryOwner by) { return csv_of(total_records(page, by)); }
std::string history_totals_json(const HistoryPage &page, HistoryOwner by) { return json_of(total_records(page, by)); }
std::string history_events_csv(const HistoryPage &page) { return csv_of(event_records(page)); }
std::string history_events_json(const HistoryPage &page) { return json_of(event_records(page)); }
void write_history_processes(JsonWriter &json, const HistoryPage &page) { write_array(json, process_records(page)); }
void write_history_totals(JsonWriter &json, const HistoryPage &page, HistoryOwner by) {
  write_array(json, total_records(page, by));
}

}  // namespace gpulse::view
