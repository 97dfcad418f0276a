// SPDX-License-Identifier: Apache-2.0
// The live view on a terminal: draws on the calling thread, waits for samples on another. Returns when the user quits
// or a signal says so.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "record/replay_feed.hpp"
#include "term/ink.hpp"
#include "tui/app.hpp"

namespace gpulse::tui {

struct LoopOptions {
  AppOptions app{};
  term::Depth depth = term::Depth::indexed256;
  // Written when the settings change; empty: nowhere.
  std::string settings_file{};
  Settings remembered{};  // what is in that file
};

// Gives one sample after the other, each as it comes; null: there will be none any more. Called on a thread that is
// left behind at the end: it may be waiting for a driver.
using NextSample = std::function<Result<SnapshotPtr>()>;

Result<void> run_live(const LoopOptions &options, NextSample next);
Result<void> run_replay(const LoopOptions &options, record::ReplayFeed &replay);

// The settings of the file; the default ones where there is no file.
Result<Settings> load_settings(const std::string &file);
Result<void> save_settings(const std::string &file, const Settings &settings);

}  // namespace gpulse::tui
