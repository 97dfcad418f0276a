// SPDX-License-Identifier: Apache-2.0
#include "record/schema.hpp"

namespace gpulse::record {

namespace {

constexpr std::size_t kMostKeys = 4096;  // per scope
constexpr std::size_t kLongestKey = 255;

// A gauge that became a counter is still the same number; the words of a state are not those of a set.
bool same_meaning(Kind then, Kind now) {
  const auto plain = [](Kind kind) { return kind == Kind::gauge || kind == Kind::counter; };
  return then == now || (plain(then) && plain(now));
}

std::uint16_t todays_slot(Scope scope, std::string_view key, Kind kind) {
  std::uint16_t found = kNoSlot;
  for_each_metric(scope, [&](MetricId id, const Metric &metric) {
    if (metric.key == key && same_meaning(kind, metric.kind)) found = static_cast<std::uint16_t>(slot(id));
  });
  return found;
}

}  // namespace

SchemaKeys todays_keys() {
  SchemaKeys keys;
  for (std::size_t i = 0; i < kScopes; ++i) {
    for_each_metric(static_cast<Scope>(i),
                    [&](MetricId, const Metric &metric) { keys[i].push_back({metric.key, metric.kind}); });
  }
  return keys;
}

void encode_schema(WireWriter &out, const SchemaKeys &keys) {
  out.varint(keys.size());
  for (const auto &scope : keys) {
    out.varint(scope.size());
    for (const auto &[key, kind] : scope) {
      out.u8(static_cast<std::uint8_t>(kind));
      out.text(key);
    }
  }
}

std::optional<SlotMap> decode_schema(WireReader &in) {
  SlotMap map;
  if (in.varint() != kScopes) return std::nullopt;
  for (std::size_t i = 0; i < kScopes; ++i) {
    const auto keys = in.count(kMostKeys);
    for (std::uint64_t n = 0; n < keys && !in.failed(); ++n) {
      const auto kind = in.u8();
      const auto key = in.text(kLongestKey);
      if (kind > static_cast<std::uint8_t>(Kind::text)) in.fail();
      auto &slots = static_cast<Kind>(kind) == Kind::text ? map.texts[i] : map.numbers[i];
      slots.push_back(in.failed() ? kNoSlot : todays_slot(static_cast<Scope>(i), key, static_cast<Kind>(kind)));
    }
  }
  if (in.failed() || !in.at_end()) return std::nullopt;
  return map;
}

std::uint64_t schema_hash(std::span<const std::byte> body) {
  std::uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a
  for (const auto byte : body) hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3U;
  return hash;
}

}  // namespace gpulse::record
