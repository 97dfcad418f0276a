// SPDX-License-Identifier: Apache-2.0
// A program that runs for days needs little of what it needed to start, and the kernel has mapped sixteen pages for
// each that was touched.
#pragma once

namespace gpulse {

// Lets go of the program's own code and constants; what is in use comes back from the page cache within a moment. For
// whoever goes on for long, some seconds after the start and after much was asked of it. Any thread.
void release_program_pages();

}  // namespace gpulse
