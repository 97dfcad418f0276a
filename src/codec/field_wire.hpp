// SPDX-License-Identifier: Apache-2.0
// Structures as bytes, field by field. A writer and a reader that are called alike, so that one function can name the
// fields of a structure for both ways. What the reader would refuse for its size the writer cuts off.
#pragma once

#include <algorithm>
#include <concepts>
#include <limits>
#include <vector>

#include "base/text.hpp"
#include "codec/row_codec.hpp"
#include "codec/snapshot_codec.hpp"
#include "codec/wire.hpp"

namespace gpulse::codec {

class FieldWriter {
 public:
  explicit FieldWriter(WireWriter &out) : out_(out) {}

  template <class... Fields>
  void operator()(const Fields &...fields) {
    (put(fields), ...);
  }
  // Whether what an earlier version did not have is there.
  static bool has_more() { return true; }
  // The elements beyond `limit` are left out.
  template <class Element>
  void list(const std::vector<Element> &all, std::size_t limit, auto each) {
    const auto count = std::min(all.size(), limit);
    out_.varint(count);
    for (std::size_t i = 0; i < count; ++i) each(all[i]);
  }
  template <class Element, std::size_t Size>
  void array(const std::array<Element, Size> &all, auto each) {
    out_.varint(Size);
    for (const auto &element : all) each(element);
  }

 private:
  void put(bool value) { out_.u8(value ? 1 : 0); }
  void put(std::unsigned_integral auto value) { out_.varint(value); }
  void put(std::signed_integral auto value) { out_.signed_varint(value); }
  void put(double value) { put(Reading(value)); }
  void put(const Reading &reading) { encode_reading(out_, reading); }
  void put(const Text &text) { out_.text(std::string_view(text).substr(0, kLongestText)); }

  WireWriter &out_;
};

class FieldReader {
 public:
  explicit FieldReader(WireReader &in) : in_(in) {}

  template <class... Fields>
  void operator()(Fields &...fields) {
    (take(fields), ...);
  }
  bool has_more() const { return !in_.at_end(); }
  template <class Element>
  void list(std::vector<Element> &all, std::size_t limit, auto each) {
    all.clear();
    const auto count = in_.count(limit);
    // No room is made in advance: a count of many may be all that there is.
    for (std::uint64_t i = 0; i < count && !in_.failed(); ++i) each(all.emplace_back());
  }
  // Another version may have more elements, which are read past, or fewer.
  template <class Element, std::size_t Size>
  void array(std::array<Element, Size> &all, auto each) {
    constexpr std::uint64_t kMostElements = 256;
    const auto count = in_.count(kMostElements);
    for (std::uint64_t i = 0; i < count && !in_.failed(); ++i) {
      Element unknown{};
      each(i < Size ? all[i] : unknown);
    }
  }

 private:
  void take(bool &value) { value = in_.count(1) != 0; }
  template <std::unsigned_integral Integer>
  void take(Integer &value) {
    value = static_cast<Integer>(in_.count(std::numeric_limits<Integer>::max()));
  }
  void take(std::int64_t &value) { value = in_.signed_varint(); }
  void take(double &value) {
    const auto reading = decode_reading(in_);
    if (!reading) in_.fail();
    value = reading.value_or(0);
  }
  void take(Reading &reading) { reading = decode_reading(in_); }
  void take(Text &text) { text = Text(in_.text(kLongestText)); }

  WireReader &in_;
};

}  // namespace gpulse::codec
