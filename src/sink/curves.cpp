// SPDX-License-Identifier: Apache-2.0
#include "sink/curves.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace gpulse::sink {

namespace {

// More than any machine has, in case that a driver makes up a UUID for each sample.
constexpr std::size_t kMostGroups = 4096;

std::vector<MetricId> of_scope(const MetricSet &metrics, Scope scope) {
  std::vector<MetricId> ids;
  metrics.for_each(scope, [&](MetricId id) { ids.push_back(id); });
  return ids;
}

// A part of a tag: a slash would begin another group.
std::string tag_part(std::string_view text) {
  constexpr std::size_t kMost = 48;
  std::string part(text.substr(0, kMost));
  for (auto &c : part) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-' && c != '_') c = '_';
  }
  return part;
}

}  // namespace

Curves::Curves(const MetricSet &metrics, DeviceFilter filter)
    : metrics_(of_scope(metrics, Scope::device)),
      filter_(std::move(filter)),
      host_(make_group("host", of_scope(metrics, Scope::host), nullptr)) {}

Curves::Group Curves::make_group(std::string name, const std::vector<MetricId> &metrics, const Device *device) {
  Group group{.uuid = device != nullptr && device->identity != nullptr ? device->identity->uuid.str() : "",
              .name = std::move(name),
              .curves = {}};
  for (const auto id : metrics) {
    const auto &metric = describe(id);
    group.curves.push_back({.metric = id,
                            .fold = fold(metric),
                            .values = Folding(fold(metric)),
                            .scale = view::tensorboard_scale(metric.unit),
                            .tag = group.name + "/" + view::tensorboard_name(metric),
                            .note = view::tensorboard_note(metric, device)});
  }
  return group;
}

Curves::Group *Curves::group_of(const Device &device) {
  if (device.identity == nullptr) return nullptr;
  const auto &uuid = device.identity->uuid;
  const auto same = std::ranges::find_if(groups_, [&](const Group &group) { return uuid == group.uuid; });
  if (same != groups_.end()) return &*same;
  if (groups_.size() >= kMostGroups) return nullptr;
  auto name = view::tensorboard_group(device.id);
  // Another device had this number before: one curve must not go on with the other's values.
  if (std::ranges::any_of(groups_, [&](const Group &group) { return group.name == name; }))
    name += "-" + tag_part(uuid);
  groups_.push_back(make_group(std::move(name), metrics_, &device));
  return &groups_.back();
}

void Curves::add(const Snapshot &snapshot) {
  add(host_, snapshot.host);
  for (const auto &device : snapshot.devices) {
    if (!filter_.wants(device)) continue;
    if (auto *group = group_of(device)) add(*group, device.row);
  }
}

void Curves::add(Group &group, const Row &row) {
  for (auto &curve : group.curves) {
    const auto &reading = row[curve.metric];
    if (!reading) continue;
    const double value = reading.value();
    // What a counter loses by a reset is not taken off.
    if (curve.last && value > *curve.last) curve.growth += value - *curve.last;
    curve.last = value;
    curve.values.add(value);
  }
}

std::vector<view::CurvePoint> Curves::points() const {
  std::vector<view::CurvePoint> points;
  const auto take = [&](const Group &group) {
    for (const auto &curve : group.curves) {
      if (curve.values.count() == 0) continue;
      const auto value = (curve.fold == Fold::counter ? curve.growth : curve.values.value()) * curve.scale;
      // What does not fit into a float would be infinite.
      if (!(std::abs(value) <= double{std::numeric_limits<float>::max()})) continue;
      points.push_back(
          {.tag = curve.tag, .value = static_cast<float>(value), .note = curve.introduced ? nullptr : &curve.note});
    }
  };
  std::ranges::for_each(groups_, take);
  take(host_);
  return points;
}

void Curves::clear(bool written) {
  const auto begin = [&](Group &group) {
    for (auto &curve : group.curves) {
      curve.introduced = curve.introduced || (written && curve.values.count() > 0);
      curve.values.clear();
    }
  };
  std::ranges::for_each(groups_, begin);
  begin(host_);
}

void Curves::introduce_again() {
  const auto forget = [](Group &group) {
    for (auto &curve : group.curves) curve.introduced = false;
  };
  std::ranges::for_each(groups_, forget);
  forget(host_);
}

}  // namespace gpulse::sink
