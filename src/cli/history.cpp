// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/moment.hpp"
#include "cli/history_export.hpp"
#include "cli/history_file.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "history/process_row.hpp"
#include "history/reader.hpp"
#include "model/select.hpp"
#include "view/csv.hpp"
#include "view/history.hpp"

namespace gpulse::cli {

namespace {

using namespace std::chrono_literals;
using view::HistoryPage;

// On a page with everything; asked for alone, a list is whole.
constexpr std::size_t kRowsOfAPage = 20;
constexpr std::size_t kFewDevices = 2;
// As many as a wide terminal has columns of dots.
constexpr std::size_t kPointsOfAPlot = 400;

// What is shown, in what form.
struct Wanted {
  bool curves = false, processes = false, users = false, jobs = false, events = false;
  bool is_page = false;  // nothing in particular
  std::vector<MetricId> metrics{};

  int parts() const { return int{curves} + int{processes} + int{users} + int{jobs} + int{events}; }
};

Result<std::vector<MetricId>> metrics_of(const Options &options) {
  if (options.fields.empty()) return view::history_metrics();
  std::vector<MetricId> metrics;
  for (const auto &field : options.fields) {
    const auto id = view::find_field(field);
    if (!id || key_of(*id).scope == Scope::process)
      return failure("no metric '" + field + "'", "`gpulse explain` lists them");
    if (is_text(key_of(*id))) return failure("'" + field + "' is a text", "only numbers have a history");
    if (std::ranges::find(metrics, *id) == metrics.end()) metrics.push_back(*id);
  }
  return metrics;
}

// An error is wrong usage.
Result<Wanted> wanted_of(const Options &options) {
  auto metrics = metrics_of(options);
  if (!metrics) return std::unexpected(metrics.error());
  Wanted wanted{.curves = !options.fields.empty(),
                .processes = options.processes,
                .users = options.users,
                .jobs = options.jobs,
                .events = options.events,
                .metrics = std::move(*metrics)};
  const bool for_programs = options.csv || options.jsonl;
  if (!options.user.empty() && wanted.parts() == 0) wanted.processes = true;
  if (options.user.empty() && !wanted.processes && !wanted.users && !wanted.jobs && !wanted.events) {
    wanted.curves = true;
    wanted.is_page = !for_programs;
    wanted.processes = wanted.events = wanted.is_page;
  }
  if (for_programs && wanted.parts() > 1) {
    return failure("one table at a time", "curves, --processes, --users, --jobs or --events");
  }
  if (options.range && !options.csv) return failure("--range needs --csv", "the other forms have no room for it");
  return wanted;
}

Result<WallTime> moment_of(const std::string &text, WallTime now, std::optional<WallTime> after = std::nullopt) {
  if (const auto moment = parse_moment(text, now, after)) return *moment;
  return failure(fmt::format("\"{}\" is not a time", text),
                 "2026-11-16 01:00, 01:00, yesterday 18:00, 2026-11-16T01:00Z, -3h or now");
}

// An error is wrong usage.
Result<history::Span> span_of(const Options &options, WallTime now) {
  history::Span span{.from = {}, .to = now};
  if (!options.from.empty()) {
    const auto from = moment_of(options.from, now);
    if (!from) return std::unexpected(from.error());
    span.from = *from;
  }
  if (!options.to.empty()) {
    const auto after = options.from.empty() ? std::nullopt : std::optional(span.from);
    const auto to = moment_of(options.to, now, after);
    if (!to) return std::unexpected(to.error());
    span.to = *to;
  }
  if (options.from.empty()) span.from = span.to - options.since.value_or(1h);
  if (span.from >= span.to) {
    return failure(fmt::format("{} does not come before {}", iso8601_utc(span.from), iso8601_utc(span.to)),
                   "--from comes first");
  }
  // What is to come is not known.
  if (span.from < now) span.to = std::min(span.to, now);
  return span;
}

// All that a history has, whichever tier has it.
std::optional<history::Span> whole_of(const history::Coverage &coverage) {
  std::optional<history::Span> whole;
  for (const auto &part : {coverage.raw, coverage.ten_seconds, coverage.minute}) {
    if (!part) continue;
    if (!whole) whole = part;
    whole->from = std::min(whole->from, part->from);
    whole->to = std::max(whole->to, part->to);
  }
  return whole;
}

Result<void> check_covered(history::Reader &reader, const history::Span &span) {
  const auto coverage = reader.coverage();
  if (!coverage) return std::unexpected(coverage.error());
  const auto whole = whole_of(*coverage);
  if (!whole) return failure(fmt::format("{} has nothing in it yet", reader.path()));
  if (whole->from < span.to && span.from < whole->to) return {};
  const term::Style plain{.unicode = false};
  return failure(fmt::format("there is nothing of {}", view::span_words(span.from, span.to, plain)),
                 fmt::format("the history is of {}", view::span_words(whole->from, whole->to, plain)));
}

// The devices that were there then, those of the selectors. An error is wrong usage.
Result<std::vector<const history::KnownDevice *>> devices_of(const history::Reader &reader, const history::Span &span,
                                                             const std::vector<std::string> &selectors) {
  std::vector<const history::KnownDevice *> there;
  auto snapshot = std::make_shared<Snapshot>();
  for (const auto &known : reader.devices()) {
    // When one was seen last is written down once in a while.
    if (known.first >= span.to || known.last + 2min < span.from) continue;
    there.push_back(&known);
    snapshot->devices.push_back({.id = known.number, .identity = known.identity});
  }
  if (selectors.empty()) return there;
  const auto part = select_devices(snapshot, selectors);
  if (!part) return std::unexpected(part.error());
  std::erase_if(there, [&](const history::KnownDevice *known) {
    return std::ranges::none_of((*part)->devices,
                                [&](const Device &device) { return device.identity == known->identity; });
  });
  return there;
}

class Query {
 public:
  Query(history::Reader &reader, const history::Span &span, std::vector<const history::KnownDevice *> devices)
      : reader_(reader), span_(span), devices_(std::move(devices)) {
    page_.from = span.from;
    page_.to = span.to;
    for (const auto *known : devices_) {
      ids_.push_back(known->id);
      page_.devices.push_back({.id = known->number, .identity = known->identity});
    }
  }

