// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include "base/moment.hpp"
#include "cli/engine_options.hpp"
#include "cli/fleet_screen.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "cli/top_screen.hpp"
#include "fleet/fleet_asker.hpp"
#include "fleet/fleet_text.hpp"

namespace gpulse::cli {

namespace {

// An error is wrong usage.
Result<fleet::FleetQuestion> question_of(const Options &options) {
  fleet::FleetQuestion question;
  const auto place = [](const auto &words, std::string_view word) {
    return std::ranges::find(words, word) - words.begin();
  };
  question.by = static_cast<fleet::FleetBy>(place(fleet::kFleetBy, options.fleet_by));
  if (!options.sort.empty()) question.sort = static_cast<fleet::FleetSort>(place(fleet::kFleetSorts, options.sort));
  for (const auto &text : options.fleet_filters) {
    auto filter = fleet::parse_fleet_filter(text);
    if (!filter) return std::unexpected(std::move(filter.error()));
    question.filters.push_back(std::move(*filter));
  }
  return question;
}

Result<std::optional<WallTime>> moment_of(const Options &options) {
  if (options.fleet_at.empty()) return std::nullopt;
  const auto now = wall_now();
  const auto moment = parse_moment(options.fleet_at, now);
  if (!moment) {
    return failure(fmt::format("\"{}\" is not a time", options.fleet_at),
                   "2026-11-16 01:00, 01:00, yesterday 18:00, 2026-11-16T01:00Z or -3h");
  }
  if (*moment > now) return failure("--at is in the future", "2026-11-16 01:00, 01:00, yesterday 18:00 or -3h");
  return moment;
}

class FleetWriter {
 public:
  FleetWriter(const Options &options, fleet::FleetQuestion question)
      : options_(options),
        question_(std::move(question)),
        on_screen_(options.watch && !options.json && !options.csv && ::isatty(STDOUT_FILENO) == 1 &&
                   can_move_cursor()) {}

  bool on_screen() const { return on_screen_; }

  // `trouble`: why there is nothing newer; empty: this is new.
  std::string render(const fleet::FleetSnapshot &fleet, const Text &trouble) {
    // Lines that are there already, or would be of several times.
    const bool is_old = std::ranges::any_of(
        fleet.faults, [](const auto &fault) { return fault.as_of && fault.part && !fleet::is_slow(*fault.part); });
    if (options_.csv && !is_first_ && (!trouble.empty() || is_old)) return {};
    const auto view = fleet::make_fleet_view(fleet, question_);
    const bool is_first = std::exchange(is_first_, false);
    if (options_.json) return fleet::fleet_json(fleet, view, trouble);
    if (options_.csv) return fleet::fleet_csv(fleet, view, is_first);
    const auto text = fleet::render_fleet(fleet, view,
                                          {.style = style_of(options_, STDOUT_FILENO),
                                           .top = options_.fleet_top,
                                           .height = on_screen_ ? term::terminal_rows(STDOUT_FILENO) : 0,
                                           .trouble = trouble});
    return is_first || on_screen_ ? text : '\n' + text;
  }

 private:
  const Options &options_;
  fleet::FleetQuestion question_;
  bool on_screen_;
  bool is_first_ = true;
};

// The view stays when the engine goes, and says since when it is old.
int watch(fleet::FleetAsker &asker, FleetWriter &writer, const Options &options, fleet::FleetPtr shown,
          const std::stop_token &stop) {
  LiveScreen screen(writer.on_screen(), LiveScreen::End::last_frame);
  const QuitKey quit(writer.on_screen());
  Text trouble;
  auto due = monotonic_now();
  for (std::uint64_t count = 1;; ++count) {
    if (const auto written = screen.draw(writer.render(*shown, trouble)); !written) return fail(written.error());
    if (options.count && count >= *options.count) return kGood;
    due = next_turn(due, options.fleet_interval, monotonic_now());
    if (!sleep_until(due, stop)) return kGood;
    auto fleet = asker.ask(wall_now(), stop);
    if (stop.stop_requested()) return kGood;
    trouble = fleet ? Text() : fleet.error().error.what;
    if (fleet) shown = std::move(*fleet);
  }
}

}  // namespace

int run_fleet(const Options &options) {
  if (options.url.empty()) {
    return fail({"no engine was given",
                 "give --url http://prometheus:9090, or url in [fleet] of the "
                 "configuration"},
                kUsage);
  }
  auto how = engine_options(options);
  if (!how) return fail(how.error(), kUsage);
  auto question = question_of(options);
  if (!question) return fail(question.error(), kUsage);
  const auto moment = moment_of(options);
  if (!moment) return fail(moment.error(), kUsage);
  if (options.watch && has_fleet_screen(options)) return run_fleet_screen(options, *how, std::move(*question));
  const auto stop = options.watch ? stop_on_signals() : std::stop_token{};
  fleet::FleetAsker asker(std::move(*how));
  auto fleet = [&] {
    const SlowNotice notice(fmt::format("asking {}", asker.place()));
    return asker.ask(moment->value_or(wall_now()), stop);
  }();
  if (stop.stop_requested()) return kGood;
  if (!fleet) return fail(fleet.error().error);
  if ((*fleet)->hosts.empty()) return fail(no_gpus_known(asker.place(), moment->has_value()));
  FleetWriter writer(options, std::move(*question));
  if (options.watch) return watch(asker, writer, options, std::move(*fleet), stop);
  const auto written = write_out(writer.render(**fleet, {}));
  return written ? kGood : fail(written.error());
}

}  // namespace gpulse::cli
