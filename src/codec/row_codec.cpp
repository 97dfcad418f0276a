// SPDX-License-Identifier: Apache-2.0
#include "codec/row_codec.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <optional>

namespace gpulse::codec {

namespace {

// What the low four bits of an entry say; below kScales.size() it is the scale of a number.
constexpr std::array kScales{1.0, 10.0, 100.0, 1e3, 1e6, 1e9};
constexpr std::uint8_t kReason = 8;      // a byte
constexpr std::uint8_t kReasonCode = 9;  // a byte and a varint
constexpr std::uint8_t kBits = 10;       // which bytes of value XOR previous value are not 0, and those bytes
constexpr unsigned kFormBits = 4;

constexpr double kLargest = 9007199254740992.0;  // 2^53: beyond, doubles are no longer every integer

std::uint64_t bits(const Reading &reading) {
  return reading.has_value() ? std::bit_cast<std::uint64_t>(reading.value()) : 0;
}

// n such that value is exactly n/scale.
std::optional<std::int64_t> scaled(double value, double scale) {
  const double product = std::nearbyint(value * scale);
  if (!(std::fabs(product) < kLargest)) return std::nullopt;
  const auto number = static_cast<std::int64_t>(product);  // also loses the sign of -0, which is no n/scale
  const double back = static_cast<double>(number) / scale;
  if (std::bit_cast<std::uint64_t>(back) != std::bit_cast<std::uint64_t>(value)) return std::nullopt;
  return number;
}

std::int64_t base_of(const Reading &before, double scale) {
  return before.has_value() ? scaled(before.value(), scale).value_or(0) : 0;
}

// The first scale at which the value is whole; better one at which the value before is whole too: after 510.488 W,
// 510.49 W is 2 thousandths more.
std::optional<std::size_t> choose_scale(const Reading &before, double now) {
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < kScales.size(); ++i) {
    if (!scaled(now, kScales[i])) continue;
    if (!before.has_value() || scaled(before.value(), kScales[i])) return i;
    if (!first) first = i;
  }
  return first;
}

void encode_bits(WireWriter &out, std::uint64_t changed) {
  const auto leading = static_cast<unsigned>(std::countl_zero(changed | 1U)) / 8;
  const auto trailing = changed == 0 ? 0U : static_cast<unsigned>(std::countr_zero(changed)) / 8;
  out.u8(static_cast<std::uint8_t>((leading << 4U) | trailing));
  for (unsigned i = trailing; i < 8 - leading; ++i) out.u8(static_cast<std::uint8_t>(changed >> (8 * i)));
}

std::uint64_t decode_bits(WireReader &in) {
  const auto control = in.u8();
  const unsigned leading = control >> 4U;
  const unsigned trailing = control & 0xFU;
  if (leading + trailing > 7) {
    in.fail();
    return 0;
  }
  std::uint64_t changed = 0;
  for (unsigned i = trailing; i < 8 - leading; ++i) changed |= std::uint64_t{in.u8()} << (8 * i);
  return changed;
}

void encode_change(WireWriter &out, std::uint64_t gap, const Reading &before, const Reading &now) {
  const auto entry = [&](std::size_t form) { out.varint((gap << kFormBits) | form); };
  if (!now.has_value()) {
    entry(now.code() == 0 ? kReason : kReasonCode);
    out.u8(static_cast<std::uint8_t>(now.reason()));
    if (now.code() != 0) out.varint(now.code());
    return;
  }
  if (const auto form = choose_scale(before, now.value())) {
    const double scale = kScales[*form];
    entry(*form);
    out.signed_varint(scaled(now.value(), scale).value_or(0) - base_of(before, scale));
    return;
  }
  entry(kBits);
  encode_bits(out, bits(now) ^ bits(before));
}

Reading decode_change(WireReader &in, std::size_t form, const Reading &before) {
  if (form < kScales.size()) {
    const auto difference = in.signed_varint();
    const auto number = static_cast<std::int64_t>(static_cast<std::uint64_t>(base_of(before, kScales[form])) +
                                                  static_cast<std::uint64_t>(difference));
    return Reading(static_cast<double>(number) / kScales[form]);
  }
  if (form == kBits) return Reading(std::bit_cast<double>(decode_bits(in) ^ bits(before)));
  if (form != kReason && form != kReasonCode) in.fail();
  const auto reason = in.u8();
  if (reason > static_cast<std::uint8_t>(kLastReason)) in.fail();
  const auto code = form == kReasonCode ? in.count(0xFFFF) : 0;
  return Reading(static_cast<Reason>(reason), static_cast<std::uint16_t>(code));
}

}  // namespace

void encode_reading(WireWriter &out, const Reading &reading) { encode_change(out, 0, Reason::not_supported, reading); }

Reading decode_reading(WireReader &in) {
  const auto form = in.u8();
  const Reading decoded = decode_change(in, form, Reason::not_supported);
  return in.failed() ? Reading(Reason::not_supported) : decoded;
}

void encode_row(WireWriter &out, std::span<const Reading> before, std::span<const Reading> now) {
  std::uint64_t changed = 0;
  for (std::size_t i = 0; i < now.size(); ++i) changed += identical(before[i], now[i]) ? 0U : 1U;
  out.varint(changed);
  std::size_t next = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (identical(before[i], now[i])) continue;
    encode_change(out, i - next, before[i], now[i]);
    next = i + 1;
  }
}

bool decode_row(WireReader &in, std::span<Reading> row, std::span<const std::uint16_t> slots) {
  const auto changed = in.count(slots.size());
  std::size_t next = 0;
  for (std::uint64_t n = 0; n < changed; ++n) {
    const auto entry = in.varint();
    const auto gap = entry >> kFormBits;
    if (in.failed() || gap >= slots.size() - next) return false;
    const auto at = next + gap;
    next = at + 1;
    const auto slot = slots[at];
    // What is not in today's table is read past; its numbers are differences to something not kept.
    Reading unknown = Reason::not_supported;
    Reading &reading = slot < row.size() ? row[slot] : unknown;
    const Reading decoded = decode_change(in, entry & ((1U << kFormBits) - 1), reading);
    if (in.failed()) return false;
    reading = decoded;
  }
  return !in.failed();
}

}  // namespace gpulse::codec
