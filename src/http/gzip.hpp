// SPDX-License-Identifier: Apache-2.0
// Answers made smaller, each once: several clients often get the very same text. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace gpulse::http {

// Empty where it could not be done.
std::string gzip(std::string_view text);
// What gzip() was given, of bytes that are known to be good; empty where they are not.
std::string unpack(std::string_view packed);

// Why bytes from outside could not be unpacked.
enum class Unpacking : std::uint8_t { malformed, too_large };
std::expected<std::string, Unpacking> unpack(std::string_view packed, std::size_t most_bytes);

class GzipCache {
 public:
  using TextPtr = std::shared_ptr<const std::string>;
  // Null where it would not get smaller.
  TextPtr compress(const TextPtr &text);

 private:
  struct Entry {
    std::weak_ptr<const std::string> text;  // a text that is gone frees its place
    TextPtr compressed;
  };
  std::mutex mutex_;
  std::array<Entry, 8> entries_;
  std::size_t next_ = 0;
};

}  // namespace gpulse::http
