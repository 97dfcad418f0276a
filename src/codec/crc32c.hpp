// SPDX-License-Identifier: Apache-2.0
// The Castagnoli checksum, as in iSCSI and ext4: finds every error of up to three bits in a block of ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gpulse::codec {

// `seed` is the checksum of what comes before, so that pieces can be summed one after the other.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed = 0);

}  // namespace gpulse::codec
