// SPDX-License-Identifier: Apache-2.0
// A sample as the bytes that a slot holds behind its numbers: the snapshot's length (u32), the snapshot, its live
// parts.
#pragma once

#include <span>

#include "codec/snapshot_codec.hpp"

namespace gpulse::share {

Result<void> encode_sample(codec::WireWriter &out, codec::SnapshotEncoder &encoder, const SnapshotPtr &snapshot);
// Null: the bytes make no sense. `slots`: of the agent's keys.
std::shared_ptr<Snapshot> decode_sample(std::span<const std::byte> bytes, WallTime time, const codec::SlotMap &slots);

}  // namespace gpulse::share
