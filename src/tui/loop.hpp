// SPDX-License-Identifier: Apache-2.0
// The live view on a terminal: draws on the calling thread, waits for samples on another. Returns when the user quits
// or a signal says so.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "feed/feed.hpp"
#include "feed/timeline.hpp"
#include "term/ink.hpp"
#include "tui/app.hpp"

namespace gpulse::tui {

struct LoopOptions {
  AppOptions app{};
  term::Depth depth = term::Depth::indexed256;
  // Where the settings are saved; empty: nowhere.
  std::string settings_file{};
  Settings remembered{};  // what is in that file
  // What others kept before the first live sample, opened when the user goes back that far.
  feed::JoinedTimeline::OpenPast open_past{};
  // Of those who fetch samples for the timeline: they wait as long as the user does.
  std::shared_ptr<feed::Patience> patience{};
};

Result<void> run(const LoopOptions &options, feed::Feed &feed);

// The default settings if there is no such file.
Result<Settings> load_settings(const std::string &file);
Result<void> save_settings(const std::string &file, const Settings &settings);

}  // namespace gpulse::tui
