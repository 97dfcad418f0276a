// SPDX-License-Identifier: Apache-2.0
#include "view/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "metric/table.hpp"
#include "model/xid.hpp"
#include "smi/headings.hpp"
#include "term/width.hpp"
#include "view/glossary.hpp"

namespace gpulse::view {

using term::Colour;
using term::Span;
using term::Style;

namespace {

constexpr int kIndent = 2;
constexpr int kNameColumns = 14;

class Page {
 public:
  explicit Page(const Style &style) : style_(style) {}

  void title(std::string_view name, std::string_view rest) {
    add({{std::string(name), Colour::bold}, {"  " + std::string(rest), Colour::dim}});
  }
  void paragraph(std::string_view text, int indent = kIndent) {
    for (auto &piece : term::wrap(text, style_.width - indent)) {
      add({{std::string(static_cast<std::size_t>(indent), ' '), Colour::plain}, {std::move(piece), Colour::plain}});
    }
  }
  // A name in its column, the text beside it; `lead` stands before the text, which stays clear of it in every line.
  void fact(std::string_view name, std::string_view text, std::string_view lead = {}) {
    const int start = kIndent + kNameColumns + static_cast<int>(lead.size());
    std::string left = std::string(kIndent, ' ') + term::pad(name, kNameColumns);
    std::string before(lead);
    for (auto &piece : term::wrap(text, std::max(1, style_.width - start))) {
      add({{left, Colour::dim}, {before + piece, Colour::plain}});
      left.assign(static_cast<std::size_t>(start), ' ');
      before.clear();
    }
  }
  void add(const std::vector<Span> &spans) { text_ += term::line(style_, spans) + '\n'; }
  void blank() { text_ += '\n'; }
  std::string take() { return std::move(text_); }

