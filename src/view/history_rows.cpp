// SPDX-License-Identifier: Apache-2.0
// A history for programs: comma-separated values and lines of JSON.
#include <algorithm>
#include <map>
#include <set>
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

std::string json_of(const Records &records) {
  std::string out;
  for (const auto &row : records.rows) {
    JsonWriter json(out);
    json.begin_object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      json.key(records.names[i]);
      if (std::holds_alternative<std::monostate>(row[i])) json.null();
      if (const auto *number = std::get_if<double>(&row[i])) json.value(*number);
      if (const auto *number = std::get_if<std::int64_t>(&row[i])) json.value(*number);
      if (const auto *text = std::get_if<std::string>(&row[i])) json.value(std::string_view(*text));
    }
    json.end_object();
    out += '\n';
  }
  return out;
}

double to_milliseconds(double seconds) {
  return static_cast<double>(static_cast<std::int64_t>(seconds * 1000 + 0.5)) / 1000;
}
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
  Records records{.names = {by == HistoryOwner::user ? "user" : "job", "processes", "devices", "seconds", "gpu_seconds",
                            "memory_byte_seconds"},
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

// The points of a time, by device and metric; the host has a place of its own.
constexpr std::size_t kHost = static_cast<std::size_t>(-1);
using Moment = std::map<std::pair<std::size_t, std::uint16_t>, HistoryPoint>;

// Time by time. What holds until it changes is there at the times of everything else.
std::map<WallTime, Moment> moments_of(const HistoryPage &page) {
  std::map<WallTime, Moment> moments;
  const auto &curves = page.curves->curves;
  const auto key = [](const HistoryCurve &curve) {
    return std::pair(is_of_host(curve.metric) ? kHost : curve.device, curve.metric.index);
  };
  const bool only_holding = std::ranges::all_of(curves, &HistoryCurve::holds);
  for (const auto &curve : curves) {
    if (curve.holds && !only_holding) continue;
    for (const auto &point : curve.points) moments[point.time].insert_or_assign(key(curve), point);
  }
  if (only_holding) return moments;
  for (const auto &curve : curves) {
    if (!curve.holds) continue;
    std::size_t next = 0;
    for (auto &[time, moment] : moments) {
      while (next < curve.points.size() && curve.points[next].time < time + page.curves->step) ++next;
      const bool is_there =
          std::ranges::any_of(moment, [&](const auto &entry) { return entry.first.first == key(curve).first; });
      if (next > 0 && is_there) moment.insert_or_assign(key(curve), curve.points[next - 1]);
    }
  }
  return moments;
}

// Whose lines a time has: the devices that have something then, or the host where nothing else is asked for.
std::set<std::size_t> lines_of(const HistoryPage &page, const Moment &moment) {
  std::set<std::size_t> places;
  for (const auto &[key, point] : moment) {
    if (key.first != kHost) places.insert(key.first);
  }
  if (std::ranges::all_of(page.curves->metrics, is_of_host)) places.insert(kHost);
  return places;
}

void append_points(std::string &out, const HistoryPage &page, const Moment &moment, std::size_t place, bool range) {
  for (const auto id : page.curves->metrics) {
    const auto found = moment.find({is_of_host(id) ? kHost : place, id.index});
    const auto append = [&](double HistoryPoint::*value) {
      out += ',';
      if (found != moment.end()) append_csv_value(out, id, found->second.*value);
    };
    append(&HistoryPoint::value);
    if (!range) continue;
    append(&HistoryPoint::least);
    append(&HistoryPoint::greatest);
  }
}

}  // namespace

std::string history_curves_csv(const HistoryPage &page, bool range) {
  std::string out = "time,id,uuid";
  for (const auto id : page.curves->metrics) {
    const auto title = csv_title(id);
    out += ',' + title;
    if (range) out += ',' + title + "_min," + title + "_max";
  }
  out += '\n';
  for (const auto &[time, moment] : moments_of(page)) {
    for (const auto place : lines_of(page, moment)) {
      out += iso8601_utc(time) + ',';
      if (place != kHost) {
        const auto &device = page.devices[place];
        append_csv_text(out, text(device.id));
        out += ',';
        append_csv_text(out, device.identity ? device.identity->uuid.str() : "");
      } else {
        out += ',';
      }
      append_points(out, page, moment, place, range);
      out += '\n';
    }
  }
  return out;
}

std::string history_curves_json(const HistoryPage &page) {
  MetricSet metrics;
  for (const auto id : page.curves->metrics) metrics.add(id);
  JsonMemory memory;
  std::string out;
  for (const auto &[time, moment] : moments_of(page)) {
    Snapshot snapshot;
    snapshot.time = time;
    snapshot.hostname = page.hostname;
    snapshot.origin = "HISTORY";
    for (const auto place : lines_of(page, moment)) {
      if (place != kHost) snapshot.devices.push_back(page.devices[place]);
      for (const auto id : page.curves->metrics) {
        const auto found = moment.find({place, id.index});
        if (place != kHost && found != moment.end()) snapshot.devices.back().row[id] = found->second.value;
      }
    }
    for (const auto id : page.curves->metrics) {
      const auto found = moment.find({kHost, id.index});
      if (found != moment.end()) snapshot.host[id] = found->second.value;
    }
    write_json(snapshot, out, false, &metrics, &memory);
    out += '\n';
  }
  return out;
}

std::string history_processes_csv(const HistoryPage &page) { return csv_of(process_records(page)); }
std::string history_processes_json(const HistoryPage &page) { return json_of(process_records(page)); }
std::string history_totals_csv(const HistoryPage &page, HistoryOwner by) { return csv_of(total_records(page, by)); }
std::string history_totals_json(const HistoryPage &page, HistoryOwner by) { return json_of(total_records(page, by)); }
std::string history_events_csv(const HistoryPage &page) { return csv_of(event_records(page)); }
std::string history_events_json(const HistoryPage &page) { return json_of(event_records(page)); }

}  // namespace gpulse::view
