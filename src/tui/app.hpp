// SPDX-License-Identifier: Apache-2.0
// The live view without a terminal: inputs and samples come in, a screen in memory comes out. One thread; it never
// calls a driver.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "base/process_handle.hpp"
#include "term/input.hpp"
#include "term/screen.hpp"
#include "tui/event_panel.hpp"
#include "tui/keys.hpp"
#include "tui/layout.hpp"
#include "tui/menu.hpp"
#include "tui/process_panel.hpp"
#include "tui/prompt.hpp"
#include "tui/scene.hpp"
#include "tui/text_view.hpp"

namespace gpulse::tui {

struct AppOptions {
  Settings settings{};
  bool unicode = true;
  // Why nothing may be done to processes: "started with --readonly", "this is a recording"; empty: it may.
  std::string no_actions{};
  std::string filter{};
  std::vector<std::string> devices{};  // only these, as -i says
  bool replay = false;                 // the timeline is a recording: it is played
  double speed = 1;
  std::uint64_t start = 0;  // first sample of a recording to show
  Seconds interval{1};
};

class App {
 public:
  App(AppOptions options, feed::Timeline &timeline);

  void resize(term::Size size);
  // The timeline has grown.
  void sample_came(Monotonic now);
  void handle(const term::Input &input, Monotonic now);
  // Time goes by: a recording plays on, messages go.
  void tick(Monotonic now);
  // When tick() has something to do next.
  std::optional<Monotonic> due() const;

  // Whether something has changed since the last draw().
  bool changed() const { return changed_; }
  const term::Screen &draw(Monotonic now);

  bool ended() const { return ended_; }
  // No sample has come yet.
  bool waiting() const { return current_ == nullptr; }
  // Asked for once each: to be stopped as by Ctrl-Z, to draw everything anew, to write the settings.
  bool take_suspend() { return std::exchange(suspend_, false); }
  bool take_redraw() { return std::exchange(redraw_, false); }
  bool take_save() { return std::exchange(save_, false); }
  const Settings &settings() const { return settings_; }
  // Something for the user to read, for a few seconds.
  void say(std::string text, Monotonic now, bool bad = false);

 private:
  enum class View : std::uint8_t { main, details, text, setup };
  enum class MenuFor : std::uint8_t { sort, signal, user, columns, plots };
  enum class PromptFor : std::uint8_t { search, filter, time };

  struct Target {
    ProcessHandle handle;
    std::string words;  // "4711 ann python3 train.py"
  };
  struct Question {
    int signal = 0;
    std::vector<Target> targets;
    std::vector<std::string> refused;
    bool yes = false;  // which button Enter would press
  };
  struct Message {
    std::string text;
    bool bad = false;
    Monotonic until{};
  };

  // What is on the screen
  void show(std::uint64_t number, Monotonic now);
  void refresh();
  void find_chosen();
  void choose_row(std::size_t row);
  const ListRow *chosen_row() const;
  std::string list_note() const;
  bool in_the_past() const;

  // Drawing (app_draw.cpp)
  Look make_look() const;
  Scene make_scene(const Look &look);
  PanelNeeds make_needs() const;
  void want_series(const Layout &layout);
  void draw_main(const term::Area &area);
  void draw_panels(const Layout &layout, const Scene &scene);
  void draw_header(const term::Area &area, const Look &look) const;
  std::vector<term::Span> state_spans() const;
  void draw_footer(const term::Area &area, const Look &look);
  void draw_details(const term::Area &area, const Look &look);
  int draw_details_facts(const term::Area &area, const Look &look, const Process &process) const;
  void draw_setup(const term::Area &area, const Look &look);
  void draw_question(const term::Area &area, const Look &look);
  void draw_waiting(const term::Area &area, const Look &look, Monotonic now) const;

