// SPDX-License-Identifier: Apache-2.0
// The readings of a stretch of time as one row of a history: of each kept metric its fold, and where they are kept the
// least and the greatest. Pure.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "history/schema.hpp"
#include "metric/folding.hpp"
#include "model/row.hpp"

namespace gpulse::history {

struct Folded {
  std::optional<double> value;  // none: there was no reading
  double least = 0, greatest = 0;
};

// Of one metric.
class MetricFolding {
 public:
  explicit MetricFolding(Fold fold) : fold_(fold), values_(fold) {}

  // `seconds`: how much time the sample stands for. What a counter has grown by since the value before counts only if
  // the two belong together.
  void add(double value, WallTime time, double seconds);
  Folded folded() const;
  // The next stretch begins; what a counter was at is remembered.
  void clear();

 private:
  Fold fold_;
  Folding values_;
  std::optional<std::pair<double, WallTime>> before_;  // of a counter
  double growth_ = 0;
  bool has_growth_ = false;
};

class Bucket {
 public:
  explicit Bucket(Scope scope);

  void add(const Row &row, WallTime time, double seconds);
  bool is_empty() const { return seconds_ == 0; }
  double seconds() const { return seconds_; }
  // In the order of kept_metrics().
  std::vector<Folded> folded() const;
  void clear();

 private:
  std::span<const KeptMetric> metrics_;
  std::vector<MetricFolding> cells_;
  double seconds_ = 0;
};

// As the columns of kept_metrics(), from this parameter on.
void bind_folded(Statement &statement, int parameter, Scope scope, std::span<const Folded> folded);

// Several rows as one: means weighed by the time they stand for.
class Merging {
 public:
  explicit Merging(Fold fold) : fold_(fold) {}
  void add(const Folded &row, double seconds);
  Folded folded() const;

 private:
  Fold fold_;
  bool is_empty_ = true;
  double sum_ = 0, weight_ = 0, total_ = 0, last_ = 0, highest_ = 0, least_ = 0, greatest_ = 0;
  std::uint64_t bits_ = 0;
};

}  // namespace gpulse::history
