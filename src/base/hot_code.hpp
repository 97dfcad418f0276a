// SPDX-License-Identifier: Apache-2.0
// A loop that sleeps between two samples wakes with cold caches, and fetches its code line by line, each time waiting
// for the memory. Asking for all of it at once costs one such wait.
#pragma once

namespace gpulse {

// Fetches the functions marked [[gnu::hot]], where the program is linked so that they lie together; nothing elsewhere.
void fetch_hot_code();

}  // namespace gpulse
