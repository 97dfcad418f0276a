// SPDX-License-Identifier: Apache-2.0
#include "view/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/json_writer.hpp"
#include "insight/catalogue.hpp"
#include "metric/table.hpp"
#include "smi/headings.hpp"
#include "view/glossary.hpp"
#include "view/json_indent.hpp"

namespace gpulse::view {

namespace {

// A bar would end the cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string values_of(const Metric &metric) {
  std::string text(metric.unit == Unit::none ? word(metric.kind) : word(metric.unit));
  if (metric.kind == Kind::counter && metric.unit != Unit::none) text += ", counter";
  for (std::size_t i = 0; i < metric.words.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? ": " : ", ", metric.words[i]);
  }
  return text;
}

std::string names_of(const Metric &metric) {
  std::string text = is_text(metric) ? "" : fmt::format("`{}`", prometheus_name(metric));
  if (!metric.total.empty()) text += fmt::format("<br>`{}`", prometheus_name(total_of(metric)));
  if (!metric.peak.empty()) text += fmt::format("<br>`{}`", prometheus_name(peak_of(metric)));
  if (!metric.smi.empty()) text += fmt::format("{}`{}`", text.empty() ? "" : "<br>", metric.smi);
  return text;
}

std::string row_of(const Metric &metric) {
  return fmt::format("| `{}` | {} | {} | {} {} | {} | {} |\n", metric.key, cell(metric.label), cell(values_of(metric)),
                     cell(std::string(metric.help) + "."), cell(metric.meaning), word(metric.window), names_of(metric));
}

// Groups of a scope in the order in which they first come up.
std::vector<Group> groups_of(Scope scope) {
  std::vector<Group> groups;
  for_each_metric(scope, [&](MetricId, const Metric &metric) {
    if (std::find(groups.begin(), groups.end(), metric.group) == groups.end()) groups.push_back(metric.group);
  });
  return groups;
}

void write_threshold(JsonWriter &json, std::string_view key, double value) {
  json.key(key);
  std::isfinite(value) ? json.value(value) : json.null();
}

void write_optional(JsonWriter &json, std::string_view key, std::string_view text) {
  json.key(key);
  text.empty() ? json.null() : json.value(text);
}

void write_texts(JsonWriter &json, std::string_view key, std::span<const std::string_view> texts) {
  json.key(key);
  json.begin_array();
  for (const auto text : texts) json.value(text);
  json.end_array();
}

std::vector<std::string_view> words_of_bits(const Metric &metric, std::uint64_t bits) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < metric.words.size(); ++i) {
    if ((bits >> i & 1U) != 0) words.push_back(metric.words[i]);
  }
  return words;
}

void write_metric(JsonWriter &json, const Metric &metric) {
  json.begin_object();
  json.member("key", metric.key);
  json.member("scope", word(metric.scope));
  json.member("kind", word(metric.kind));
  write_optional(json, "unit", word(metric.unit));
  write_optional(json, "symbol", symbol(metric.unit));
  json.member("precision", metric.precision);
  json.member("window", word(metric.window));
  json.member("fold", word(fold(metric)));
  json.member("kept", word(kept(metric)));
  json.member("group", word(metric.group));
  json.member("label", metric.label);
  json.member("help", metric.help);
  json.member("meaning", metric.meaning);
  write_optional(json, "role", word(metric.role));
  write_optional(json, "nvidia_smi", metric.smi);
  write_optional(json, "prometheus", is_text(metric) ? std::string() : prometheus_name(metric));
  write_threshold(json, "warn", metric.warn);
  write_threshold(json, "bad", metric.bad);
  write_texts(json, "words", metric.words);
  write_texts(json, "calm", words_of_bits(metric, metric.calm));
  write_texts(json, "grave", words_of_bits(metric, metric.grave));
  json.member("rank", static_cast<int>(metric.rank));
  json.end_object();
}

void write_finding(JsonWriter &json, const insight::FindingKind &kind) {
  json.begin_object();
  json.member("id", kind.word);
  json.member("title", kind.title);
  write_texts(json, "aliases", kind.aliases.all());
  json.member("meaning", kind.meaning);
  json.member("told", kind.told);
  json.member("confirm", kind.confirm);
  write_texts(json, "fix", kind.fix.all());
  write_optional(json, "helped", kind.helped);
  write_texts(json, "see_also", kind.see_also.all());
  json.end_object();
}

