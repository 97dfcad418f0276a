// SPDX-License-Identifier: Apache-2.0
// Values of a stretch of time as one, as their metric folds. A counter stays what it was last: its growth is the
// difference of two such values.
#pragma once

#include <algorithm>
#include <cstdint>

#include "metric/format.hpp"
#include "metric/metric.hpp"

namespace gpulse {

class Folding {
 public:
  explicit Folding(Fold fold) : fold_(fold) {}

  void add(double value) {
    sum_ += value;
    lowest_ = count_ == 0 ? value : std::min(lowest_, value);
    highest_ = count_ == 0 ? value : std::max(highest_, value);
    bits_ |= set_bits(value);
    last_ = value;
    ++count_;
  }
  std::uint64_t count() const { return count_; }
  // Of one that has at least one value.
  double value() const {
    switch (fold_) {
      case Fold::mean:
        return sum_ / static_cast<double>(count_);
      case Fold::maximum:
        return highest_;
      case Fold::any:
        return static_cast<double>(bits_);
      case Fold::by_kind:
      case Fold::last:
      case Fold::counter:
        break;
    }
    return last_;
  }
  double least() const { return lowest_; }
  double greatest() const { return highest_; }
  void clear() { *this = Folding(fold_); }

 private:
  Fold fold_;
  std::uint64_t count_ = 0, bits_ = 0;
  double sum_ = 0, lowest_ = 0, highest_ = 0, last_ = 0;
};

}  // namespace gpulse
