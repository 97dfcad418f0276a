// SPDX-License-Identifier: Apache-2.0
// What the kernel tells about one open device file in /proc/PID/fdinfo/FD: whose it is, which engines worked for it and
// how much memory it holds. Pure: text in, facts out.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gpulse::drm {

// Everything an engine has done for one client since the client came.
struct EngineCount {
  std::string_view name;  // "gfx", "video-enhance", "rcs"
  std::optional<std::uint64_t> busy_ns;
  std::optional<std::uint64_t> cycles;
  std::optional<std::uint64_t> total_cycles;  // the device's clock, to compare the cycles with
  std::optional<std::uint64_t> max_hz;
  std::optional<double> percent;  // told instead of a count by the first drivers
  std::uint32_t capacity = 1;     // how many equal engines stand behind the name
};

struct RegionCount {
  std::string_view name;  // "vram", "gtt", "system0"
  std::optional<std::uint64_t> total, shared, resident, purgeable, active;
  std::optional<std::uint64_t> memory;  // what was told before there was `resident`

  // What the client really holds there; the total is what it asked for.
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

// False: not a client of a graphics or accelerator driver. The vectors of `out` are reused. What makes no sense in a
// line is left out, the rest stays.
bool parse_fdinfo(std::string_view text, ClientInfo &out);

}  // namespace gpulse::drm
