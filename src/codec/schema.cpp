// SPDX-License-Identifier: Apache-2.0
#include "codec/schema.hpp"

#include <unordered_map>

namespace gpulse::codec {

namespace {

constexpr std::size_t kMostKeys = 4096;  // per scope
constexpr std::size_t kLongestKey = 255;
constexpr std::size_t kFewestScopes = 4;  // of the first recordings
constexpr std::size_t kMostScopes = 64;

// A gauge that became a counter is still the same number; the words of a state are not those of a set.
bool same_meaning(Kind then, Kind now) {
  const auto plain = [](Kind kind) { return kind == Kind::gauge || kind == Kind::counter; };
  return then == now || (plain(then) && plain(now));
}

using MetricsByKey = std::array<std::unordered_map<std::string_view, MetricId>, kScopes>;

const MetricsByKey &metrics_by_key() {
  static const auto table = [] {
    MetricsByKey metrics;
    for (std::size_t i = 0; i < kScopes; ++i) {
      for_each_metric(static_cast<Scope>(i),
                      [&](MetricId id, const Metric &metric) { metrics[i].emplace(metric.key, id); });
    }
    return metrics;
  }();
  return table;
}

std::uint16_t todays_slot(std::size_t scope, std::string_view key, Kind kind) {
  const auto &metrics = metrics_by_key()[scope];
  const auto found = metrics.find(key);
  if (found == metrics.end() || !same_meaning(kind, describe(found->second).kind)) return kNoSlot;
  return static_cast<std::uint16_t>(slot(found->second));
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
  // Scopes are only ever added: an older recording has fewer, a newer one some that are read past.
  const auto scopes = in.count(kMostScopes);
  if (in.failed() || scopes < kFewestScopes) return std::nullopt;
  for (std::size_t i = 0; i < scopes && !in.failed(); ++i) {
    const auto keys = in.count(kMostKeys);
    for (std::uint64_t n = 0; n < keys && !in.failed(); ++n) {
      const auto kind = in.u8();
      const auto key = in.text(kLongestKey);
      if (kind > static_cast<std::uint8_t>(Kind::text)) in.fail();
      if (i >= kScopes) continue;
      auto &slots = static_cast<Kind>(kind) == Kind::text ? map.texts[i] : map.numbers[i];
      slots.push_back(in.failed() ? kNoSlot : todays_slot(i, key, static_cast<Kind>(kind)));
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

const Schema &todays_schema() {
  static const auto schema = [] {
    WireWriter body;
    encode_schema(body, todays_keys());
    WireReader in(body.view());
    return Schema{.body = {body.view().begin(), body.view().end()},
                  .hash = schema_hash(body.view()),
                  .slots = decode_schema(in).value()};
  }();
  return schema;
}

}  // namespace gpulse::codec
