// SPDX-License-Identifier: Apache-2.0
// A command of the user's that runs under one of ours: `gpulse log -- python train.py`. It has our standard streams and
// our process group, gets the signals that are meant for it, and is waited for. Main thread.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>

#include "base/result.hpp"

namespace gpulse::cli {

// As shells have them.
inline constexpr int kCannotRun = 126, kNotFound = 127;

// By a signal: the code is 128 and the signal.
struct CommandEnd {
  int code = 0;
  int signal = 0;  // 0: none
};

class ChildCommand {
 public:
  // From here on signals ask for a stop until the command runs, and are its business then. To be called before any
  // other thread is started.
  ChildCommand();

  std::stop_token stop() const { return stop_.get_token(); }

  // Whether there is such a program, without starting it.
  static Result<void> check(std::span<const std::string> words);
  // `on_end` is called on another thread when the command is over. Should this program be killed, the command is asked
  // to end as well.
  Result<void> start(std::span<const std::string> words, std::stop_source on_end);
  // Of the command that was started.
  pid_t pid() const { return command_->pid; }
  // Waits until it is over.
  CommandEnd wait();

 private:
  // Held while it is being started: a signal that comes meanwhile is for the command.
  struct Command {
    std::mutex mutex;
    pid_t pid = 0;  // none yet
  };
  [[noreturn]] void become(char *const *arguments, int failures) const;

  std::stop_source stop_;
  std::shared_ptr<Command> command_ = std::make_shared<Command>();
  sigset_t before_{};
};

}  // namespace gpulse::cli
