// SPDX-License-Identifier: Apache-2.0
#include "tui/device_commands.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tui/device_list.hpp"
#include "tui/menu.hpp"
#include "tui/session.hpp"
#include "view/device_cells.hpp"

namespace gpulse::tui {

namespace {

struct Choice {
  DeviceOrder order;
  std::string label, help;
};

// Number, name and what the columns show, as far as a device here has it.
std::vector<Choice> choices(const Snapshot &snapshot) {
  std::vector<Choice> all{{{}, "GPU", "Number of the device"},
                          {{DeviceOrder::Kind::name}, "NAME", "Name of the device"}};
  const auto add = [&](MetricId id) {
    const DeviceOrder order{DeviceOrder::Kind::metric, id, true};
    const auto listed = std::ranges::any_of(all, [&](const Choice &each) { return each.order.sorts_by(order); });
    const auto has = [&](const Device &device) { return device.row[id].has_value(); };
    if (listed || std::ranges::none_of(snapshot.devices, has)) return;
    all.push_back({order, std::string(describe(id).label), std::string(describe(id).help)});
  };
  for (const auto role : {Role::utilization, Role::true_activity, Role::memory_used, Role::power, Role::temperature}) {
    if (const auto id = find_role(Scope::device, role)) add(*id);
  }
  for (const auto id : view::ranked_metrics(Scope::device)) add(id);
  return all;
}

}  // namespace

void choose_device(Session &session, int by) {
  if (session.snapshot == nullptr) return;
  auto &cursor = session.devices;
  auto lines = list_devices(*session.snapshot, session.settings).lines;
  std::erase_if(lines, &DeviceLine::is_total);
  const auto count = static_cast<int>(lines.size());
  const auto at = std::ranges::find_if(lines, [&](const DeviceLine &line) { return cursor.chosen == line.device->id; });
  const int place = at == lines.end() ? (by > 0 ? -1 : count) : static_cast<int>(at - lines.begin());
  const int wanted = place + by;
  if (wanted < 0 || wanted >= count) {
    cursor.chosen.reset();
  } else {
    cursor.chosen = lines[static_cast<std::size_t>(wanted)].device->id;
  }
  cursor.is_newest = cursor.chosen.has_value();
  cursor.scroll_to_chosen = true;
  session.plots.first = 0;
}

void scroll_devices(Session &session, const term::MouseEvent &wheel) {
  const auto seen = std::ranges::count(session.hits, Hit::Kind::device, &Hit::kind);
  scroll_by_wheel(session.devices.first, wheel, static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, seen)));
}

void sort_devices_by(Session &session, const DeviceOrder &order) {
  auto &now = session.settings.device_order;
  const bool same = now.sorts_by(order);
  now = {order.kind, order.metric, same ? !now.descending : order.descending};
  session.devices.scroll_to_chosen = true;
}

void open_device_sort_menu(Session &session) {
  if (session.snapshot == nullptr) return;
  const auto all = choices(*session.snapshot);
  Menu menu{.title = "Sort GPUs by", .items = {}};
  for (const auto &[order, label, help] : all) {
    if (order.sorts_by(session.settings.device_order)) menu.at = menu.items.size();
    menu.items.push_back({fmt::format("{:<6}", label), help});
  }
  session.open(std::make_unique<MenuDialogue>(std::move(menu), [all](Session &on, const Menu &chosen) {
    if (chosen.at < all.size()) sort_devices_by(on, all[chosen.at].order);
  }));
}

void next_device_groups(Session &session) {
  cycle(session.settings.device_groups);
  const auto groups = session.settings.device_groups;
  session.say(groups == DeviceGroups::off ? "GPUs in one list" : fmt::format("GPUs by {}", word(groups)));
  session.devices.scroll_to_chosen = true;
}

void toggle_idle_devices(Session &session) {
  session.settings.hide_idle = !session.settings.hide_idle;
  session.say(session.settings.hide_idle ? "GPUs without work and processes are hidden" : "all GPUs are shown");
}

}  // namespace gpulse::tui
