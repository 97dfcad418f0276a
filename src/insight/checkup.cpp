// SPDX-License-Identifier: Apache-2.0
#include "insight/checkup.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <span>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "model/driver_version.hpp"

namespace gpulse::insight {

namespace {

using Weight = Remark::Weight;

// The first driver that tells the true activity (GPM).
constexpr int kGoodDriver = 520;

// The numbers of those that fit.
std::vector<std::string> which(const Snapshot &snapshot, const std::function<bool(const Device &)> &fits) {
  std::vector<std::string> ids;
  for (const auto &device : snapshot.devices) {
    if (!device.is_instance() && fits(device)) ids.push_back(text(device.id));
  }
  return ids;
}

bool is_of(const Device &device, std::string_view vendor) {
  return device.identity != nullptr && device.identity->vendor == vendor;
}

bool has_old_driver(const Device &device) {
  if (!is_of(device, "nvidia")) return false;
  auto version = driver_version(*device.identity);
  if (!version.contains('.')) return false;
  const auto major = parse_integer<int>(next_piece(version, '.'));
  return major && *major < kGoodDriver;
}

bool is_closed(const Device &device) {
  bool any = false;
  for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
    any = any || (!is_text(metric) && device.row[id].is(Reason::no_permission));
  });
  return any;
}

// What one GPU does, and what several do: "has" and "have".
struct Verb {
  std::string_view one, several;
};
constexpr Verb kHas{"has", "have"}, kDoesNot{"does not", "do not"};

// "GPU 0 has …", "GPUs 0, 2 and 3 have …"; nothing of no GPU.
void add(std::vector<Remark> &remarks, Weight weight, const std::vector<std::string> &ids, const Verb &verb,
         std::string_view what, std::string_view remedy) {
  if (ids.empty()) return;
  const std::span others(ids.data(), ids.size() - 1);
  const auto subject = others.empty()
                           ? fmt::format("GPU {} {}", ids.back(), verb.one)
                           : fmt::format("GPUs {} and {} {}", fmt::join(others, ", "), ids.back(), verb.several);
  remarks.push_back({weight, fmt::format("{} {}", subject, what), std::string(remedy)});
}

void add_troubles(std::vector<Remark> &remarks, const Snapshot &snapshot) {
  add(remarks, Weight::trouble, which(snapshot, [](const Device &one) { return one.state == DeviceState::lost; }),
      kDoesNot, "answer on the bus", "see the kernel's log (dmesg), then restart the machine");
  add(remarks, Weight::trouble,
      which(snapshot, [](const Device &one) { return one.state == DeviceState::not_responding; }), kDoesNot,
      "answer: the driver hangs", "see the kernel's log (dmesg)");
  for (const auto &source : snapshot.sources) {
    if (source.problem.empty()) continue;
    // Where another source has found devices, this one's are a part of the machine at most.
    remarks.push_back({snapshot.devices.empty() ? Weight::trouble : Weight::advice,
                       fmt::format("{}: {}", source.name, source.problem), source.remedy.str()});
  }
}

void add_advice(std::vector<Remark> &remarks, const Snapshot &snapshot, Reader reader) {
  add(remarks, Weight::advice, which(snapshot, is_closed), kHas, "readings that this user may not see",
      "run as root, or let the agent read them");
  add(remarks, Weight::advice, which(snapshot, has_old_driver), kHas, "an old driver, which tells less than newer ones",
      fmt::format("install {} or newer", kGoodDriver));
  if (reader != Reader::this_program || snapshot.devices.empty()) return;
  // While an agent has the driver open, it stays loaded all the same.
  add(remarks, Weight::advice,
      which(snapshot,
            [](const Device &one) {
              const auto &mode = one.row[device_metric("persistence_mode")];
              return is_of(one, "nvidia") && mode && mode.value() == 0;
            }),
      kHas, "persistence mode off: the driver starts anew for whoever comes first", "sudo gpulse set persistence on");
  remarks.push_back({Weight::advice, "no agent runs: every program reads the GPUs by itself, and nothing is kept",
                     "systemctl enable --now gpulse, or gpulse serve"});
}

}  // namespace

std::vector<Remark> check_up(const Snapshot &snapshot, Reader reader) {
  std::vector<Remark> remarks;
  add_troubles(remarks, snapshot);
  add_advice(remarks, snapshot, reader);
  if (snapshot.devices.empty()) {
    remarks.push_back({Weight::advice, "what it looks like with one", "gpulse --demo, gpulse top --demo"});
  }
  std::ranges::stable_sort(remarks, {}, &Remark::weight);
  return remarks;
}

std::string verdict(const Snapshot &snapshot, const std::vector<Remark> &remarks) {
  if (snapshot.devices.empty()) {
    std::string sentence(absence_words(snapshot));
    if (sentence.front() >= 'a' && sentence.front() <= 'z') sentence.front() -= 'a' - 'A';
    return sentence + ".";
  }
  const auto gpus = static_cast<std::uint64_t>(
      std::ranges::count_if(snapshot.devices, [](const Device &one) { return !one.is_instance(); }));
  const auto troubles = std::ranges::count(remarks, Weight::trouble, &Remark::weight);
  const auto seen = fmt::format("{} {} seen", counted(gpus, "GPU"), gpus == 1 ? "is" : "are");
  if (troubles > 0) return seen + ", but not all is well.";
  if (remarks.empty()) return seen + ", and nothing stands in the way.";
  return fmt::format("{}; {} could be better.", seen, counted(remarks.size(), "thing"));
}

}  // namespace gpulse::insight
