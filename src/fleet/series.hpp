// SPDX-License-Identifier: Apache-2.0
// Samples as an engine takes them, from the text that a scraper gets: so the names and labels of both are the same. One
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gpulse::fleet {

using Label = std::pair<std::string, std::string>;

// Labels as they go onto the wire, shared by all samples of a series.
using EncodedLabels = std::shared_ptr<const std::string>;

struct Sample {
  EncodedLabels labels;
  double value = 0;
};

// All samples of one moment.
struct Step {
  std::int64_t time_ms = 0;
  std::vector<Sample> samples;
};

// What an engine takes for the end of a series.
double stale_marker();

// "name{label="value",…} 12.5" taken apart.
struct SeriesLine {
  std::string_view key;  // name and labels, as they stand there
  std::vector<Label> labels;
  double value = 0;
};
// False: it is no series, such as a comment.
bool parse_series(std::string_view line, SeriesLine &to);

// Makes samples of texts, one after the other.
class SeriesTable {
 public:
  // `more`: labels of every series, unless it has one of that name itself.
  explicit SeriesTable(std::vector<Label> more) : more_(std::move(more)) {}

  // The samples of a text, and an end for each series that the text before had and this one lacks.
  std::vector<Sample> take(std::string_view text);
  // The end of all series.
  std::vector<Sample> end_all();

 private:
  struct Known {
    EncodedLabels labels;
    std::uint64_t turn = 0;  // that it was last in
  };
  EncodedLabels labels_of(const SeriesLine &line);

  std::vector<Label> more_;
  std::unordered_map<std::string, Known> known_;
  std::uint64_t turn_ = 0;
};

}  // namespace gpulse::fleet
