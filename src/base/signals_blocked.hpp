// SPDX-License-Identifier: Apache-2.0
// Blocks every signal on this thread while it lives. For the library, around what starts threads: they inherit the
// mask, and so the program's signals are never delivered to them.
#pragma once

#include <csignal>

namespace gpulse {

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked &) = delete;
  SignalsBlocked &operator=(const SignalsBlocked &) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace gpulse
