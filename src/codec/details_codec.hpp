// SPDX-License-Identifier: Apache-2.0
// The details of a device as bytes that stand alone, bit by bit. Numbers and texts of the row go by the keys of a
// schema, so that another version finds those it knows. `told` and `logged` are left out: only logs of nvidia-smi have
// them.
#pragma once

#include <optional>

#include "codec/schema.hpp"
#include "codec/wire.hpp"
#include "model/device_details.hpp"

namespace gpulse::codec {

// What the bytes may ask for at most; beyond that, lists are cut off by the encoder and refused by the decoder.
inline constexpr std::size_t kMostMemoryClocks = 4096;
inline constexpr std::size_t kMostGraphicsClocks = 4096;  // of each memory clock
inline constexpr std::size_t kMostRetiredPages = 65536;
inline constexpr std::size_t kMostAccounted = 65536;
inline constexpr std::size_t kMostLinks = 4096;
inline constexpr std::size_t kMostParts = 256;
inline constexpr std::size_t kMostInstances = 256;         // of each part
inline constexpr std::size_t kMostInstanceProfiles = 256;  // of the device, and of each part
inline constexpr std::size_t kMostStarts = 256;            // of each profile

// By the table of today.
void encode_details(WireWriter &out, const DeviceDetails &details);
// `slots` are those of the schema that the details were encoded by. Leaves `in` behind them. None: the bytes make no
// sense.
std::optional<DeviceDetails> decode_details(WireReader &in, const SlotMap &slots);

}  // namespace gpulse::codec
