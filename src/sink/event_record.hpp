// SPDX-License-Identifier: Apache-2.0
// How events lie in a TensorBoard file: each is a record of its length, the length's checksum, the event, the event's
// checksum. Little endian whatever the machine; the checksums are CRC-32C, masked. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpulse::sink {

std::uint32_t masked_crc(std::string_view bytes);
void append_record(std::string &out, std::string_view event);

}  // namespace gpulse::sink
