// SPDX-License-Identifier: Apache-2.0
#include "term/fit.hpp"

#include <algorithm>

namespace gpulse::term {

namespace {

class Fitting {
 public:
  Fitting(std::span<const FitColumn> columns, int available, const FitRules &rules)
      : columns_(columns), available_(available), rules_(rules) {
    widths_.reserve(columns.size());
    for (const auto &column : columns) widths_.push_back(column.width);
  }

  std::vector<int> fit() {
    while (left() < 0 && drop_least(rules_.spare)) continue;
    while (left() < 0 && shrink_widest()) continue;
    while (left() < 0 && drop_least(rules_.must)) continue;
    // Only one column is left, and even that is too wide.
    if (left() < 0 && any_may_go()) {
      for (auto &width : widths_) width = std::min(width, std::max(0, available_));
    }
    int spare = left();
    restore(spare);
    rules_.in_turn ? grow_in_turn(spare) : grow(spare);
    return std::move(widths_);
  }

 private:
  // Then one is always left over.
  bool any_may_go() const { return rules_.must == std::numeric_limits<int>::max(); }

  int left() const {
    int sum = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (widths_[i] > 0) sum += widths_[i] + (sum > 0 ? columns_[i].gap : 0);
    }
    return available_ - sum;
  }

  bool drop_least(int below) {
    std::size_t lowest = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (widths_[i] > 0 && (lowest == columns_.size() || columns_[i].keep < columns_[lowest].keep)) lowest = i;
    }
    const auto shown = std::ranges::count_if(widths_, [](int width) { return width > 0; });
    if (lowest == columns_.size() || columns_[lowest].keep >= below || (any_may_go() && shown <= 1)) return false;
    widths_[lowest] = 0;
    return true;
  }

  bool shrink_widest() {
    std::size_t widest = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].min == 0 || widths_[i] <= columns_[i].min) continue;
      if (widest == columns_.size() || widths_[i] > widths_[widest]) widest = i;
    }
    if (widest == columns_.size()) return false;
    --widths_[widest];
    return true;
  }

  void widen(std::size_t column, int to, int &spare) {
    if (widths_[column] == 0) return;
    const int more = std::clamp(spare, 0, std::max(0, to - widths_[column]));
    widths_[column] += more;
    spare -= more;
  }

  // What was cut off comes before what only looks better wide.
  void restore(int &spare) {
    const auto count = columns_.size();
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = rules_.last_first ? count - 1 - i : i;
      widen(at, std::max(columns_[at].width, columns_[at].full), spare);
    }
  }

  void grow(int &spare) {
    for (std::size_t i = 0; i < columns_.size(); ++i) widen(i, columns_[i].max, spare);
  }

  void grow_in_turn(int spare) {
    for (bool grown = true; spare > 0 && grown;) {
      grown = false;
      for (std::size_t i = 0; i < columns_.size() && spare > 0; ++i) {
        if (widths_[i] == 0 || widths_[i] >= columns_[i].max) continue;
        ++widths_[i];
        --spare;
        grown = true;
      }
    }
  }

  std::span<const FitColumn> columns_;
  int available_;
  const FitRules &rules_;
  std::vector<int> widths_;
};

}  // namespace

std::vector<int> fit_columns(std::span<const FitColumn> columns, int available, const FitRules &rules) {
  return Fitting(columns, available, rules).fit();
}

}  // namespace gpulse::term
