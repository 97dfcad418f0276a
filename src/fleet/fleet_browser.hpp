// SPDX-License-Identifier: Apache-2.0
// The overview of a fleet on a terminal that somebody walks through: what is shown, which line is selected, what a key
// does. Needs neither a terminal nor an engine; cli/fleet_screen.cpp gives it keys and answers, and does what it
// wishes. One thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fleet/fleet_groups.hpp"
#include "fleet/fleet_watch.hpp"
#include "term/input.hpp"
#include "term/style.hpp"

namespace gpulse::fleet {

class FleetBrowser {
 public:
  explicit FleetBrowser(FleetQuestion question) { pages_.push_back({.question = std::move(question)}); }

  void take(FleetNews news);
  void handle(const term::KeyPress &press, WallTime now);
  // Pasted into the line that asks for something.
  void paste(std::string_view text);

  // No more lines than that, none wider than the style.
  std::vector<std::string> draw(const term::Style &style, int rows, Monotonic now);

  // What is for the loop to do; each is told once.
  bool is_over() const { return is_over_; }
  std::optional<FleetHost> take_host();  // to be shown in depth
  struct Moment {
    std::optional<WallTime> at{};  // none: now, and from now on
  };
  std::optional<Moment> take_moment();

  // Said in the last line until the next key.
  void say(std::string text) { said_ = std::move(text); }

 private:
  // A question, and where its answer is looked at. The last one is shown, Escape goes back to the one before.
  struct Page {
    FleetQuestion question{};
    Text selected{};  // the name of the group
    GroupKind kind = GroupKind::named;
    std::size_t place = 0;  // of it, for when it is gone
    std::size_t first = 0;  // of those on the screen
  };
  enum class Asking : std::uint8_t { nothing, filter, moment };

  Page &page() { return pages_.back(); }
  void look_again();
  void start_over();
  void select(std::size_t place);
  void move(std::ptrdiff_t by);
  void open_selected();
  void go_back();
  void begin_asking(Asking what, std::string typed);
  void handle_letter(char32_t letter);
  void handle_typing(const term::KeyPress &press, WallTime now);
  void answer(WallTime now);
  void set_filters(std::string_view text);
  void set_moment(std::string_view text, WallTime now);
  void step_in_time(std::chrono::seconds by, WallTime now);
  std::string last_line(const term::Style &style, Monotonic now) const;

  std::vector<Page> pages_;
  FleetNews news_{};
  FleetView view_{};
  std::size_t shown_ = 1;  // groups that the last screen had room for
  Asking asking_ = Asking::nothing;
  std::string typed_{}, said_{};
  std::optional<FleetHost> host_{};
  std::optional<Moment> moment_{};
  bool is_over_ = false, is_helping_ = false;
};

// "user=ann node1": what is typed as a filter, conditions with blanks between them; a word alone stands for any name
// that contains it, quotes keep blanks together.
Result<std::vector<FleetFilter>> parse_fleet_filters(std::string_view text);
std::string fleet_filter_text(const std::vector<FleetFilter> &filters);

}  // namespace gpulse::fleet
