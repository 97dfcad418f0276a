// SPDX-License-Identifier: Apache-2.0
// How the allocator of a program that runs for months treats what it frees.
#pragma once

namespace gpulse {

// One heap for all threads, and large pieces straight from the system and back to it: memory that one thread has freed
// serves the next one. Call it before the first thread is started.
void keep_heap_small();

// Hands free memory to the system, also from the middle of the heap. Takes up to a millisecond; any thread.
void trim_heap();

}  // namespace gpulse
