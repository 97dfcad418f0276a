// SPDX-License-Identifier: Apache-2.0
// What the pages, dialogues and commands of the live view share: the settings, the sample on the screen, what the user
// has chosen, and what they ask of the terminal loop. Owned by App; UI thread only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "tui/component.hpp"
#include "tui/draw_context.hpp"
#include "tui/event_log.hpp"
#include "tui/finding_list.hpp"
#include "tui/host_processes.hpp"
#include "tui/playback.hpp"
#include "tui/plot_history.hpp"
#include "tui/process_table.hpp"
#include "tui/settings.hpp"

namespace gpulse::tui {

struct AppOptions {
  Settings settings{};
  bool unicode = true;
  // Why nothing may be done to processes: "started with --readonly", "this is a recording"; empty: it may.
  std::string no_actions{};
  std::string filter{};
  // What of a sample is shown; none: all of it. An error is told while all of it is shown.
  std::function<Result<SnapshotPtr>(const SnapshotPtr &)> part{};
  bool replay = false;     // the timeline is a recording: it is played
  bool elsewhere = false;  // it is of another machine, of which this one's /proc knows nothing
  bool goes_back = false;  // whoever leaves is shown what was there before
  double speed = 1;
  std::uint64_t start = 0;  // first sample of a recording to show
  bool paused = false;      // it is not played until the user says so
  Seconds interval{1};
  std::string sysroot{};          // where /proc is, for the processes that use no GPU
  insight::WatchOptions watch{};  // how what is shown is judged
};

// Where the user is in the list of devices.
struct DeviceCursor {
  std::optional<DeviceId> chosen{};
  bool is_newest = false;         // it was chosen after the process that is
  std::size_t first = 0;          // at the top of the list
  bool scroll_to_chosen = false;  // scroll to the chosen one at the next drawing
};

// Which of the plots per device are seen.
struct PlotCursor {
  std::size_t first = 0;  // counted from the chosen device, or from the first
  std::size_t seen = 0;   // after drawing
};

// Shown on the last line for a few seconds.
struct Message {
  std::string text;
  bool bad = false;
  Monotonic until{};
};

// For the terminal loop; it resets each one that it has done.
struct Requests {
  bool draw = true;  // something has changed on the screen
  bool quit = false;
  bool suspend = false;  // stop as Ctrl-Z does
  bool redraw = false;   // the terminal may show anything: paint all of it
  bool save = false;     // write the settings
};

struct Session {
  Session(AppOptions given, feed::Timeline &timeline);
  Session(const Session &) = delete;  // playback calls back into it
  Session &operator=(const Session &) = delete;
  ~Session() = default;

  const AppOptions options;
  Settings settings;
  term::Size size{};
  Monotonic now{};  // of the input, sample or tick that is being handled

  SnapshotPtr snapshot;           // on the screen; null before the first
  std::string selection_problem;  // with AppOptions::part
  std::string behind;             // why no newer sample comes; empty: they come
  Playback playback;
  PlotHistory history;
  EventLog events;
  FindingList findings;
  ProcessTable processes;
  DeviceCursor devices;
  PlotCursor plots;
  HostProcesses host_processes;
  Seconds interval{1};        // between two samples, as the user wants it now
  std::size_t setup_tab = 0;  // where setup was left

  std::vector<Hit> hits;  // of the last drawing
  std::optional<Message> message{};
  std::string hint;                     // about the label that the mouse rests on
  const term::Screen *drawn = nullptr;  // what was drawn last; App has it
  Requests requests;
  std::vector<std::unique_ptr<Component>> opened;  // App puts them on its stack

  // Puts a page or a dialogue on top of the others.
  void open(std::unique_ptr<Component> component) { opened.push_back(std::move(component)); }
  void say(std::string text, bool bad = false);

  // The timeline has grown.
  void sample_came();
  // A recording plays on, messages expire, the past is opened.
  void tick();
  // Brings the list of processes up to date after a change of settings or filter.
  void refresh();

 private:
  bool show(std::uint64_t number);
};

Look make_look(const Session &session);
// The session must have a snapshot.
DrawContext make_context(Session &session, const Look &look);
// Has the history of these ready, as long as it could be drawn; device rows always show theirs.
void want_plots(Session &session, std::vector<PlotKey> keys, std::size_t samples);

}  // namespace gpulse::tui
