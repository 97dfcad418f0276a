// SPDX-License-Identifier: Apache-2.0
#include "codec/details_codec.hpp"

#include "codec/field_wire.hpp"
#include "codec/row_codec.hpp"
#include "codec/text_row_codec.hpp"

namespace gpulse::codec {

namespace {

// Each of these names the fields of a structure once, for writing and for reading.

void each_clocks(auto &wire, auto &clocks) {
  wire(clocks.memory_mhz);
  wire.list(clocks.graphics_mhz, kMostGraphicsClocks, wire);
}

void each_link(auto &wire, auto &link) {
  wire(link.number, link.state, link.bytes_per_second, link.remote_pci, link.remote_link);
  wire.array(link.capabilities, wire);
  wire(link.replays, link.recoveries, link.crc_errors);
  wire(link.data_tx_bytes, link.data_rx_bytes, link.raw_tx_bytes, link.raw_rx_bytes);
}

void each_profile(auto &wire, auto &profile) {
  wire(profile.name, profile.id, profile.slices, profile.count, profile.free, profile.memory_bytes);
  wire(profile.peer_to_peer);
  wire(profile.processors, profile.copy_engines, profile.decoders, profile.encoders, profile.jpegs, profile.ofas);
  wire.list(profile.starts, kMostStarts, wire);
  wire(profile.size);
}

void each_instance(auto &wire, auto &instance) {
  wire(instance.name, instance.id, instance.profile, instance.start, instance.size);
}

void each_part(auto &wire, auto &part) {
  each_instance(wire, part);
  wire.list(part.profiles, kMostInstanceProfiles, [&](auto &profile) { each_profile(wire, profile); });
  wire.list(part.instances, kMostInstances, [&](auto &instance) { each_instance(wire, instance); });
}

void each_list(auto &wire, auto &details) {
  wire.array(details.samples,
             [&](auto &window) { wire(window.count, window.seconds, window.max, window.min, window.mean); });
  wire.list(details.clocks, kMostMemoryClocks, [&](auto &clocks) { each_clocks(wire, clocks); });
  wire.list(details.retired_pages, kMostRetiredPages,
            [&](auto &page) { wire(page.address, page.time, page.double_bit); });
  wire.list(details.accounted, kMostAccounted, [&](auto &process) {
    wire(process.pid, process.gpu_percent, process.memory_percent, process.memory_max_bytes);
    wire(process.running_seconds, process.running);
  });
  wire.list(details.links, kMostLinks, [&](auto &link) { each_link(wire, link); });
  wire.list(details.instance_profiles, kMostInstanceProfiles, [&](auto &profile) { each_profile(wire, profile); });
  wire.list(details.parts, kMostParts, [&](auto &part) { each_part(wire, part); });
}

}  // namespace

void encode_details(WireWriter &out, const DeviceDetails &details) {
  static const Row blank = DeviceDetails().row;
  FieldWriter wire(out);
  encode_row(out, blank.readings(), details.row.readings());
  encode_texts(out, details.texts, [&](std::string_view text) { out.text(text.substr(0, kLongestText)); });
  each_list(wire, details);
}

std::optional<DeviceDetails> decode_details(WireReader &in, const SlotMap &slots) {
  DeviceDetails details;
  FieldReader wire(in);
  if (!decode_row(in, details.row.readings(), slots.of(Scope::detail))) return std::nullopt;
  decode_texts(in, details.texts, slots.texts_of(Scope::detail), [&] {
    Text text;
    wire(text);
    return text;
  });
  each_list(wire, details);
  if (in.failed()) return std::nullopt;
  return details;
}

}  // namespace gpulse::codec
