// SPDX-License-Identifier: Apache-2.0
// The texts of a row, each after a byte: 0, or 1 + the reason why there is none. How a text itself is written is up to
// the caller.
#pragma once

#include <cstdint>
#include <span>

#include "codec/wire.hpp"
#include "model/row.hpp"

namespace gpulse::codec {

void encode_texts(WireWriter &out, const TextRow &row, auto write_text) {
  for (const auto &text : row.texts()) {
    if (text.has_value()) {
      out.u8(0);
      write_text(text.value());
    } else {
      out.u8(static_cast<std::uint8_t>(static_cast<unsigned>(text.reason()) + 1U));
      out.varint(text.code());
    }
  }
}

// `slots` says where each text goes, as decode_row() has it. `in` has failed where the bytes make no sense.
void decode_texts(WireReader &in, TextRow &row, std::span<const std::uint16_t> slots, auto read_text) {
  for (const auto slot : slots) {
    const auto form = in.u8();
    TextReading text;
    if (form == 0) {
      text = TextReading(read_text());
    } else if (form <= static_cast<unsigned>(kLastReason) + 1U) {
      const auto code = in.count(0xFFFF);
      text = TextReading(static_cast<Reason>(form - 1), static_cast<std::uint16_t>(code));
    } else {
      in.fail();
    }
    if (in.failed()) return;
    if (slot < row.texts().size()) row.texts()[slot] = std::move(text);
  }
}

}  // namespace gpulse::codec
