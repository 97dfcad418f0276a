// SPDX-License-Identifier: Apache-2.0
// Reads the fields of one protobuf message, in their order. Damaged bytes end it; nothing is copied. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpulse::kube {

struct ProtobufField {
  std::uint32_t number = 0;
  std::string_view bytes{};  // of a text or a message within; of other kinds empty
};

class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view bytes) : rest_(bytes) {}

  // None: that was all, or the rest makes no sense.
  std::optional<ProtobufField> next() {
    if (rest_.empty() || broken_) return std::nullopt;
    const auto key = varint();
    if (!key || *key >> 3U == 0 || *key >> 3U > kMostNumber) return fail();
    ProtobufField field{.number = static_cast<std::uint32_t>(*key >> 3U)};
    switch (*key & 7U) {
      case 0:
        if (!varint()) return fail();
        return field;
      case 1:
        return skip(8) ? std::optional(field) : fail();
      case 2: {
        const auto size = varint();
        if (!size || *size > rest_.size()) return fail();
        field.bytes = rest_.substr(0, *size);
        rest_.remove_prefix(*size);
        return field;
      }
      case 5:
        return skip(4) ? std::optional(field) : fail();
      default:
        return fail();
    }
  }
  bool is_broken() const { return broken_; }

 private:
  static constexpr std::uint64_t kMostNumber = (1U << 29U) - 1;

  std::optional<ProtobufField> fail() {
    broken_ = true;
    return std::nullopt;
  }
  bool skip(std::size_t size) {
    if (size > rest_.size()) return false;
    rest_.remove_prefix(size);
    return true;
  }
  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<std::uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    return std::nullopt;
  }

  std::string_view rest_;
  bool broken_ = false;
};

}  // namespace gpulse::kube
