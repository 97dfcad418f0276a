// SPDX-License-Identifier: Apache-2.0
#include "view/diagnosis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/counted.hpp"
#include "insight/catalogue.hpp"
#include "metric/format.hpp"
#include "term/width.hpp"
#include "view/finding_cells.hpp"

namespace gpulse::view {

namespace {

using insight::Finding;
using insight::Weight;
using term::Colour;
using term::Style;

double rounded_to(double value, double digits) {
  const double scale = std::pow(10.0, digits);
  return std::abs(value) < 1e12 ? std::round(value * scale) / scale : value;
}

double seconds_from(WallTime origin, WallTime time) { return rounded_to(Seconds(time - origin).count(), 3); }

double fact_of(const Finding &finding, std::string_view name) {
  const auto found = std::ranges::find(finding.evidence, name, &insight::Fact::name);
  return found == finding.evidence.end() ? 0 : found->value;
}

class Lines {
 public:
  explicit Lines(const Style &style) : style_(style) {}

  void add(const std::vector<term::Span> &spans) { text_ += term::line(style_, spans) + '\n'; }
  // A word in its column, the text beside it.
  void fact(std::string_view name, std::string_view content) {
    constexpr int kIndent = 2, kName = 10;
    std::string left = std::string(kIndent, ' ') + term::pad(name, kName);
    for (auto &piece : term::wrap(content, std::max(1, style_.width - kIndent - kName))) {
      add({{left, Colour::dim}, {std::move(piece), Colour::plain}});
      left.assign(kIndent + kName, ' ');
    }
  }
  void blank() { text_ += '\n'; }
  std::string take() { return std::move(text_); }

 private:
  const Style &style_;
  std::string text_;
};

std::string who(const Finding &finding) {
  auto words = devices_words(finding);
  if (!finding.pids.empty()) {
    words += fmt::format(", process{} {}", finding.pids.size() == 1 ? "" : "es", fmt::join(finding.pids, ", "));
  }
  return words;
}

// Empty where who told of it did not say.
std::string sure_words(const Finding &finding) {
  if (!(finding.confidence > 0)) return {};
  return fmt::format("{:.0f} % sure{}", finding.confidence * 100, finding.estimated ? ", estimated" : "");
}

}  // namespace

std::string fact_words(const insight::Fact &fact) {
  std::string_view name = fact.name;
  const auto drop = [&](std::string_view suffix) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  };
  for (const auto suffix : {"_bytes_per_second", "_percent", "_bytes", "_watts"}) drop(suffix);
  constexpr double kHundred = 100, kLittle = 0.01;
  std::string value;
  switch (fact.unit) {
    case Unit::bytes:
      value = format_bytes(fact.value);
      break;
    case Unit::bytes_per_second:
      value = format_bytes(fact.value) + "/s";
      break;
    case Unit::percent:
      value = fact.value > 0 && fact.value < kLittle ? fmt::format("<{} %", kLittle)
              : fact.value > 0 && fact.value < 1     ? fmt::format("{:.2g} %", fact.value)
                                                     : fmt::format("{:.0f} %", fact.value);
      break;
    default:
      value = std::abs(fact.value) >= kHundred ? fmt::format("{:.0f}", fact.value)
                                               : fmt::format("{:.4g}", rounded_to(fact.value, 2));
      if (!symbol(fact.unit).empty()) value += fmt::format(" {}", symbol(fact.unit));
  }
  std::string words(name);
  std::ranges::replace(words, '_', ' ');
  return words + ' ' + value;
}

std::string cost_words(const Finding &finding) {
  constexpr double kMost = 10, kKilo = 1000;
  if (!finding.lost_share || *finding.lost_share <= 0) return {};
  auto words = fmt::format("{:.0f} % of GPU time", *finding.lost_share * 100);
  if (const auto speedup = insight::best_speedup(finding)) {
    words += *speedup > kMost ? fmt::format(": mended, at best more than {:.0f} times as fast", kMost)
                              : fmt::format(": mended, at best {:.1f} times as fast", *speedup);
  }
  const double hours = fact_of(finding, "lost_gpu_hours_per_day"), energy = fact_of(finding, "lost_watt_hours_per_day");
  if (hours > 0) words += fmt::format("; {:.1f} GPU-hours", hours);
  if (hours > 0 && energy > 0) words += fmt::format(" and {:.1f} kWh", energy / kKilo);
  if (hours > 0) words += " a day";
  return words;
}

