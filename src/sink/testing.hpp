// SPDX-License-Identifier: Apache-2.0
// For the tests of sinks: an event file taken apart again, by what the format says and not by our own code.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpulse::sink::testing {

inline std::string bytes_of(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The only file in the folder.
inline std::filesystem::path only_file(const std::filesystem::path &folder) {
  std::vector<std::filesystem::path> files;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  EXPECT_EQ(files.size(), 1U) << folder;
  return files.empty() ? std::filesystem::path() : files.front();
}

template <class Number>
Number number_at(const std::string &bytes, std::size_t at) {
  Number value{};
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// The fields of a protocol buffer: numbers as they are, everything else as bytes.
struct Field {
  std::uint64_t number = 0;
  std::string bytes;
};
inline std::multimap<int, Field> fields_of(std::string_view bytes) {
  std::multimap<int, Field> fields;
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (unsigned shift = 0; at < bytes.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes[at++]);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80U) break;
    }
    return value;
  };
  while (at < bytes.size()) {
    const auto key = varint();
    Field field;
    if ((key & 7U) == 0) {
      field.number = varint();
    } else {
      const auto size = (key & 7U) == 1 ? 8U : (key & 7U) == 5 ? 4U : varint();
      field.bytes = bytes.substr(at, size);
      at += size;
    }
    fields.emplace(static_cast<int>(key >> 3U), field);
  }
  return fields;
}

struct Event {
  double time = 0;
  std::int64_t step = 0;
  std::map<std::string, float> values;
  std::map<std::string, std::string> titles;  // of the tags that were introduced
};

// All events but the first, which says the version.
inline std::vector<Event> events_of(const std::filesystem::path &file) {
  const auto bytes = bytes_of(file);
  std::vector<Event> events;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto length = number_at<std::uint64_t>(bytes, at);
    const auto fields = fields_of(std::string_view(bytes).substr(at + 12, length));
    at += 12 + length + 4;
    EXPECT_LE(at, bytes.size());
    if (fields.contains(3)) continue;
    Event event{.time = std::bit_cast<double>(number_at<std::uint64_t>(fields.find(1)->second.bytes, 0)),
                .step = static_cast<std::int64_t>(fields.find(2)->second.number),
                .values = {},
                .titles = {}};
    const auto summary = fields_of(fields.find(5)->second.bytes);
    for (const auto &[number, value] : summary) {
      const auto parts = fields_of(value.bytes);
      const auto &tag = parts.find(1)->second.bytes;
      event.values[tag] = number_at<float>(parts.find(2)->second.bytes, 0);
      if (const auto note = parts.find(9); note != parts.end()) {
        event.titles[tag] = fields_of(note->second.bytes).find(2)->second.bytes;
      }
    }
    events.push_back(event);
  }
  return events;
}

}  // namespace gpulse::sink::testing
