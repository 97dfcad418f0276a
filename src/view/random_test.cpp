// SPDX-License-Identifier: Apache-2.0
// What holds for every snapshot whatsoever: lines fit, text is clean, JSON, CSV and Prometheus' text are well
// formed.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/text.hpp"
#include "term/width.hpp"
#include "view/csv.hpp"
#include "view/doctor.hpp"
#include "view/explain.hpp"
#include "view/gpustat.hpp"
#include "view/json.hpp"
#include "view/prometheus.hpp"
#include "view/status.hpp"
#include "view/testing.hpp"

namespace gpulse::view {
namespace {

class Chance {
 public:
  explicit Chance(unsigned seed) : engine_(seed) {}

  int up_to(int most) { return std::uniform_int_distribution<int>(0, most)(engine_); }
  bool once_in(int times) { return up_to(times - 1) == 0; }

  std::string text() {
    static const std::vector<std::string> kPieces{"NVIDIA ",
                                                  "a",
                                                  "\x1b[31m",
                                                  "\n",
                                                  "\t",
                                                  "\xff\xfe",
                                                  "名前",
                                                  "e\u0301\u0301",
                                                  "\U0001F468\u200D\U0001F469",
                                                  "\u202E",
                                                  "\u0085",
                                                  "\"",
                                                  "\\",
                                                  ",",
                                                  " ",
                                                  "\u3000",
                                                  "x86-64",
                                                  "very/long/path/with/parts",
                                                  "\uFEFF",
                                                  "\u2028",
                                                  "%s{}",
                                                  "\xc3",
                                                  "\u00AD",
                                                  "\U000E0001"};
    std::string made;
    for (int i = up_to(20); i > 0; --i)
      made += kPieces[static_cast<std::size_t>(up_to(static_cast<int>(kPieces.size()) - 1))];
    return made;
  }
  Reading reading() {
    static constexpr std::array<double, 10> kOdd{0, -1, 1, 100, 1e3, 1e12, 1e300, -1e300, 0.001, 1e-300};
    if (once_in(3)) return {static_cast<Reason>(up_to(8)), static_cast<std::uint16_t>(up_to(999))};
    if (once_in(20)) return std::numeric_limits<double>::quiet_NaN();
    if (once_in(20)) return std::numeric_limits<double>::infinity();
    if (once_in(4)) return kOdd[static_cast<std::size_t>(up_to(9))];
    return static_cast<double>(up_to(1'000'000));
  }
  void fill(Row &row) {
    for (auto &reading : row.readings()) reading = this->reading();
  }