 private:
  const Style &style_;
  std::string text_;
};

std::string listed(std::span<const std::string_view> words) {
  std::string text;
  for (const auto name : words) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::string thresholds(const Metric &metric) {
  std::string text;
  const auto add = [&](double from, std::string_view what) {
    if (from == kNoThreshold) return;
    text += fmt::format("{}{} from {}{}{}", text.empty() ? "" : ", ", what, from,
                        symbol(metric.unit).empty() ? "" : " ", symbol(metric.unit));
  };
  add(metric.warn, "worth a look");
  add(metric.bad, "bad");
  return text;
}

// Metrics first: of equally near names they win.
std::vector<std::string_view> all_topics() {
  std::vector<std::string_view> topics;
  for (const auto &metric : kMetrics) topics.push_back(metric.key);
  for (const auto &kinds : {insight::finding_kinds(), insight::remark_kinds()}) {
    for (const auto &kind : kinds) {
      topics.push_back(kind.word);
      for (const auto alias : kind.aliases.all()) topics.push_back(alias);
    }
  }
  return topics;
}

void add_kinds(Page &page, std::string_view title, std::span<const insight::FindingKind> kinds) {
  std::size_t widest = 0;
  for (const auto &kind : kinds) widest = std::max(widest, kind.word.size());
  page.add({{std::string(title), Colour::bold}});
  for (const auto &kind : kinds) {
    page.add({{"  " + term::pad(kind.word, static_cast<int>(widest) + 2), Colour::plain},
              {std::string(kind.title), Colour::dim}});
  }
}

// By any of its names, and those of what the agent keeps of it.
bool is_called(const Metric &metric, std::string_view name) {
  return metric.key == name || metric.smi == name || prometheus_name(metric) == name ||
         (!metric.total.empty() && prometheus_name(total_of(metric)) == name) ||
         (!metric.peak.empty() && prometheus_name(peak_of(metric)) == name);
}

std::string explain_term(const Term &term, const Style &style) {
  Page page(style);
  page.title(term.label, "a heading of the tables");
  page.paragraph(std::string(term.words) + ".");
  return page.take();
}

std::string explain_heading(const smi::Heading &heading, const Style &style) {
  Page page(style);
  page.title(heading.name, "a word on nvidia-smi's screen");
  page.paragraph(heading.words);
  if (!heading.key.empty()) page.fact("metric", heading.key);
  return page.take();
}

// A label of the tables and of the live view, in this case or in any other.
std::string explain_label(std::string_view label, const Style &style) {
  std::string text;
  const auto add = [&](const std::string &more) { text += (text.empty() ? "" : "\n") + more; };
  if (const auto *term = find_term(label)) add(explain_term(*term, style));
  for (const auto id : labelled_metrics(label)) add(explain_metric(describe(id), style));
  return text;
}

// What a state or a set can be: "P0", "power cap". Words such as "on" mean something else for every metric.
std::string explain_value(std::string_view name, const Style &style) {
  std::vector<const Metric *> found;
  for (const auto &metric : kMetrics) {
    const auto is_named = [&](std::string_view word) { return lower(word) == lower(name); };
    if (std::ranges::any_of(metric.words, is_named)) found.push_back(&metric);
  }
  if (found.size() != 1) return {};
  Page page(style);
  page.title(name, fmt::format("a value of {}", found.front()->key));
  return page.take() + '\n' + explain_metric(*found.front(), style);
}

}  // namespace

std::string explain_metric(const Metric &metric, const Style &style) {
  Page page(style);
  page.title(metric.key, fmt::format("{}, {}", word(metric.scope), word(metric.group)));
  page.paragraph(metric.help);
  page.blank();
  page.paragraph(metric.meaning);
  page.blank();
  if (metric.unit != Unit::none) page.fact("unit", word(metric.unit));
  page.fact("kind", word(metric.kind));
  page.fact("speaks of", word(metric.window));
  if (!metric.words.empty()) page.fact("words", listed(metric.words));
  if (const auto text = thresholds(metric); !text.empty()) page.fact("thresholds", text);
  page.fact("label", metric.label);
  if (!is_text(metric)) page.fact("Prometheus", prometheus_name(metric));
  if (!metric.total.empty()) page.fact("  total", prometheus_name(total_of(metric)));
  if (!metric.peak.empty()) page.fact("  highest", prometheus_name(peak_of(metric)));
  if (!metric.smi.empty()) page.fact("nvidia-smi", metric.smi);
  return page.take();
}

std::string explain_finding(const insight::FindingKind &kind, const Style &style) {
  Page page(style);
  page.title(kind.word, kind.title);
  page.paragraph(kind.meaning);
  page.blank();
  page.fact("told by", kind.told);
  page.fact("confirm it", kind.confirm);
  std::string_view name = "what to do";
  int number = 0;
  for (const auto step : kind.fix.all()) {
    page.fact(name, step, fmt::format("{}. ", ++number));
    name = {};
  }
  if (!kind.helped.empty()) page.fact("did it help?", fmt::format("{}.", kind.helped));
  page.fact("metrics", listed(kind.see_also.all()));
  if (const auto aliases = kind.aliases.all(); !aliases.empty()) page.fact("also called", listed(aliases));
  return page.take();
}

Result<std::string> explain(std::string_view name, const Style &style) {
  std::string text;
  for (const auto &metric : kMetrics) {
    if (name.empty() || !is_called(metric, name)) continue;
    text += (text.empty() ? "" : "\n") + explain_metric(metric, style);
  }
  if (!text.empty()) return text;
  // Before what can be written in any case, because "SM" is a label and "sm" a heading of nvidia-smi.
  if (text = explain_label(name, style); !text.empty()) return text;
  if (const auto finding = insight::finding_for_topic(name)) return explain_finding(insight::describe(*finding), style);
  if (const auto remark = insight::remark_for_topic(name)) return explain_finding(insight::describe(*remark), style);
  if (const auto *heading = smi::find_heading(name)) return explain_heading(*heading, style);
  if (text = explain_label(label_in_any_case(name), style); !text.empty()) return text;
  if (text = explain_value(name, style); !text.empty()) return text;
  return failure(fmt::format("no metric or finding '{}'", name),
                 did_you_mean(name, all_topics(), "`gpulse explain` lists them"));
}

Result<std::string> explain_xid(std::int64_t number, const Style &style) {
  const auto *entry = find_xid(number);
  if (entry == nullptr) {
    return failure(fmt::format("no entry for XID {}", number), "see the kernel's log for the driver's own words");
  }
  Page page(style);
  page.title(fmt::format("XID {}", number), entry->application ? "the program's fault, the device is fine" : "");
  page.paragraph(entry->meaning);
  page.fact("what to do", entry->remedy);
  return page.take();
}

std::string explain_list(const Style &style) {
  Page page(style);
  std::size_t widest = 0;
  for (const auto &metric : kMetrics) widest = std::max(widest, metric.key.size());
  std::optional<std::pair<Scope, Group>> current;
  for (const auto &metric : kMetrics) {
    if (const std::pair place{metric.scope, metric.group}; current != place) {
      if (current) page.blank();
      current = place;
      page.add({{fmt::format("{}: {}", word(metric.scope), word(metric.group)), Colour::bold}});
    }
    page.add({{"  " + term::pad(metric.key, static_cast<int>(widest) + 2), Colour::plain},
              {std::string(metric.help), Colour::dim}});
  }
  page.blank();
  add_kinds(page, "between the GPUs of a fleet", insight::remark_kinds());
  page.blank();
  add_kinds(page, "findings", insight::finding_kinds());
  return page.take();
}

std::string explain_finding_list(const Style &style) {
  Page page(style);
  add_kinds(page, "findings", insight::finding_kinds());
  return page.take();
}

}  // namespace gpulse::view