  Result<void> read(const Options &options, const Wanted &wanted) {
    if (const auto done = read_hostname(); !done) return done;
    if (wanted.is_page) page_.most_rows = kRowsOfAPage;
    if (wanted.curves) {
      if (const auto done = read_curves(options, wanted); !done) return done;
    }
    if (wanted.processes || wanted.users || wanted.jobs) {
      if (const auto done = read_processes(options); !done) return done;
      page_.lists_processes = wanted.processes;
      page_.users = wanted.users;
      page_.jobs = wanted.jobs;
    }
    if (wanted.events) {
      if (const auto done = read_events(options); !done) return done;
    }
    return read_lost();
  }
  const HistoryPage &page() const { return page_; }

 private:
  // A history may come from another machine; its samples know.
  Result<void> read_hostname() {
    const auto coverage = reader_.coverage();
    if (!coverage) return std::unexpected(coverage.error());
    if (!coverage->raw) return {};
    const auto refs = reader_.samples({coverage->raw->to - 1ns, coverage->raw->to});
    if (!refs) return std::unexpected(refs.error());
    if (refs->empty()) return {};
    const auto sample = reader_.sample(refs->back());
    if (!sample) return std::unexpected(sample.error());
    if (*sample != nullptr) page_.hostname = (*sample)->hostname;
    return {};
  }

  std::optional<std::size_t> place_of(std::int64_t id) const {
    const auto found = std::ranges::find(ids_, id);
    return found == ids_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - ids_.begin()));
  }

  Result<void> read_curves(const Options &options, const Wanted &wanted) {
    history::RangeQuery query{.span = span_, .metrics = wanted.metrics, .devices = ids_};
    const bool for_programs = options.csv || options.jsonl;
    if (!for_programs) query.points = kPointsOfAPlot;
    if (options.step) query.step = std::chrono::ceil<std::chrono::seconds>(*options.step);
    ProgressLine progress("reading the history");
    const auto range = reader_.range(query, progress.teller());
    if (!range) return std::unexpected(range.error());
    const bool raw = range->tier == history::Tier::raw;
    // Samples that are a few seconds apart belong together.
    HistoryPage::Curves curves{.metrics = wanted.metrics,
                               .origin = fmt::format("{} steps", word(range->tier)),
                               .step = range->step,
                               .reach = raw ? std::max<std::chrono::seconds>(range->step, 5s) : range->step,
                               .curves = {}};
    for (const auto &series : range->series) {
      const bool of_host = key_of(series.metric).scope == Scope::host;
      const auto place = of_host ? std::optional<std::size_t>(0) : place_of(series.device);
      if (!place) continue;
      view::HistoryCurve curve{
          .metric = series.metric, .device = *place, .holds = !raw && kept(describe(series.metric)) == Kept::changes};
      curve.points.reserve(series.points.size());
      for (const auto &point : series.points) {
        curve.points.push_back({point.time, point.value, point.least, point.greatest});
      }
      curves.curves.push_back(std::move(curve));
    }
    if (options.fields.empty()) drop_unknown(curves);
    if (wanted.is_page && devices_.size() > kFewDevices) drop_utilization(curves);
    page_.curves = std::move(curves);
    return {};
  }

  // Of what was not asked for nothing is said where a machine does not have it.
  static void drop_unknown(HistoryPage::Curves &curves) {
    std::erase_if(curves.metrics, [&](MetricId id) {
      return std::ranges::none_of(curves.curves, [&](const auto &curve) { return curve.metric == id; });
    });
  }

