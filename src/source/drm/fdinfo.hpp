// SPDX-License-Identifier: Apache-2.0
// Parser for /proc/PID/fdinfo/FD of an open device file: which client it is, what the engines have done for it, how
// much memory it holds. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gpulse::drm {

// What one engine has done for a client since the file was opened.
struct EngineCount {
  std::string_view name;  // "gfx", "video-enhance", "rcs"
  std::optional<std::uint64_t> busy_ns;
  std::optional<std::uint64_t> cycles;
  std::optional<std::uint64_t> total_cycles;  // the device's clock, to compare the cycles with
  std::optional<std::uint64_t> max_hz;
  std::optional<double> percent;  // reported instead of a count by early drivers
  std::uint32_t capacity = 1;     // how many equal engines share the name
};

struct RegionCount {
  std::string_view name;  // "vram", "gtt", "system0"
  std::optional<std::uint64_t> total, shared, resident, purgeable, active;
  std::optional<std::uint64_t> memory;  // reported before `resident` existed

  // What the client really holds; `total` is what it asked for.
  std::optional<std::uint64_t> held() const { return resident ? resident : memory ? memory : total; }
};

// All views point into the text.
struct ClientInfo {
  std::string_view driver;  // "amdgpu"
  std::string_view pdev;    // 0000:03:00.0; empty on a system on a chip
  std::string_view name;    // as the client calls itself; not safe to print
  std::optional<std::uint64_t> id;
  std::vector<EngineCount> engines;
  std::vector<RegionCount> regions;
};

// False when it is not a client of a graphics or accelerator driver. The vectors of `out` are reused. Lines that cannot
// be parsed are skipped.
bool parse_fdinfo(std::string_view text, ClientInfo &out);

}  // namespace gpulse::drm
