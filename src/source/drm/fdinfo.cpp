// SPDX-License-Identifier: Apache-2.0
#include "source/drm/fdinfo.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "source/sysfs/attribute.hpp"

namespace gpulse::drm {

namespace {

// More than twice what any driver has.
constexpr std::size_t kMaxNames = 64;

template <class Counts>
auto *find_or_add(std::vector<Counts> &counts, std::string_view name) {
  // Lines with the same name mostly follow each other.
  if (!counts.empty() && counts.back().name == name) return &counts.back();
  const auto known = std::find_if(counts.begin(), counts.end(), [&](const Counts &c) { return c.name == name; });
  if (known != counts.end()) return &*known;
  if (name.empty() || counts.size() >= kMaxNames) return static_cast<Counts *>(nullptr);
  counts.push_back({});
  counts.back().name = name;
  return &counts.back();
}

// Splits "12 KiB" into 12 and "KiB"; the unit may be missing.
std::optional<std::uint64_t> split_unit(std::string_view value, std::string_view &unit) {
  std::size_t digits = 0;
  while (digits < value.size() && value[digits] != ' ' && value[digits] != '\t') ++digits;
  unit = sysfs::bare(value.substr(digits));
  return parse_integer<std::uint64_t>(value.substr(0, digits));
}

std::optional<std::uint64_t> parse_counter(std::string_view value, std::string_view wanted_unit) {
  std::string_view unit;
  const auto number = split_unit(value, unit);
  return unit.empty() || unit == wanted_unit ? number : std::nullopt;
}

// How many bits the unit shifts a number by. The kernel uses the greatest unit that divides the size.
std::optional<unsigned> shift_of(std::string_view unit) {
  if (unit.empty() || unit == "B") return 0U;
  if (unit == "KiB" || unit == "kB") return 10U;
  if (unit == "MiB") return 20U;
  if (unit == "GiB") return 30U;
  return std::nullopt;
}

std::optional<std::uint64_t> parse_size(std::string_view value) {
  std::string_view unit;
  const auto number = split_unit(value, unit);
  const auto shift = shift_of(unit);
  if (!number || !shift || *number > std::numeric_limits<std::uint64_t>::max() >> *shift) return std::nullopt;
  return *number << *shift;
}

void take_engine(ClientInfo &out, std::string_view name, std::optional<std::uint64_t> EngineCount::*field,
                 std::optional<std::uint64_t> value) {
  if (!value) return;
  if (auto *engine = find_or_add(out.engines, name)) engine->*field = value;
}

void take_capacity(ClientInfo &out, std::string_view name, std::string_view value) {
  const auto number = parse_integer<std::uint32_t>(value);
  if (!number || *number == 0) return;
  if (auto *engine = find_or_add(out.engines, name)) engine->capacity = *number;
}

struct RegionKey {
  std::string_view prefix;
  std::optional<std::uint64_t> RegionCount::*field;
};
constexpr std::array kRegionKeys{
    RegionKey{"total-", &RegionCount::total},       RegionKey{"shared-", &RegionCount::shared},
    RegionKey{"resident-", &RegionCount::resident}, RegionKey{"purgeable-", &RegionCount::purgeable},
    RegionKey{"active-", &RegionCount::active},     RegionKey{"memory-", &RegionCount::memory},
};

// Engine keys, without "drm-". Longer prefixes come first: "engine-capacity-video" is not an engine.
bool take_engine_key(ClientInfo &out, std::string_view key, std::string_view value) {
  const auto strip = [&](std::string_view prefix) {
    if (!key.starts_with(prefix)) return false;
    key.remove_prefix(prefix.size());
    return true;
  };
  if (strip("engine-capacity-"))
    take_capacity(out, key, value);
  else if (strip("engine-"))
    take_engine(out, key, &EngineCount::busy_ns, parse_counter(value, "ns"));
  else if (strip("total-cycles-"))
    take_engine(out, key, &EngineCount::total_cycles, parse_counter(value, ""));
  else if (strip("cycles-"))
    take_engine(out, key, &EngineCount::cycles, parse_counter(value, ""));
  else if (strip("maxfreq-"))
    take_engine(out, key, &EngineCount::max_hz, parse_counter(value, "Hz"));
  else
    return false;
  return true;
}

void take_drm_key(ClientInfo &out, std::string_view key, std::string_view value) {
  if (key == "driver") {
    out.driver = value;
  } else if (key == "pdev") {
    out.pdev = value;
  } else if (key == "client-id") {
    out.id = parse_integer<std::uint64_t>(value);
  } else if (key == "client-name") {
    out.name = value;
  } else if (!take_engine_key(out, key, value)) {
    for (const auto &[prefix, field] : kRegionKeys) {
      if (!key.starts_with(prefix)) continue;
      const auto size = parse_size(value);
      if (!size) return;
      if (auto *region = find_or_add(out.regions, key.substr(prefix.size()))) region->*field = size;
      return;
    }
  }
}

// "gfx0" is the first ring of "gfx", "enc_10" that of "enc_1".
std::string_view without_ring(std::string_view key) {
  constexpr std::string_view kSecondEncoder = "enc_1";
  if (key.starts_with(kSecondEncoder)) return key.substr(0, kSecondEncoder.size());
  return key.substr(0, key.find_last_not_of("0123456789") + 1);
}

// amdgpu's old form: "vram mem: 17196 kB", "gfx0: 70.59%", one line per ring.
void take_old_key(ClientInfo &out, std::string_view key, std::string_view value) {
  if (key == "pdev") {
    out.pdev = value;
  } else if (key == "pasid") {
    out.id = parse_integer<std::uint64_t>(value);
  } else if (key.ends_with(" mem")) {
    const auto size = parse_size(value);
    auto *region = size ? find_or_add(out.regions, sysfs::bare(key.substr(0, key.size() - 4))) : nullptr;
    if (region != nullptr) region->memory = size;
  } else if (value.ends_with('%')) {
    const auto percent = parse_double(sysfs::bare(value.substr(0, value.size() - 1)));
    if (!percent || !(*percent >= 0 && *percent <= 100)) return;
    auto *engine = find_or_add(out.engines, without_ring(key));
    if (engine != nullptr) engine->percent = std::min(100.0, engine->percent.value_or(0) + *percent);
  }
}

// Calls visit(key, value) for every line.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    auto line = next_piece(text, '\n');
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    visit(sysfs::bare(line.substr(0, colon)), sysfs::bare(line.substr(colon + 1)));
  }
}

}  // namespace

bool parse_fdinfo(std::string_view text, ClientInfo &out) {
  constexpr std::string_view kPrefix = "drm-";
  text = sysfs::bare(text);
  out.driver = out.pdev = out.name = {};
  out.id.reset();
  out.engines.clear();
  out.regions.clear();
  for_each_line(text, [&](std::string_view key, std::string_view value) {
    if (key.starts_with(kPrefix)) take_drm_key(out, key.substr(kPrefix.size()), value);
  });
  if (!out.driver.empty()) return true;
  out.engines.clear();
  out.regions.clear();
  for_each_line(text, [&](std::string_view key, std::string_view value) { take_old_key(out, key, value); });
  out.driver = "amdgpu";
  return !out.pdev.empty() && out.id && !out.regions.empty();
}

}  // namespace gpulse::drm
