// SPDX-License-Identifier: Apache-2.0
#include "base/slab.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

// Of the address sanitizer, where the program has it: a block that nobody has is not to be touched.
extern "C" {
// NOLINTBEGIN(*-reserved-identifier,*-identifier-naming)
[[gnu::weak]] void __asan_poison_memory_region(const volatile void *begin, std::size_t bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void *begin, std::size_t bytes);
// NOLINTEND(*-reserved-identifier,*-identifier-naming)
}

namespace gpulse {

namespace {

void forbid(void *begin, std::size_t bytes) {
  if (__asan_poison_memory_region != nullptr) __asan_poison_memory_region(begin, bytes);
}
void allow(void *begin, std::size_t bytes) {
  if (__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(begin, bytes);
}

constexpr std::size_t kPieceBytes = std::size_t{64} << 10U;  // and its alignment, so that a block knows its piece
constexpr std::size_t kAlignment = alignof(std::max_align_t);
constexpr std::size_t kLargest = kPieceBytes / 8;

std::size_t rounded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

void *map_piece() {
  // More than is needed, so that an aligned piece is in it.
  void *const all = ::mmap(nullptr, 2 * kPieceBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) throw std::bad_alloc();
  auto *const begin = static_cast<std::byte *>(all);
  const auto before = (kPieceBytes - reinterpret_cast<std::uintptr_t>(all) % kPieceBytes) % kPieceBytes;
  if (before > 0) ::munmap(begin, before);
  ::munmap(begin + before + kPieceBytes, kPieceBytes - before);
  return begin + before;
}

void unmap_piece(void *piece) {
  allow(piece, kPieceBytes);
  ::munmap(piece, kPieceBytes);
}

}  // namespace

// At the beginning of its memory.
struct Slab::Piece {
  void *free = nullptr;   // those that were given back; each holds the address of the next
  std::size_t fresh = 0;  // where those begin that nobody has had yet
  std::size_t used = 0;   // blocks
  std::size_t room = 0;   // blocks

  bool is_full() const { return used == room; }
  void *take(std::size_t size);
  void give_back(void *block, std::size_t size) noexcept;
};

void *Slab::Piece::take(std::size_t size) {
  ++used;
  if (free == nullptr) {
    void *const block = reinterpret_cast<std::byte *>(this) + fresh;
    fresh += size;
    return block;
  }
  void *const block = free;
  allow(block, size);
  free = *static_cast<void **>(block);
  return block;
}

void Slab::Piece::give_back(void *block, std::size_t size) noexcept {
  --used;
  *static_cast<void **>(block) = free;
  free = block;
  forbid(block, size);
}

Slab::~Slab() {
  for (auto *piece : pieces_) unmap_piece(piece);
}

bool Slab::is_ours(std::size_t bytes) const { return rounded(bytes) <= size_ && size_ <= kLargest; }

void *Slab::take(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (size_ == 0) size_ = std::max(rounded(bytes), sizeof(void *));
  if (!is_ours(bytes)) return ::operator new(bytes);
  // The lowest, so that the others run empty.
  auto place = std::ranges::find_if(pieces_, [](const Piece *piece) { return !piece->is_full(); });
  if (place == pieces_.end()) {
    pieces_.reserve(pieces_.size() + 1);
    const auto begin = rounded(sizeof(Piece));
    auto *const piece = std::construct_at(static_cast<Piece *>(map_piece()));
    piece->fresh = begin;
    piece->room = (kPieceBytes - begin) / size_;
    place = pieces_.insert(std::ranges::lower_bound(pieces_, piece), piece);
  }
  return (*place)->take(size_);
}

void Slab::give_back(void *block, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  if (!is_ours(bytes)) return ::operator delete(block);
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  auto *const piece = reinterpret_cast<Piece *>(address - address % kPieceBytes);
  piece->give_back(block, size_);
  if (piece->used > 0) return;
  // One with room stays for those who come and go one by one.
  const auto is_other_full = [&](const Piece *one) { return one == piece || one->is_full(); };
  if (std::ranges::all_of(pieces_, is_other_full)) return;
  std::erase(pieces_, piece);
  unmap_piece(piece);
}

std::size_t Slab::pieces() const {
  const std::lock_guard lock(mutex_);
  return pieces_.size();
}

}  // namespace gpulse