std::string capitalised(std::string_view text) {
  std::string result(text);
  if (!result.empty() && result[0] >= 'a' && result[0] <= 'z') result[0] = static_cast<char>(result[0] - ('a' - 'A'));
  return result;
}

// A list of words as code: "`oom`, `leak`".
std::string as_code(std::span<const std::string_view> words) {
  std::string text;
  for (const auto name : words) text += fmt::format("{}`{}`", text.empty() ? "" : ", ", name);
  return text;
}

std::string section_of(const insight::FindingKind &kind) {
  std::string text = fmt::format("\n## {}\n\n**{}.** {}\n", kind.word, capitalised(kind.title), kind.meaning);
  text += fmt::format("\n**How it is told.** {}\n\n**To confirm it.** {}\n", kind.told, kind.confirm);
  if (const auto steps = kind.fix.all(); !steps.empty()) {
    text += "\n**What to do.**\n\n";
    int number = 0;
    for (const auto step : steps) text += fmt::format("{}. {}\n", ++number, step);
    text += fmt::format("\n**Did it help?** {}.\n", kind.helped);
  }
  text += fmt::format("\n[Metrics](metrics.md): {}.", as_code(kind.see_also.all()));
  if (const auto aliases = kind.aliases.all(); !aliases.empty()) {
    text += fmt::format(" `gpulse explain` also takes {}.", as_code(aliases));
  }
  return text + '\n';
}

}  // namespace

std::string metric_reference() {
  std::string page =
      "# Metrics\n\n"
      "Made from the table in `src/metric/rows`; `gpulse explain NAME` says the same in the terminal, where NAME is a "
      "key, "
      "or the label that tables and the live view have for it. A reading is a number or the reason why there is "
      "none.\n";
  for (const auto scope : {Scope::device, Scope::process, Scope::host, Scope::core, Scope::self, Scope::detail}) {
    for (const auto group : groups_of(scope)) {
      const auto title = word(scope) == word(group) || scope == Scope::self
                             ? std::string(word(group))
                             : fmt::format("{}: {}", word(scope), word(group));
      page += fmt::format("\n## {}\n\n", capitalised(title));
      page += "| key | label | value | meaning | speaks of | Prometheus, nvidia-smi |\n|---|---|---|---|---|---|\n";
      for_each_metric(scope, [&](MetricId, const Metric &metric) {
        if (metric.group == group) page += row_of(metric);
      });
    }
  }
  page +=
      "\n## Other headings\n\nLabels of the tables that stand for no single metric.\n\n| label | meaning "
      "|\n|---|---|\n";
  for (const auto &term : terms()) page += fmt::format("| {} | {}. |\n", cell(term.label), cell(term.words));
  page +=
      "\n## nvidia-smi's headings\n\nWords on its screens, as `gpulse explain` knows them too.\n\n"
      "| heading | meaning | metric |\n|---|---|---|\n";
  for (const auto &heading : smi::headings()) {
    page += fmt::format("| {} | {} | {} |\n", cell(heading.name), cell(heading.words),
                        heading.key.empty() ? "" : fmt::format("`{}`", heading.key));
  }
  return page;
}

std::string finding_reference() {
  std::string page =
      "# Findings\n\n"
      "What gpulse can find out about a stretch of time; `gpulse explain FINDING` says the same in the terminal. A "
      "finding "
      "is a `problem`, a `note` or `ok`; views are silent about what is ok. Where a GPU does not tell how active its "
      "processors are, the rules use what there is, and the finding says \"estimated\".\n\n"
      "| finding | in short |\n|---|---|\n";
  for (const auto &kind : insight::finding_kinds()) {
    page += fmt::format("| [{}](#{}) | {} |\n", kind.word, kind.word, cell(kind.title));
  }
  for (const auto &kind : insight::finding_kinds()) page += section_of(kind);
  return page;
}

void write_table_json(std::string &out, bool pretty) {
  std::string compact;
  JsonWriter json(compact);
  json.begin_object();
  json.member("schema", "gpulse-metrics/1");
  json.key("metrics");
  json.begin_array();
  for (const auto &metric : kMetrics) write_metric(json, metric);
  json.end_array();
  json.key("findings");
  json.begin_array();
  for (const auto &kind : insight::finding_kinds()) write_finding(json, kind);
  json.end_array();
  json.key("remarks");
  json.begin_array();
  for (const auto &kind : insight::remark_kinds()) write_finding(json, kind);
  json.end_array();
  json.end_object();
  out += pretty ? indent_json(compact) : compact;
}

}  // namespace gpulse::view
