// SPDX-License-Identifier: Apache-2.0
#include "source/sysfs/attribute.hpp"

#include <cerrno>

#include "base/text.hpp"
#include "model/plausible.hpp"
#include "source/api/errno_reason.hpp"

namespace gpulse::sysfs {

namespace {

constexpr std::size_t kMaxText = 4096;

}  // namespace

std::string_view bare(std::string_view text) {
  // By hand, because find_first_not_of() calls memchr() for each byte, and this runs for every line.
  const auto is_around = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0'; };
  while (!text.empty() && is_around(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_around(text.back())) text.remove_suffix(1);
  return text;
}

Reason refusal_of_device(int error) { return error == EBUSY ? Reason::asleep : errno_reason(error); }

Reading parse_attribute(std::string_view text, MetricId metric, double scale) {
  text = bare(text);
  if (text.empty()) return Reason::not_supported;
  const auto value = parse_double(text);
  return value ? plausible(metric, *value * scale) : Reason::error;
}

Reading read_attribute(const Sysroot &root, std::string_view path, MetricId metric, double scale, std::string &buffer) {
  if (!root.read_piece(buffer, path, kMaxText)) return refusal_of_device(errno);
  return parse_attribute(buffer, metric, scale);
}

std::string read_word(const Sysroot &root, std::string_view path) {
  std::string text;
  return std::string(root.read_piece(text, path, kMaxText) ? bare(text) : std::string_view());
}

std::string read_uevent(const Sysroot &root, const std::string &device, std::string_view key) {
  const auto text = root.read(device + "/uevent", kMaxText).value_or("");
  std::string_view rest = bare(text);
  while (!rest.empty()) {
    auto value = next_piece(rest, '\n');
    if (next_piece(value, '=') == key) return std::string(bare(value));
  }
  return {};
}

}  // namespace gpulse::sysfs
