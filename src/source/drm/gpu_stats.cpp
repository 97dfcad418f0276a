// SPDX-License-Identifier: Apache-2.0
#include "source/drm/gpu_stats.hpp"

#include <array>

#include "base/text.hpp"
#include "source/sysfs/attribute.hpp"

namespace gpulse::drm {

namespace {

constexpr std::size_t kMaxQueues = 64;

std::string_view next_word(std::string_view &rest) {
  rest = sysfs::bare(rest);
  const auto end = std::min(rest.find_first_of(" \t"), rest.size());
  const auto word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

}  // namespace

bool parse_gpu_stats(std::string_view text, std::vector<EngineCount> &out) {
  out.clear();
  text = sysfs::bare(text);
  auto heading = next_piece(text, '\n');
  for (const auto *title : {"queue", "timestamp", "jobs", "runtime"}) {
    if (next_word(heading) != title) return false;
  }
  while (!text.empty() && out.size() < kMaxQueues) {
    auto line = next_piece(text, '\n');
    EngineCount queue;
    queue.name = next_word(line);
    queue.total_cycles = parse_integer<std::uint64_t>(next_word(line));
    next_word(line);
    queue.cycles = parse_integer<std::uint64_t>(next_word(line));
    if (queue.total_cycles && queue.cycles) out.push_back(queue);
  }
  return true;
}

}  // namespace gpulse::drm
