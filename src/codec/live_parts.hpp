// SPDX-License-Identifier: Apache-2.0
// What a recording leaves out of a snapshot and a program that looks at another one's snapshots needs: a process's
// place, start, inner pids and arguments, how a source is doing, what a device may do with its peers. The details of
// devices are not part of it (details_codec.hpp).
#pragma once

#include "codec/wire.hpp"
#include "model/snapshot.hpp"

namespace gpulse::codec {

// What the bytes may ask for at most; beyond that, lists are cut off by the encoder and refused by the decoder.
inline constexpr std::size_t kMostArguments = 4096;
inline constexpr std::size_t kLongestArguments = std::size_t{1} << 17U;   // of a process, all together
inline constexpr std::size_t kMostArgumentBytes = std::size_t{1} << 25U;  // of a snapshot
inline constexpr std::size_t kMostInnerPids = 32;
inline constexpr std::size_t kMostExcluded = 4096;

// A process's owner decides how many arguments it has: those of processes for which there is no room any more are left
// out, as if /proc did not tell.
void encode_live_parts(WireWriter &out, const Snapshot &snapshot);
// Fills them into what a SnapshotDecoder has made of the same snapshot, and leaves `in` behind them. False: the bytes
// make no sense or are of another snapshot; this one is of no use then.
bool decode_live_parts(WireReader &in, Snapshot &snapshot);

}  // namespace gpulse::codec
