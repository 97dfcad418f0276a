// SPDX-License-Identifier: Apache-2.0
// The samples of a stretch of time as one point for each curve: a metric of a device or of the host. A curve belongs to
// a UUID, whatever number the device has later. One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "metric/folding.hpp"
#include "metric/set.hpp"
#include "model/snapshot.hpp"
#include "sink/device_filter.hpp"
#include "view/tensorboard.hpp"

namespace gpulse::sink {

class Curves {
 public:
  Curves(const MetricSet &metrics, DeviceFilter filter);

  void add(const Snapshot &snapshot);

  // One for each curve that had a value since clear(). They refer to this object until it is changed.
  std::vector<view::CurvePoint> points() const;
  // The next point begins. `written`: what was said of the curves need not be said again.
  void clear(bool written);
  // A new file begins, in which nothing has been said of any curve.
  void introduce_again();

 private:
  struct Curve {
    MetricId metric;
    Fold fold = Fold::mean;
    Folding values;  // since clear()
    double scale = 1;
    std::string tag = {};
    view::CurveNote note = {};
    bool introduced = false;
    std::optional<double> last = {};
    double growth = 0;  // of a counter, since the first sample
  };
  struct Group {
    std::string uuid;
    std::string name;
    std::vector<Curve> curves;
  };

  Group *group_of(const Device &device);
  static Group make_group(std::string name, const std::vector<MetricId> &metrics, const Device *device);
  static void add(Group &group, const Row &row);

  std::vector<MetricId> metrics_;  // of a device
  DeviceFilter filter_;
  Group host_;
  std::vector<Group> groups_;
};

}  // namespace gpulse::sink
