// SPDX-License-Identifier: Apache-2.0
#include "tui/device_list.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "view/cell.hpp"
#include "view/device_cells.hpp"

namespace gpulse::tui {

namespace {

// A device and the instances it is divided into.
struct Family {
  std::vector<const Device *> members;

  const Device &head() const { return *members.front(); }
  bool holds(const DeviceId &id) const {
    return std::ranges::any_of(members, [&](const Device *member) { return member->id == id; });
  }
};

std::vector<Family> families_of(const Snapshot &snapshot) {
  std::vector<Family> families;
  for (const auto *device : view::ordered_devices(snapshot)) {
    const bool joins =
        device->is_instance() && !families.empty() && families.back().head().id.index == device->id.index;
    if (!joins) families.emplace_back();
    families.back().members.push_back(device);
  }
  return families;
}

// The head's reading; where it has none, as while it is divided, the highest of its instances.
std::optional<double> reading_of(const Family &family, MetricId id) {
  if (const auto &own = family.head().row[id]) return own.value();
  std::optional<double> most;
  for (const auto *member : family.members) {
    if (const auto &reading = member->row[id]) most = std::max(most.value_or(reading.value()), reading.value());
  }
  return most;
}

// Unknown values come last in either order.
bool comes_before(const Family &a, const Family &b, const DeviceOrder &order) {
  if (order.kind == DeviceOrder::Kind::metric) {
    const auto first = reading_of(a, order.metric);
    const auto second = reading_of(b, order.metric);
    if (!first || !second) return first.has_value() && !second.has_value();
    return order.descending ? *first > *second : *first < *second;
  }
  if (order.kind == DeviceOrder::Kind::name) {
    const auto first = view::device_name(a.head(), {});
    const auto second = view::device_name(b.head(), {});
    return order.descending ? first > second : first < second;
  }
  return order.descending && b.head().id < a.head().id;
}

bool is_idle(const Family &family, const Snapshot &snapshot) {
  constexpr auto kUse = role_metric<Scope::device>(Role::utilization);
  const auto state = family.head().state;
  if (state != DeviceState::ok && state != DeviceState::asleep) return false;
  if (reading_of(family, kUse).value_or(0) > 0) return false;
  return std::ranges::none_of(snapshot.processes, [&](const Process &process) { return family.holds(process.device); });
}

// "ann, bob"
std::string owners_of(const Family &family, const Snapshot &snapshot, DeviceGroups groups) {
  std::set<std::string_view> owners;
  for (const auto &process : snapshot.processes) {
    if (!family.holds(process.device)) continue;
    const auto owner = view::text_by_role(process.texts.get(), groups == DeviceGroups::user ? Role::user : Role::job);
    if (!owner.empty()) owners.insert(owner);
  }
  std::string text;
  for (const auto owner : owners) text.append(text.empty() ? "" : ", ").append(owner);
  return text;
}

std::vector<const Device *> heads_of(const std::vector<Family> &families) {
  std::vector<const Device *> heads;
  for (const auto &family : families) heads.push_back(&family.head());
  return heads;
}

DeviceLine make_total(DeviceList &list, const std::vector<const Device *> &devices, std::string name) {
  list.totals.push_back(add_up(devices));
  return {&list.totals.back(), devices.size(), std::move(name)};
}

void add_families(DeviceList &list, const std::vector<Family> &families) {
  for (const auto &family : families) {
    for (const auto *member : family.members) list.lines.push_back({member});
    list.devices += family.members.size();
  }
}

// Those of nobody come last.
void add_groups(DeviceList &list, const std::vector<Family> &families, const Snapshot &snapshot, DeviceGroups by) {
  std::map<std::string, std::vector<Family>> groups;
  for (const auto &family : families) groups[owners_of(family, snapshot, by)].push_back(family);
  const auto nobody = groups.extract("");
  const auto add = [&](const std::string &owner, const std::vector<Family> &members) {
    list.lines.push_back(make_total(list, heads_of(members), owner));
    add_families(list, members);
  };
  for (const auto &[owner, members] : groups) add(owner, members);
  if (!nobody.empty()) add(by == DeviceGroups::user ? "nobody" : "no job", nobody.mapped());
}

}  // namespace

Device add_up(const std::vector<const Device *> &devices) {
  Device total;
  total.row.fill(Reason::not_supported);
  for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
    const bool mean = metric.unit == Unit::percent;
    const bool highest = metric.unit == Unit::celsius;
    const bool sum = metric.unit == Unit::bytes || metric.unit == Unit::bytes_per_second || metric.unit == Unit::watts;
    if (metric.kind != Kind::gauge || !(mean || highest || sum)) return;
    double found = 0;
    int count = 0;
    for (const auto *device : devices) {
      const auto &reading = device->row[id];
      if (!reading) continue;
      found = highest && count > 0 ? std::max(found, reading.value()) : found + reading.value();
      ++count;
    }
    if (count > 0) total.row[id] = mean ? found / count : found;
  });
  return total;
}

DeviceList list_devices(const Snapshot &snapshot, const Settings &settings) {
  DeviceList list;
  auto families = families_of(snapshot);
  if (families.size() >= kDevicesWithTotal) list.all.push_back(make_total(list, heads_of(families), "all"));
  if (settings.hide_idle) {
    list.hidden = std::erase_if(families, [&](const Family &family) { return is_idle(family, snapshot); });
  }
  if (!(settings.device_order == DeviceOrder{})) {
    std::ranges::stable_sort(
        families, [&](const Family &a, const Family &b) { return comes_before(a, b, settings.device_order); });
  }
  if (settings.device_groups == DeviceGroups::off) {
    add_families(list, families);
  } else {
    add_groups(list, families, snapshot, settings.device_groups);
  }
  return list;
}

}  // namespace gpulse::tui
