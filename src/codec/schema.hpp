// SPDX-License-Identifier: Apache-2.0
// Which metric each slot of a recording is. The table grows and changes its order; a recording carries the keys it was
// made with, so that it can be read by another version: keys of today find their slot, others are dropped.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "codec/row_codec.hpp"
#include "codec/wire.hpp"
#include "metric/table.hpp"

namespace gpulse::codec {

// For each slot of the recording, the slot in today's table or kNoSlot; numbers and texts apart.
struct SlotMap {
  std::array<std::vector<std::uint16_t>, kScopes> numbers;
  std::array<std::vector<std::uint16_t>, kScopes> texts;

  std::span<const std::uint16_t> of(Scope scope) const { return numbers[static_cast<std::size_t>(scope)]; }
  std::span<const std::uint16_t> texts_of(Scope scope) const { return texts[static_cast<std::size_t>(scope)]; }
};

struct SchemaKey {
  std::string_view key;
  Kind kind = Kind::gauge;
};
using SchemaKeys = std::array<std::vector<SchemaKey>, kScopes>;

SchemaKeys todays_keys();

// Body of a schema block.
void encode_schema(WireWriter &out, const SchemaKeys &keys);
std::optional<SlotMap> decode_schema(WireReader &in);

// Names a schema in every key block, so that samples are never read by the wrong one.
std::uint64_t schema_hash(std::span<const std::byte> body);

struct Schema {
  std::vector<std::byte> body;
  std::uint64_t hash = 0;
  SlotMap slots;
};
// Of the table this program was built with.
const Schema &todays_schema();

}  // namespace gpulse::codec
