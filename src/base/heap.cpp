// SPDX-License-Identifier: Apache-2.0
#include "base/heap.hpp"

#include <malloc.h>

namespace gpulse {

void keep_heap_small() {
  // Set by hand, it does not grow with the largest piece that was ever freed.
  constexpr int kLarge = 128 * 1024;
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_MMAP_THRESHOLD, kLarge);
  ::mallopt(M_TRIM_THRESHOLD, kLarge);
}

void trim_heap() { ::malloc_trim(0); }

}  // namespace gpulse
