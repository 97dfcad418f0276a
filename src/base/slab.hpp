// SPDX-License-Identifier: Apache-2.0
// Memory for many objects of one kind that come and go together, such as connections: blocks of one size in pieces of
// their own. A piece goes back to the system with its last block, so that what thousands have needed for a while
// leaves nothing behind between the memory of others.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace gpulse {

// Any thread. Blocks are aligned as by operator new; all of them have to be given back first.
class Slab {
 public:
  Slab() = default;
  Slab(const Slab &) = delete;
  Slab &operator=(const Slab &) = delete;
  ~Slab();

  // The first to be asked for says how large all are: what is larger than that, or than a piece can hold, comes from
  // the heap. Throws std::bad_alloc.
  void *take(std::size_t bytes);
  void give_back(void *block, std::size_t bytes) noexcept;

  std::size_t pieces() const;

 private:
  struct Piece;
  bool is_ours(std::size_t bytes) const;

  mutable std::mutex mutex_;
  std::size_t size_ = 0;         // of a block
  std::vector<Piece *> pieces_;  // by address
};

// For std::allocate_shared.
template <class T>
class SlabAllocator {
 public:
  using value_type = T;  // NOLINT(readability-identifier-naming)

  explicit SlabAllocator(std::shared_ptr<Slab> slab) : slab_(std::move(slab)) {}
  template <class U>
  SlabAllocator(const SlabAllocator<U> &other) : slab_(other.slab()) {}  // NOLINT(google-explicit-constructor)

  T *allocate(std::size_t count) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    return static_cast<T *>(slab_->take(count * sizeof(T)));
  }
  void deallocate(T *block, std::size_t count) noexcept { slab_->give_back(block, count * sizeof(T)); }
  const std::shared_ptr<Slab> &slab() const { return slab_; }

  template <class U>
  bool operator==(const SlabAllocator<U> &other) const {
    return slab_ == other.slab();
  }

 private:
  std::shared_ptr<Slab> slab_;
};

}  // namespace gpulse
