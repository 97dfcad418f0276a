// SPDX-License-Identifier: Apache-2.0
#include "monitor/past.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "metric/folding.hpp"

namespace gpulse::monitor {

namespace {

// However long and fast it is, the past of one program takes no more memory than this.
constexpr std::size_t kMostBytes = std::size_t{64} << 20U;

std::int64_t nanoseconds(WallTime time) { return time.time_since_epoch().count(); }

// A metric's part of a row: the readings of some time as one, or why there is none.
struct Cell {
  Folding values;
  Reading why{};

  void add(const Reading &reading) {
    if (reading) {
      values.add(reading.value());
    } else {
      why = reading;
    }
  }
  Reading result() const { return values.count() > 0 ? Reading(values.value()) : why; }
};

// One row in the making: what of a device, or of the host, falls into one stretch of time.
struct Stretch {
  WallTime time{};
  Monotonic at{};
  std::optional<std::int64_t> step{};
  std::string id, uuid;
  std::vector<Cell> cells;
  bool is_new = true;
};

// The one of this device. A number may pass to another device: it tells apart only those without a UUID.
Stretch &stretch_of(std::vector<Stretch> &open, const std::string &uuid, const std::string &id,
                    std::span<const MetricId> metrics) {
  const auto found = std::ranges::find_if(
      open, [&](const Stretch &stretch) { return stretch.uuid == uuid && (!uuid.empty() || stretch.id == id); });
  if (found != open.end()) return *found;
  auto &made = open.emplace_back();
  made.id = id;
  made.uuid = uuid;
  for (const auto metric : metrics) made.cells.push_back({.values = Folding(fold(describe(metric)))});
  return made;
}

Table empty_table(std::span<const MetricId> metrics, bool devices) {
  Table table;
  table.columns.push_back({"time", Times{}});
  table.columns.push_back({"monotonic", Integers{}});
  table.columns.push_back({"step", Integers{}});
  if (devices) {
    table.columns.push_back({"gpu", Strings{}});
    table.columns.push_back({"uuid", Strings{}});
  }
  for (const auto metric : metrics) table.columns.push_back({std::string(key_of(metric).key), Numbers{}});
  return table;
}

void add_row(Table &table, const Stretch &stretch, bool devices) {
  std::size_t next = 0;
  std::get<Times>(table.columns[next++].data).values.push_back(nanoseconds(stretch.time));
  std::get<Integers>(table.columns[next++].data).add(stretch.at.time_since_epoch().count());
  std::get<Integers>(table.columns[next++].data).add(stretch.step);
  if (devices) {
    std::get<Strings>(table.columns[next++].data).add(stretch.id);
    std::get<Strings>(table.columns[next++].data).add(stretch.uuid);
  }
  for (const auto &cell : stretch.cells) std::get<Numbers>(table.columns[next++].data).add(cell.result());
  ++table.rows;
}

}  // namespace

Past::Past(std::chrono::nanoseconds keep, const MetricSet &metrics) : keep_(keep) {
  const auto take = [&](Scope scope, std::vector<MetricId> &into) {
    metrics.for_each(scope, [&](MetricId id) {
      if (!is_text(key_of(id))) into.push_back(id);
    });
  };
  take(Scope::device, device_metrics_);
  take(Scope::host, host_metrics_);
}

bool Past::Layout::fits(const Sample &sample) const {
  const auto &devices = sample.snapshot->devices;
  if (devices.size() != uuids.size()) return false;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].identity == nullptr || devices[i].identity->uuid != uuids[i] || sample.ids[i] != ids[i])
      return false;
  }
  return true;
}

void Past::add(const Sample &sample) {
  if (keep_.count() <= 0) return;
  const auto &snapshot = *sample.snapshot;
  Moment moment{.time = snapshot.time, .at = sample.at, .step = sample.step, .layout = {}, .readings = {}};
  moment.readings.reserve(snapshot.devices.size() * device_metrics_.size() + host_metrics_.size());
  for (const auto &device : snapshot.devices) {
    for (const auto metric : device_metrics_) moment.readings.push_back(device.row[metric]);
  }
  for (const auto metric : host_metrics_) moment.readings.push_back(snapshot.host[metric]);

  const std::lock_guard lock(mutex_);
  if (!moments_.empty() && moments_.back()->layout->fits(sample)) {
    moment.layout = moments_.back()->layout;
  } else {
    auto layout = std::make_shared<Layout>();
    for (const auto &device : snapshot.devices)
      layout->uuids.push_back(device.identity == nullptr ? std::string{} : device.identity->uuid.str());
    layout->ids = sample.ids;
    moment.layout = std::move(layout);
  }
  bytes_ += bytes_of(moment);
  moments_.push_back(std::make_shared<const Moment>(std::move(moment)));
  while (!moments_.empty() && (sample.at - moments_.front()->at > keep_ || bytes_ > kMostBytes)) {
    bytes_ -= bytes_of(*moments_.front());
    moments_.pop_front();
  }
}

Table Past::table(const Question &question) const {
  const bool devices = question.scope == Scope::device;
  const auto &metrics = devices ? device_metrics_ : host_metrics_;
  auto table = empty_table(metrics, devices);
  const auto wanted = [&](const std::string &uuid) {
    return question.uuids.empty() || std::ranges::find(question.uuids, uuid) != question.uuids.end();
  };
  // What is not yet a row, by device.
  std::vector<Stretch> open;
  std::optional<std::int64_t> turn;
  const auto close = [&] {
    for (const auto &stretch : open) add_row(table, stretch, devices);
    open.clear();
  };
  // A long past takes a while to put in columns: the next sample does not wait for that.
  const auto moments = [&] {
    const std::lock_guard lock(mutex_);
    return moments_;
  }();
  for (const auto &one : moments) {
    const auto &moment = *one;
    if ((question.since && moment.time < *question.since) || (question.until && moment.time > *question.until))
      continue;
    const auto now =
        question.every.count() > 0 ? std::optional(nanoseconds(moment.time) / question.every.count()) : std::nullopt;
    if (!now || now != turn) close();
    turn = now;
    const std::size_t count = devices ? moment.layout->uuids.size() : 1;
    for (std::size_t i = 0; i < count; ++i) {
      const auto uuid = devices ? moment.layout->uuids[i] : std::string{};
      if (devices && !wanted(uuid)) continue;
      const auto id = devices ? moment.layout->ids[i] : std::string{};
      auto &stretch = stretch_of(open, uuid, id, metrics);
      if (std::exchange(stretch.is_new, false)) {
        stretch.time = moment.time;
        stretch.at = moment.at;
      }
      stretch.step = moment.step;
      const auto first = devices ? i * metrics.size() : moment.readings.size() - metrics.size();
      for (std::size_t cell = 0; cell < metrics.size(); ++cell) stretch.cells[cell].add(moment.readings[first + cell]);
    }
  }
  close();
  return table;
}

}  // namespace gpulse::monitor