void write_finding_members(JsonWriter &json, const Finding &finding, WallTime origin, bool clock) {
  json.member("id", insight::word(finding.id));
  json.member("severity", insight::word(finding.weight));
  json.member("confidence", rounded_to(finding.confidence, 2));
  json.member("estimated", finding.estimated);
  json.key("devices");
  json.begin_array();
  for (const auto &id : finding.devices) json.value(text(id));
  json.end_array();
  json.key("pids");
  json.begin_array();
  for (const auto pid : finding.pids) json.value(pid);
  json.end_array();
  const bool has_since = finding.since != WallTime();
  if (clock) {
    json.key("since");
    has_since ? json.value(iso8601_utc(finding.since)) : json.null();
  }
  json.key("since_seconds");
  has_since ? json.value(seconds_from(origin, finding.since)) : json.null();
  json.member("until_seconds", seconds_from(origin, finding.until));
  json.key("lost_share");
  if (finding.lost_share) {
    json.value(rounded_to(*finding.lost_share, 3));
  } else {
    json.null();
  }
  json.member("text", finding.text);
  json.key("evidence");
  json.begin_object();
  for (const auto &fact : finding.evidence) json.member(fact.name, rounded_to(fact.value, 3));
  json.end_object();
  json.key("advice");
  json.begin_array();
  for (const auto &advice : finding.advice) json.value(advice);
  json.end_array();
  json.member("explain", fmt::format("gpulse explain {}", insight::word(finding.id)));
}

void write_finding_json(JsonWriter &json, const Finding &finding, WallTime origin, bool clock) {
  json.begin_object();
  write_finding_members(json, finding, origin, clock);
  json.end_object();
}

void write_diagnosis_json(JsonWriter &json, const DiagnosisPart &part) {
  const auto &diagnosis = part.diagnosis;
  json.begin_object();
  if (part.phase) json.member("phase", *part.phase);
  json.member("start_seconds", seconds_from(part.origin, diagnosis.from));
  json.member("end_seconds", seconds_from(part.origin, diagnosis.to));
  json.member("samples", std::uint64_t{diagnosis.samples});
  json.member("verdict", insight::word(diagnosis.verdict));
  json.key("findings");
  json.begin_array();
  for (const auto &finding : diagnosis.findings) write_finding_json(json, finding, part.origin);
  json.end_array();
  json.end_object();
}

std::string render_finding(const Finding &finding, const Style &style) {
  Lines lines(style);
  const auto &kind = insight::describe(finding.id);
  if (finding.weight == Weight::ok) {
    lines.add({{who(finding) + "  ", Colour::bold}, {finding.text, Colour::plain}});
    return lines.take();
  }
  lines.add({{fmt::format("{}: {}", insight::word(finding.weight), kind.title), finding_colour(finding)},
             {fmt::format("  {}  ", who(finding)), Colour::bold},
             {sure_words(finding), Colour::dim}});
  lines.fact("", finding.text + '.');
  if (const auto cost = cost_words(finding); !cost.empty()) lines.fact("costs", cost);
  std::vector<std::string> facts;
  for (const auto &fact : finding.evidence) {
    if (!fact.name.starts_with("lost_")) facts.push_back(fact_words(fact));
  }
  if (!facts.empty()) lines.fact("seen", fmt::format("{}", fmt::join(facts, ", ")));
  for (std::size_t i = 0; i < finding.advice.size(); ++i) lines.fact(i == 0 ? "try" : "", finding.advice[i]);
  lines.fact("more", fmt::format("gpulse explain {}", kind.word));
  return lines.take();
}

std::string render_diagnosis(const DiagnosisPart &part, const Style &style) {
  Lines lines(style);
  const auto &diagnosis = part.diagnosis;
  const auto &kind = insight::describe(diagnosis.verdict);
  const double from = seconds_from(part.origin, diagnosis.from), to = seconds_from(part.origin, diagnosis.to);
  lines.add({{part.phase ? *part.phase + "  " : "", Colour::bold},
             {std::string(kind.word), Colour::bold},
             {fmt::format("  {}  ", kind.title), Colour::plain},
             {fmt::format("{:.1f} s to {:.1f} s, {}", from, to, counted(diagnosis.samples, "sample")), Colour::dim}});
  std::string text = lines.take();
  for (const auto &finding : diagnosis.findings) text += '\n' + render_finding(finding, style);
  return text;
}

}  // namespace gpulse::view
