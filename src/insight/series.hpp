// SPDX-License-Identifier: Apache-2.0
// The values that a metric had over a stretch of time, and what the rules ask of them. Plain values.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace gpulse::insight {

class Series {
 public:
  void add(double seconds, double value) {
    times_.push_back(seconds);
    values_.push_back(value);
  }
  bool empty() const { return values_.empty(); }
  std::size_t size() const { return values_.size(); }
  std::span<const double> times() const { return times_; }
  std::span<const double> values() const { return values_; }

  // None of a series without values.
  std::optional<double> mean() const;
  // Without the greatest tenth, so that one burst does not count for all of the time.
  std::optional<double> steady_mean() const;
  std::optional<double> first() const;
  std::optional<double> last() const;
  // The value that this share of all values does not exceed.
  std::optional<double> quantile(double share) const;
  // What part of the values is at least this; none of a series without values.
  std::optional<double> share_from(double least) const;

 private:
  std::vector<double> times_, values_;  // as long as each other
};

// A line through the values.
struct Trend {
  double per_second = 0;
  double fit = 0;  // the share of what happens that the line explains, from 0 to 1
};
// None of fewer than three values, or of values at one moment.
std::optional<Trend> trend(const Series &series);

// Stretches in which the values are low between others in which they are high.
struct Stalls {
  std::size_t count = 0;                  // with work before and after
  bool at_begin = false, at_end = false;  // one more, whose begin or end was not seen
  double seconds = 0;                     // that a stall takes, the median
  double busy_seconds = 0;                // between two, the median
  double first_work = 0;                  // before the first of them, in seconds
  double end_seconds = 0;                 // of the one at the end, so far
  double share = 0;                       // of all time that is stalled, those at the ends included
};
// `low` and `high` are where a value counts as stalled or at work. A stall is seen in at least two values.
Stalls find_stalls(const Series &series, double low, double high);

}  // namespace gpulse::insight