  // Inputs (app_input.cpp)
  void handle_main_key(const term::KeyPress &key, Monotonic now);
  void handle_menu_input(const term::Input &input, Monotonic now);
  void handle_prompt_input(const term::Input &input, Monotonic now);
  void handle_question(const term::Input &input, Monotonic now);
  void handle_details(const term::Input &input, Monotonic now);
  void handle_text(const term::Input &input);
  void handle_setup(const term::Input &input, Monotonic now);
  void handle_mouse(const term::MouseEvent &mouse, Monotonic now);
  void handle_click(const term::MouseEvent &mouse, const Hit &hit, Monotonic now);
  void handle_wheel(const term::MouseEvent &mouse);
  void prompt_changed(Monotonic now);
  void prompt_done(Monotonic now);

  // Actions (app_actions.cpp); true: that was one of theirs
  void act(Action action, Monotonic now);
  bool act_move(Action action);
  bool act_find(Action action, Monotonic now);
  bool act_list(Action action, Monotonic now);
  bool act_sort(Action action);
  bool act_process(Action action, Monotonic now);
  bool act_panels(Action action);
  bool act_plots(Action action);
  bool act_screen(Action action, Monotonic now);
  bool act_time(Action action, Monotonic now);
  void sort_chord(const term::KeyPress &key);
  void sort_by(const ProcessColumn &column);
  void sort_neighbour(int by);
  void scroll_commands(int by);
  void jump_to_match(bool forward, bool from_here);
  void choose_device(int by);
  void clear(Monotonic now);

  // Menus and setup (app_menus.cpp)
  void open_sort_menu();
  void open_signal_menu();
  void open_user_menu();
  void open_columns_menu();
  void open_plots_menu();
  void menu_chosen(Monotonic now);
  void menu_changed(Monotonic now);
  void open_setup();
  Menu make_columns_menu() const;
  Menu make_plots_menu() const;
  Menu make_panels_menu() const;
  Menu make_look_menu() const;
  void take_columns(const Menu &menu);
  bool take_plots(Menu &menu);
  void take_panels(const Menu &menu);
  void turn_look(std::size_t item);

  // Time (app_time.cpp)
  void set_playing(bool playing, Monotonic now);
  void step(std::int64_t by, Monotonic now);
  void jump(std::chrono::seconds by, Monotonic now);
  void go_to(const std::string &text, Monotonic now);

  // Processes (app_processes.cpp)
  std::vector<const Process *> targets() const;
  Result<ProcessHandle> hold(const Process &process) const;
  void ask_signal(int number, Monotonic now);
  void send_signal(Monotonic now);
  void renice(int by, Monotonic now);
  void open_environment(Monotonic now);
  std::string process_words(const Process &process) const;

  AppOptions options_;
  feed::Timeline &timeline_;
  Settings settings_;
  term::Screen screen_;
  bool changed_ = true, ended_ = false, suspend_ = false, redraw_ = false, save_ = false;

  std::uint64_t number_ = 0;  // of the sample on the screen
  SnapshotPtr current_;       // null before the first
  bool playing_ = true;       // goes on with the newest, or through the recording
  Monotonic play_due_{};
  std::optional<Monotonic> waiting_since_{};
  Series series_;
  EventLog log_;

  ProcessList list_;
  ProcessPanel panel_;
  std::optional<ProcessKey> chosen_{};
  bool follow_ = false;
  bool bring_into_sight_ = false;
  bool bring_device_into_sight_ = false;
  Query filter_, search_;
  std::string trouble_;  // with -i
  std::optional<std::uint32_t> device_{};
  std::size_t first_device_ = 0;
  bool chord_ = false;

  View view_ = View::main;
  std::optional<Menu> menu_{};
  MenuFor menu_for_ = MenuFor::sort;
  std::optional<Prompt> prompt_{};
  PromptFor prompt_for_ = PromptFor::search;
  std::string prompt_before_;
  std::optional<Question> question_{};
  TextView text_{};
  std::vector<Menu> setup_{};
  std::size_t setup_page_ = 0;
  std::optional<ProcessKey> detailed_{};
  std::vector<Hit> hits_;
  std::optional<Message> message_{};
};

}  // namespace gpulse::tui