 private:
  std::mt19937 engine_;
};

Device random_device(Chance &chance, std::uint32_t index) {
  auto identity = std::make_shared<DeviceIdentity>();
  identity->vendor = chance.text();
  identity->uuid = chance.text();
  identity->name = chance.text();
  identity->driver = chance.text();
  identity->label = chance.text();
  Device device;
  device.id.index = index;
  if (!chance.once_in(10)) device.identity = identity;
  if (chance.once_in(4)) device.id.instance = static_cast<std::uint32_t>(chance.up_to(9));
  if (chance.once_in(3)) device.state = static_cast<DeviceState>(chance.up_to(3));
  device.state_for = Seconds(chance.up_to(1'000'000));
  chance.fill(device.row);
  return device;
}

Process random_process(Chance &chance) {
  Process process;
  process.pid = static_cast<std::uint32_t>(chance.up_to(2'000'000'000));
  process.device.index = static_cast<std::uint32_t>(chance.up_to(12));
  process.types = static_cast<std::uint8_t>(chance.up_to(255));
  process.foreign = chance.once_in(5);
  process.gone = chance.once_in(5);
  chance.fill(process.row);
  TextRow texts(Scope::process);
  for (auto &text : texts.texts()) {
    if (!chance.once_in(3)) text = chance.text();
  }
  if (!chance.once_in(5)) process.texts = std::make_shared<TextRow>(std::move(texts));
  return process;
}

Snapshot random_snapshot(Chance &chance) {
  Snapshot snapshot;
  snapshot.time = WallTime(std::chrono::seconds(chance.up_to(2'000'000'000)));
  snapshot.hostname = chance.text();
  if (chance.once_in(3)) snapshot.origin = chance.text();
  chance.fill(snapshot.host);
  chance.fill(snapshot.self);
  const auto devices = static_cast<std::uint32_t>(chance.once_in(8) ? chance.up_to(200) : chance.up_to(9));
  for (std::uint32_t i = 0; i < devices; ++i) snapshot.devices.push_back(random_device(chance, i));
  for (int i = chance.up_to(12); i > 0; --i) snapshot.processes.push_back(random_process(chance));
  for (int i = chance.up_to(2); i > 0; --i)
    snapshot.sources.push_back({chance.text(), chance.text(), chance.text(), 1});
  for (int i = chance.up_to(5); i > 0; --i) {
    snapshot.events.push_back(
        {snapshot.time, chance.text(), static_cast<EventKind>(chance.up_to(14)), chance.up_to(200), chance.text()});
  }
  return snapshot;
}

// The text without colour sequences; anything else that starts with an escape stays and is found by the caller.
std::string without_colour(std::string_view line) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line.substr(i, 2) == "\x1b[") {
      const auto end = line.find_first_not_of("0123456789;", i + 2);
      if (end != std::string_view::npos && line[end] == 'm') {
        i = end;
        continue;
      }
    }
    plain += line[i];
  }
  return plain;
}

void expect_sound(const std::string &text, const term::Style &style) {
  for (std::string_view rest = text; !rest.empty();) {
    const auto line = next_piece(rest, '\n');
    const auto plain = style.colour ? without_colour(line) : std::string(line);
    // printable() changes nothing: valid UTF-8 and no control character is left.
    ASSERT_EQ(plain, printable(plain));
    ASSERT_EQ(plain, term::clean(plain, style.unicode));
    ASSERT_LE(term::width(plain), style.width) << plain;
  }
}

TEST(EverySnapshot, FitsTheScreenAndIsCleanText) {
  Chance chance(20261115);
  for (int round = 0; round < 1500; ++round) {
    SCOPED_TRACE(round);
    const auto snapshot = random_snapshot(chance);
    StatusOptions options{
        .style = {.colour = chance.once_in(2), .unicode = !chance.once_in(4), .width = 1 + chance.up_to(299)},
        .height = chance.once_in(2) ? 0 : 1 + chance.up_to(60)};
    const auto text = render_status(snapshot, options);
    expect_sound(text, options.style);
    if (options.height > 0) {
      ASSERT_LE(std::count(text.begin(), text.end(), '\n'), options.height);
    }
    if (round % 10 == 0) expect_sound(render_doctor(snapshot, {}, {.style = options.style}), options.style);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(EverySnapshot, HasCleanLinesAsGpustat) {
  Chance chance(11);
  for (int round = 0; round < 500; ++round) {
    auto snapshot = random_snapshot(chance);
    for (auto &process : snapshot.processes) {
      if (!chance.once_in(3)) process.arguments = std::make_shared<const std::vector<std::string>>(2, chance.text());
    }
    GpustatOptions options;
    options.command = options.full_command = options.power = options.fan = true;
    if (chance.once_in(2)) options.name_width = chance.up_to(20);
    options.colour = chance.once_in(2);
    expect_sound(render_gpustat(snapshot, options), {.colour = options.colour, .width = 100'000});
    if (::testing::Test::HasFatalFailure()) return;
    const auto json = gpustat_json(snapshot, {});
    ASSERT_TRUE(std::all_of(json.begin(), json.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  }
}

TEST(EveryMetricAndFinding, IsExplainedInAnyWidth) {
  for (const int width : {1, 2, 7, 20, 79, 80, 300}) {
    const term::Style style{.width = width};
    for (const auto &metric : kMetrics) expect_sound(explain_metric(metric, style), style);
    for (const auto &kind : insight::finding_kinds()) expect_sound(explain_finding(kind, style), style);
    for (const auto &kind : insight::remark_kinds()) expect_sound(explain_finding(kind, style), style);
    expect_sound(explain_list(style), style);
  }
}

TEST(EverySnapshot, GivesCsvWithAsManyCellsAsTitles) {
  Chance chance(7);
  const auto columns = csv_columns({});
  ASSERT_TRUE(columns);
  for (int round = 0; round < 100; ++round) {
    auto snapshot = random_snapshot(chance);
    std::string text;
    write_csv(snapshot, *columns, text);
    std::size_t cells = 0;
    std::size_t lines = 0;
    bool quoted = false;
    for (const char c : text) {
      if (c == '"') quoted = !quoted;
      if (!quoted && c == ',') ++cells;
      if (!quoted && c == '\n') ++lines;
    }
    ASSERT_FALSE(quoted);
    ASSERT_EQ(lines, snapshot.devices.size());
    ASSERT_EQ(cells, lines * (columns->size() - 1));
  }
}

TEST(EverySnapshot, GivesPrometheusEachFamilyAndSeriesOnce) {
  Chance chance(5);
  PrometheusView view(*prometheus_fields({}));
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(round);
    std::string text;
    view.write(random_snapshot(chance), text);
    ASSERT_TRUE(text.starts_with(kPrometheusHead) && text.ends_with('\n'));
    std::set<std::string_view> seen;
    std::string_view family;
    for (std::string_view rest = text; !rest.empty();) {
      const auto line = next_piece(rest, '\n');
      ASSERT_EQ(line, printable(line));
      if (line.starts_with("# HELP ")) {
        family = line.substr(7, line.find(' ', 7) - 7);
        ASSERT_TRUE(seen.insert(family).second) << line;
      } else if (!line.starts_with("# TYPE ")) {
        const auto end = line.rfind(' ');
        ASSERT_TRUE(line.starts_with(family)) << line;
        ASSERT_TRUE(seen.insert(line.substr(0, end + 1)).second) << line;
        ASSERT_TRUE(parse_double(line.substr(end + 1))) << line;
      }
    }
  }
}

}  // namespace
}  // namespace gpulse::view
