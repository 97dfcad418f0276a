// SPDX-License-Identifier: Apache-2.0
#include "smi/read_log.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "smi/snapshot_parts.hpp"

namespace gpulse::smi {

namespace {

constexpr std::string_view kRoot = "<nvidia_smi_log";

std::string_view first_line(std::string_view text) { return trim(text.substr(0, text.find('\n'))); }

void add_utf8(std::string &out, std::uint32_t character) {
  const auto byte = [&](std::uint32_t value) { out += static_cast<char>(value); };
  if (character < 0x80) {
    byte(character);
  } else if (character < 0x800) {
    byte(0xC0U | character >> 6U);
    byte(0x80U | (character & 0x3FU));
  } else if (character < 0x10000) {
    byte(0xE0U | character >> 12U);
    byte(0x80U | (character >> 6U & 0x3FU));
    byte(0x80U | (character & 0x3FU));
  } else {
    byte(0xF0U | character >> 18U);
    byte(0x80U | (character >> 12U & 0x3FU));
    byte(0x80U | (character >> 6U & 0x3FU));
    byte(0x80U | (character & 0x3FU));
  }
}

// PowerShell writes `nvidia-smi … > FILE` as UTF-16. Lone surrogates are left to printable().
std::string from_utf16(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  const auto unit = [&](std::size_t at) -> std::uint32_t {
    return static_cast<unsigned char>(text[at]) | static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + 1]))
                                                      << 8U;
  };
  for (std::size_t at = 0; at + 1 < text.size(); at += 2) {
    auto character = unit(at);
    if ((character & 0xFC00U) == 0xD800U && at + 3 < text.size() && (unit(at + 2) & 0xFC00U) == 0xDC00U) {
      character = 0x10000U + ((character & 0x3FFU) << 10U) + (unit(at + 2) & 0x3FFU);
      at += 2;
    }
    add_utf8(out, character);
  }
  return out;
}

// As UTF-8 without a byte order mark; `store` keeps the text alive if it had to be converted.
std::string_view as_utf8(std::string_view text, std::string &store) {
  if (text.starts_with("\xFF\xFE")) {
    store = from_utf16(text.substr(2));
    return store;
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

// The document may follow a warning.
bool is_xml(std::string_view text) {
  return trim(text.substr(0, 1024)).starts_with('<') || text.find(kRoot) != std::string_view::npos;
}

}  // namespace

bool is_log(std::string_view start) {
  std::string store;
  start = as_utf8(start, store);
  if (is_xml(start) || is_text_log(start)) return true;
  const auto line = first_line(start);
  return is_csv_header(line) || is_csv_row(line);
}

Result<std::vector<SnapshotPtr>> read_log(std::string_view text, const std::string &name, std::string_view columns) {
  if (text.size() > kLargestLog) {
    return failure(fmt::format("{}: too large for a log of nvidia-smi", name), "at most 64 MiB are read: cut it");
  }
  std::string store;
  text = as_utf8(text, store);
  if (trim(text).empty()) return failure(fmt::format("{}: empty", name), "make it with nvidia-smi -q -x");
  if (is_xml(text)) return read_xml(text, name);
  return is_text_log(text) ? read_text_log(text, name) : read_csv(text, name, columns);
}

}  // namespace gpulse::smi
