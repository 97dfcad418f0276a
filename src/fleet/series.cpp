// SPDX-License-Identifier: Apache-2.0
#include "fleet/series.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <ranges>

#include "fleet/write_request.hpp"

namespace gpulse::fleet {

namespace {

constexpr std::string_view kName = "__name__";

// The value behind the opening quote, unescaped; what is left begins behind the closing one.
bool take_value(std::string_view &text, std::string &value) {
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c == '"') return true;
    if (c != '\\') {
      value += c;
      continue;
    }
    if (text.empty()) return false;
    value += text.front() == 'n' ? '\n' : text.front();
    text.remove_prefix(1);
  }
  return false;
}

// What stands between the braces.
bool take_labels(std::string_view &text, std::vector<Label> &labels) {
  while (!text.empty() && text.front() != '}') {
    const auto name_end = text.find("=\"");
    if (name_end == std::string_view::npos) return false;
    Label label{std::string(text.substr(0, name_end)), {}};
    text.remove_prefix(name_end + 2);
    if (!take_value(text, label.second)) return false;
    // An empty value is the same as no label, and an engine takes none.
    if (!label.first.empty() && !label.second.empty()) labels.push_back(std::move(label));
    if (text.starts_with(',')) text.remove_prefix(1);
  }
  if (text.empty()) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

double stale_marker() { return std::bit_cast<double>(std::uint64_t{0x7ff0000000000002}); }

bool parse_series(std::string_view line, SeriesLine &to) {
  to.labels.clear();
  if (line.empty() || line.front() == '#') return false;
  const auto name_end = line.find_first_of("{ ");
  if (name_end == 0 || name_end == std::string_view::npos) return false;
  to.labels.emplace_back(kName, line.substr(0, name_end));
  auto rest = line.substr(name_end);
  if (rest.front() == '{') {
    rest.remove_prefix(1);
    if (!take_labels(rest, to.labels)) return false;
  }
  if (!rest.starts_with(' ')) return false;
  to.key = line.substr(0, line.size() - rest.size());
  rest.remove_prefix(1);
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), to.value);
  return error == std::errc() && end == rest.data() + rest.size();
}

EncodedLabels SeriesTable::labels_of(const SeriesLine &line) {
  auto labels = line.labels;
  for (const auto &label : more_) {
    if (std::ranges::find(labels, label.first, &Label::first) == labels.end()) labels.push_back(label);
  }
  std::ranges::sort(labels);
  const auto repeated = std::ranges::unique(labels, {}, &Label::first);
  labels.erase(repeated.begin(), repeated.end());
  return std::make_shared<const std::string>(encode_labels(labels));
}

std::vector<Sample> SeriesTable::take(std::string_view text) {
  ++turn_;
  std::vector<Sample> samples;
  samples.reserve(known_.size());
  SeriesLine line;
  for (const auto part : std::views::split(text, '\n')) {
    if (!parse_series(std::string_view(part.begin(), part.end()), line)) continue;
    auto &known = known_[std::string(line.key)];
    if (known.turn == turn_) continue;  // the same series twice is none that an engine takes
    if (known.labels == nullptr) known.labels = labels_of(line);
    known.turn = turn_;
    samples.push_back({known.labels, line.value});
  }
  for (auto each = known_.begin(); each != known_.end();) {
    if (each->second.turn == turn_) {
      ++each;
      continue;
    }
    samples.push_back({each->second.labels, stale_marker()});
    each = known_.erase(each);
  }
  return samples;
}

std::vector<Sample> SeriesTable::end_all() { return take({}); }

}  // namespace gpulse::fleet
