// SPDX-License-Identifier: Apache-2.0
// A vector whose copies share their elements; a change makes new ones.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace gpulse {

template <class T>
class SharedVector {
 public:
  using value_type = T;  // NOLINT(readability-identifier-naming): as the library's containers call it

  SharedVector() = default;
  SharedVector(std::initializer_list<T> all) : SharedVector(std::vector<T>(all)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): as good as a vector
  SharedVector(std::vector<T> all) : all_(std::make_shared<const std::vector<T>>(std::move(all))) {}

  auto begin() const { return get().begin(); }
  auto end() const { return get().end(); }
  auto rbegin() const { return get().rbegin(); }
  auto rend() const { return get().rend(); }
  const T *data() const { return get().data(); }
  std::size_t size() const { return get().size(); }
  bool empty() const { return all_ == nullptr || all_->empty(); }
  const T &operator[](std::size_t i) const { return get()[i]; }
  const T &at(std::size_t i) const { return get().at(i); }
  const T &front() const { return get().front(); }
  const T &back() const { return get().back(); }

  // Whether they are the same elements, not only equal ones.
  bool is_same_as(const SharedVector &other) const { return all_ == other.all_; }

  void clear() { all_.reset(); }
  void push_back(T one) {
    auto all = get();
    all.push_back(std::move(one));
    *this = std::move(all);
  }
  const std::vector<T> &get() const {
    static const std::vector<T> none;
    return all_ != nullptr ? *all_ : none;
  }

 private:
  std::shared_ptr<const std::vector<T>> all_;
};

}  // namespace gpulse
