// SPDX-License-Identifier: Apache-2.0
#include "serve/past.hpp"

#include <algorithm>

#include "history/process_row.hpp"
#include "model/select.hpp"

namespace gpulse::serve {

using namespace std::chrono_literals;

std::optional<history::Span> whole_of(const history::Coverage &coverage) {
  std::optional<history::Span> whole;
  for (const auto &part : {coverage.raw, coverage.ten_seconds, coverage.minute}) {
    if (!part) continue;
    if (!whole) whole = part;
    whole->from = std::min(whole->from, part->from);
    whole->to = std::max(whole->to, part->to);
  }
  return whole;
}

view::HistoryProcess past_process(const history::ProcessUse &use, std::size_t place, const DeviceId &device) {
  view::HistoryProcess made{.device = place, .first = use.first, .last = use.last, .seconds = use.seconds};
  made.process.pid = use.pid;
  made.process.device = device;
  made.process.types = history::types_named(use.type);
  made.process.texts = std::make_shared<const TextRow>(use.texts);
  made.process.row.fill(Reason::not_sampled);
  made.most.fill(Reason::not_sampled);
  const auto metrics = history::kept_metrics(Scope::process);
  for (std::size_t i = 0; i < std::min(metrics.size(), use.values.size()); ++i) {
    if (!use.values[i].value) continue;
    made.process.row[metrics[i].id] = *use.values[i].value;
    made.most[metrics[i].id] = use.values[i].greatest;
  }
  return made;
}

std::vector<std::int64_t> ids_of(const KnownDevices &devices) {
  std::vector<std::int64_t> ids;
  for (const auto *known : devices) ids.push_back(known->id);
  return ids;
}

std::optional<std::size_t> place_of(const KnownDevices &devices, std::int64_t id) {
  const auto found = std::ranges::find(devices, id, [](const auto *known) { return known->id; });
  return found == devices.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - devices.begin()));
}

Result<KnownDevices> devices_in(const history::Reader &reader, const history::Span &span,
                                const std::vector<std::string> &selectors) {
  KnownDevices there;
  auto snapshot = std::make_shared<Snapshot>();
  for (const auto &known : reader.devices()) {
    // When one was seen last is written down once in a while.
    if (known.first >= span.to || known.last + 2min < span.from) continue;
    there.push_back(&known);
    snapshot->devices.push_back({.id = known.number, .identity = known.identity});
  }
  if (selectors.empty()) return there;
  const auto part = select_devices(snapshot, selectors);
  if (!part) return std::unexpected(part.error());
  std::erase_if(there, [&](const history::KnownDevice *known) {
    return std::ranges::none_of((*part)->devices,
                                [&](const Device &device) { return device.identity == known->identity; });
  });
  return there;
}

}  // namespace gpulse::serve
