// SPDX-License-Identifier: Apache-2.0
#include "source/drm/attribute.hpp"

#include <cerrno>

#include "base/text.hpp"
#include "model/checked.hpp"
#include "source/refusal.hpp"

namespace gpulse::drm {

namespace {

constexpr std::size_t kMostText = 4096;

}  // namespace

std::string_view bare(std::string_view text) {
  constexpr std::string_view kAround(" \t\r\n");
  text = text.substr(0, text.find('\0'));
  const auto begin = text.find_first_not_of(kAround);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kAround) - begin + 1);
}

Reason refusal_of_device(int error) { return error == EBUSY ? Reason::asleep : refusal(error); }

Reading parse_attribute(std::string_view text, MetricId metric, double scale) {
  text = bare(text);
  if (text.empty()) return Reason::not_supported;
  const auto value = parse_double(text);
  return value ? checked(metric, *value * scale) : Reason::error;
}

Reading read_attribute(const Sysroot &root, std::string_view path, MetricId metric, double scale, std::string &buffer) {
  if (!root.read_into(buffer, path, kMostText)) return refusal_of_device(errno);
  return parse_attribute(buffer, metric, scale);
}

std::string read_word(const Sysroot &root, std::string_view path) {
  const auto text = root.read(path, kMostText);
  return text ? printable(bare(*text)) : std::string();
}

}  // namespace gpulse::drm