  // Where there are many plots, the truer of two is enough.
  static void drop_utilization(HistoryPage::Curves &curves) {
    const auto has = [&](Role role) {
      return std::ranges::any_of(curves.metrics, [&](MetricId id) { return key_of(id).role == role; });
    };
    if (!has(Role::true_activity)) return;
    std::erase_if(curves.metrics, [](MetricId id) { return key_of(id).role == Role::utilization; });
  }

  Result<void> read_processes(const Options &options) {
    ProgressLine progress("looking for processes");
    const auto uses = reader_.processes(span_, ids_, progress.teller());
    if (!uses) return std::unexpected(uses.error());
    page_.processes.emplace();
    const auto metrics = history::kept_metrics(Scope::process);
    static const auto kUser = find_role(Scope::process, Role::user);
    for (const auto &use : *uses) {
      const auto place = place_of(use.device);
      if (!place) continue;
      if (!options.user.empty() && (!kUser || use.texts[*kUser].value_or("") != options.user)) continue;
      view::HistoryProcess process{.device = *place, .first = use.first, .last = use.last, .seconds = use.seconds};
      process.process.pid = use.pid;
      process.process.device = page_.devices[*place].id;
      process.process.types = history::types_named(use.type);
      process.process.texts = std::make_shared<const TextRow>(use.texts);
      process.process.row.fill(Reason::not_sampled);
      process.most.fill(Reason::not_sampled);
      for (std::size_t i = 0; i < std::min(metrics.size(), use.values.size()); ++i) {
        if (!use.values[i].value) continue;
        process.process.row[metrics[i].id] = *use.values[i].value;
        process.most[metrics[i].id] = use.values[i].greatest;
      }
      page_.processes->push_back(std::move(process));
    }
    return {};
  }

  Result<void> read_events(const Options &options) {
    auto events = reader_.events(span_);
    if (!events) return std::unexpected(events.error());
    std::erase_if(*events, [&](const Event &event) {
      if (options.devices.empty()) return false;
      return !event.device.empty() && std::ranges::none_of(devices_, [&](const history::KnownDevice *known) {
        return known->identity->uuid == event.device;
      });
    });
    page_.events = std::move(*events);
    return {};
  }

  Result<void> read_lost() {
    const auto lost = reader_.lost(span_);
    if (!lost) return std::unexpected(lost.error());
    for (const auto &loss : *lost) page_.lost.push_back({loss.span.from, loss.span.to, loss.samples, loss.reason});
    return {};
  }

  history::Reader &reader_;
  history::Span span_;
  std::vector<const history::KnownDevice *> devices_;
  std::vector<std::int64_t> ids_;
  HistoryPage page_;
};

std::string output_of(const Options &options, const Wanted &wanted, const HistoryPage &page) {
  using view::HistoryOwner;
  if (options.csv) {
    if (wanted.processes) return view::history_processes_csv(page);
    if (wanted.users || wanted.jobs)
      return view::history_totals_csv(page, wanted.users ? HistoryOwner::user : HistoryOwner::job);
    return wanted.events ? view::history_events_csv(page) : view::history_curves_csv(page, options.range);
  }
  if (options.jsonl) {
    if (wanted.processes) return view::history_processes_json(page);
    if (wanted.users || wanted.jobs)
      return view::history_totals_json(page, wanted.users ? HistoryOwner::user : HistoryOwner::job);
    return wanted.events ? view::history_events_json(page) : view::history_curves_json(page);
  }
  return view::render_history(page, style_of(options, STDOUT_FILENO));
}

}  // namespace

int run_history(const Options &options) {
  const auto wanted = wanted_of(options);
  if (!wanted) return fail(wanted.error(), kUsage);
  const auto span = span_of(options, wall_now());
  if (!span) return fail(span.error(), kUsage);
  const auto path = history_to_read(options.history);
  if (!path) return fail(path.error());
  // A look can be broken off at any moment; an export ends with a whole sample.
  const auto stop = options.export_to.empty() ? std::stop_token() : stop_of_export();
  auto reader = history::Reader::open(*path, stop);
  if (!reader) return fail(reader.error());
  if (const auto covered = check_covered(*reader, *span); !covered) return fail(covered.error());
  auto devices = devices_of(*reader, *span, options.devices);
  if (!devices) return fail(devices.error(), kUsage);
  if (!options.export_to.empty()) {
    std::vector<Text> uuids;
    if (!options.devices.empty()) {
      for (const auto *known : *devices) uuids.push_back(known->identity->uuid);
    }
    return export_history(*reader, *span, uuids, options, stop);
  }
  Query query(*reader, *span, std::move(*devices));
  if (const auto done = query.read(options, *wanted); !done) return fail(done.error());
  if (const auto written = write_out(output_of(options, *wanted, query.page())); !written) return fail(written.error());
  if (reader->damaged() > 0)
    complain(fmt::format("{} damaged part{} of {} passed over", reader->damaged(), reader->damaged() == 1 ? "" : "s",
                         *path));
  return kGood;
}

}  // namespace gpulse::cli
