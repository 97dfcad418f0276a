// SPDX-License-Identifier: Apache-2.0
#include "history/rollup.hpp"

#include <algorithm>

#include "history/times.hpp"

namespace gpulse::history {

void MetricFolding::add(double value, WallTime time, double seconds) {
  values_.add(value);
  if (fold_ != Fold::counter) return;
  if (before_ && belong_together(before_->second, time, seconds)) {
    // What a counter loses by a reset is not taken off.
    growth_ += std::max(0.0, value - before_->first);
    has_growth_ = true;
  }
  before_ = {value, time};
}

Folded MetricFolding::folded() const {
  if (fold_ == Fold::counter) {
    return has_growth_ ? Folded{.value = growth_, .least = growth_, .greatest = growth_} : Folded{};
  }
  if (values_.count() == 0) return {};
  return {.value = values_.value(), .least = values_.least(), .greatest = values_.greatest()};
}

void MetricFolding::clear() {
  values_.clear();
  growth_ = 0;
  has_growth_ = false;
}

Bucket::Bucket(Scope scope) : metrics_(kept_metrics(scope)) {
  cells_.reserve(metrics_.size());
  for (const auto &metric : metrics_) cells_.emplace_back(metric.fold);
}

void Bucket::add(const Row &row, WallTime time, double seconds) {
  seconds_ += seconds;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (const auto &reading = row[metrics_[i].id]) cells_[i].add(reading.value(), time, seconds);
  }
}

std::vector<Folded> Bucket::folded() const {
  std::vector<Folded> all;
  all.reserve(cells_.size());
  for (const auto &cell : cells_) all.push_back(cell.folded());
  return all;
}

void Bucket::clear() {
  seconds_ = 0;
  for (auto &cell : cells_) cell.clear();
}

void bind_folded(Statement &statement, int parameter, Scope scope, std::span<const Folded> folded) {
  const auto metrics = kept_metrics(scope);
  const auto put = [&](const Folded &cell, double value) {
    cell.value ? statement.bind(parameter, value) : statement.bind_null(parameter);
    ++parameter;
  };
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    put(folded[i], folded[i].value.value_or(0));
    if (!metrics[i].has_range) continue;
    put(folded[i], folded[i].least);
    put(folded[i], folded[i].greatest);
  }
}

void Merging::add(const Folded &row, double seconds) {
  if (!row.value) return;
  sum_ += *row.value * seconds;
  weight_ += seconds;
  total_ += *row.value;
  last_ = *row.value;
  bits_ |= set_bits(*row.value);
  highest_ = is_empty_ ? *row.value : std::max(highest_, *row.value);
  least_ = is_empty_ ? row.least : std::min(least_, row.least);
  greatest_ = is_empty_ ? row.greatest : std::max(greatest_, row.greatest);
  is_empty_ = false;
}

Folded Merging::folded() const {
  if (is_empty_) return {};
  Folded merged{.value = last_, .least = least_, .greatest = greatest_};
  if (fold_ == Fold::mean) merged.value = weight_ > 0 ? sum_ / weight_ : last_;
  if (fold_ == Fold::counter) merged.value = total_;
  if (fold_ == Fold::any) merged.value = static_cast<double>(bits_);
  if (fold_ == Fold::maximum) merged.value = highest_;
  return merged;
}

}  // namespace gpulse::history
