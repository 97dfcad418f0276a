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
  // Told what is on the screen, whenever that changes.
  std::function<void(const MetricSet &)> focus{};
};

// Hands over one sample after the other, as they come, on whatever thread. It is started on one of its own, for it may
// wait for a driver, and left behind at the end.
using TakeSample = std::function<void(Result<SnapshotPtr>)>;
using GiveSamples = std::function<void(const TakeSample &)>;

Result<void> run_live(const LoopOptions &options, GiveSamples give);
Result<void> run_replay(const LoopOptions &options, record::ReplayFeed &replay);

// The settings of the file; the default ones where there is no file.
Result<Settings> load_settings(const std::string &file);
Result<void> save_settings(const std::string &file, const Settings &settings);

}  // namespace gpulse::tui
