// SPDX-License-Identifier: Apache-2.0
#include "source/host/throughput.hpp"

#include <algorithm>

namespace gpulse::host {

Throughput::Entry &Throughput::entry(std::size_t place, std::string_view name, const Counted &counted) {
  if (place < entries_.size() && entries_[place].name == name) return entries_[place];
  const auto named = [&](const Entry &entry) { return entry.name == name; };
  const auto found = std::find_if(entries_.begin(), entries_.end(), named);
  if (found != entries_.end()) return *found;
  const auto at = entries_.begin() + static_cast<std::ptrdiff_t>(std::min(place, entries_.size()));
  return *entries_.insert(at, Entry{.name = std::string(name), .counted = counted(name)});
}

std::pair<Reading, Reading> Throughput::update(std::span<const Flow> flows, Monotonic now, const Counted &counted) {
  const double elapsed = at_ ? Seconds(now - *at_).count() : 0;
  if (at_ && elapsed <= 0) return last_;
  at_ = now;
  double in = 0;
  double out = 0;
  bool any = false;
  bool compared = false;
  bool backwards = false;
  for (auto &known : entries_) known.seen = false;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    auto &known = entry(i, flows[i].name, counted);
    const bool grown = flows[i].in >= known.in && flows[i].out >= known.out;
    any = any || known.counted;
    if (known.counted && !known.fresh) {
      compared = true;
      backwards = backwards || !grown;
      in += grown ? static_cast<double>(flows[i].in - known.in) : 0;
      out += grown ? static_cast<double>(flows[i].out - known.out) : 0;
    }
    known.in = flows[i].in;
    known.out = flows[i].out;
    known.fresh = false;
    known.seen = true;
  }
  std::erase_if(entries_, [](const Entry &known) { return !known.seen; });
  if (!any) {
    last_ = {Reason::not_supported, Reason::not_supported};
  } else if (!compared || backwards) {
    last_ = {Reason::not_sampled, Reason::not_sampled};
  } else {
    last_ = {in / elapsed, out / elapsed};
  }
  return last_;
}

}  // namespace gpulse::host
