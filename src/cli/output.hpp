// SPDX-License-Identifier: Apache-2.0
// The terminal's side of a command: writing that notices a full disk, messages, questions, the screen of --watch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "model/snapshot.hpp"
#include "term/style.hpp"

namespace gpulse::cli {

// Writes everything, or says why not.
Result<void> write_out(std::string_view text);

// Writes to the standard error, the one way there. What cannot be said is no failure of the work: it never throws, and
// a reader that is gone does not end the program. False if not all was written.
bool tell(std::string_view text) noexcept;
// "gpulse: …" on the standard error, as one printable line.
[[gnu::cold]] void complain(std::string_view line);
[[gnu::cold]] int fail(const Error &error, int code = kFailure);
// Asks on the terminal, where only a yes is one; nothing where there is no terminal to ask on.
std::optional<bool> confirm(std::string_view question);
// What the sources say of the devices that they do not show, in one line; empty when they have nothing to say.
std::string absence(const Snapshot &snapshot);

// Where the user's own files about gpulse lie; empty where there is no home.
std::string config_folder();

term::Style style_of(const Options &options, int fd);

// For sentences that a terminal may break but nobody should cut.
term::Style whole_lines(const Options &options);

// Overwriting what is being played would leave nothing of it.
bool is_same_file(const std::string &one, const std::string &other);

// Draws frames over each other on a terminal; restores the screen at the end, also on a signal.
class LiveScreen {
 public:
  enum class End : std::uint8_t { nothing, last_frame };  // what stays on the screen
  explicit LiveScreen(bool active, End end = End::nothing);
  LiveScreen(const LiveScreen &) = delete;
  LiveScreen &operator=(const LiveScreen &) = delete;
  ~LiveScreen();
  Result<void> draw(std::string_view frame);

 private:
  bool active_;
  End end_;
  std::string last_;
};

// While it lives, the key q ends the program as Ctrl-C does; nothing where there are no keys to read. To be made behind
// stop_on_signals().
class QuitKey {
 public:
  explicit QuitKey(bool active);
  QuitKey(const QuitKey &) = delete;
  QuitKey &operator=(const QuitKey &) = delete;
  ~QuitKey();

 private:
  struct Watch;
  std::unique_ptr<Watch> watch_;
};

// Says what is waited for when it takes more than two seconds.
class SlowNotice {
 public:
  explicit SlowNotice(std::string what);
  SlowNotice(const SlowNotice &) = delete;
  SlowNotice &operator=(const SlowNotice &) = delete;
  ~SlowNotice();

 private:
  struct Watch;
  std::unique_ptr<Watch> watch_;
};

}  // namespace gpulse::cli
