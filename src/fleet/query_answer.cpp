// SPDX-License-Identifier: Apache-2.0
#include "fleet/query_answer.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/json_reader.hpp"

namespace gpulse::fleet {

namespace {

using Kind = JsonReader::Kind;

constexpr std::size_t kMostWords = 8192;  // bytes of what the engine says to people

// Engines write values as texts, because JSON has no NaN.
std::optional<double> parse_value(std::string_view text) {
  if (const auto value = parse_double(text)) return value;
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "+Inf" || text == "Inf") return std::numeric_limits<double>::infinity();
  if (text == "-Inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

Text short_text(const std::string &text) {
  return std::string(first_bytes(printable(std::string_view(text).substr(0, 4 * kMostWords)), kMostWords));
}

class AnswerReader {
 public:
  AnswerReader(std::string_view text, const AnswerLimits &limits) : json_(text), limits_(limits) {}

  QueryAnswer read() {
    std::string name;
    if (json_.kind() != Kind::object) return {};
    for (json_.begin_object(); json_.member(name);) {
      if (name == "status") {
        status_ = json_.text().value_or("");
      } else if (name == "errorType") {
        answer_.error_type = short_text(json_.text().value_or(""));
      } else if (name == "error") {
        answer_.error = short_text(json_.text().value_or(""));
      } else if (name == "warnings") {
        read_warnings();
      } else if (name == "isPartial") {
        read_partial();
      } else if (name == "data") {
        read_data();
      } else {
        json_.skip();
      }
    }
    return finish();
  }

 private:
  QueryAnswer finish() {
    using Status = QueryAnswer::Status;
    if (is_too_much_) return {.status = Status::too_much};
    if (!json_.is_whole()) return {};
    if (status_ == "error") answer_.status = Status::error;
    if (status_ == "success" && has_data_) answer_.status = Status::success;
    return std::move(answer_);
  }

  void give_up() {
    is_too_much_ = true;
    json_.fail();
  }
  bool count_series() {
    if (++series_ > limits_.series) give_up();
    return !is_too_much_;
  }
  bool count_value() {
    if (++values_ > limits_.values) give_up();
    return !is_too_much_;
  }

  void read_warnings() {
    if (json_.kind() != Kind::array) return json_.skip();
    for (json_.begin_array(); json_.element();) {
      if (json_.kind() != Kind::text) {
        json_.skip();
        continue;
      }
      const auto text = json_.text();
      if (text && answer_.warning.empty()) answer_.warning = short_text(*text);
    }
  }

  // VictoriaMetrics says so where a part of a cluster did not answer.
  void read_partial() {
    if (json_.kind() != Kind::boolean) return json_.skip();
    if (json_.boolean().value_or(false) && answer_.warning.empty()) answer_.warning = "the answer is partial";
  }

  void read_data() {
    has_data_ = true;
    if (json_.kind() == Kind::array) return read_list();
    if (json_.kind() != Kind::object) return json_.skip();
    std::string name;
    for (json_.begin_object(); json_.member(name);) {
      name == "result" && json_.kind() == Kind::array ? read_list() : json_.skip();
    }
  }

  // Series with values, label sets without, or words.
  void read_list() {
    for (json_.begin_array(); json_.element();) {
      switch (json_.kind()) {
        case Kind::object:
          if (count_series()) read_series();
          break;
        case Kind::text:
          if (auto word = json_.text(); word && count_value()) answer_.words.push_back(std::move(*word));
          break;
        default:
          json_.skip();  // a scalar
      }
    }
  }

  void read_series() {
    EngineSeries series;
    std::string name;
    for (json_.begin_object(); json_.member(name);) {
      if (name == "metric" && json_.kind() == Kind::object) {
        read_labels(series);
      } else if (name == "value" && json_.kind() == Kind::array) {
        read_point(series);
      } else if (name == "values" && json_.kind() == Kind::array) {
        for (json_.begin_array(); json_.element();) read_point(series);
      } else if (json_.kind() == Kind::text) {
        add_label(series, name);
      } else {
        json_.skip();
      }
    }
    answer_.series.push_back(std::move(series));
  }

  void read_labels(EngineSeries &series) {
    std::string name;
    for (json_.begin_object(); json_.member(name);) {
      json_.kind() == Kind::text ? add_label(series, name) : json_.skip();
    }
  }

  void add_label(EngineSeries &series, const std::string &name) {
    auto value = json_.text();
    if (value && count_value()) series.labels.emplace_back(name, std::move(*value));
  }

  // [1700000000.5,"12"]
  void read_point(EngineSeries &series) {
    if (json_.kind() != Kind::array) return json_.skip();
    std::optional<double> time, value;
    std::size_t place = 0;
    for (json_.begin_array(); json_.element(); ++place) {
      if (place == 0 && json_.kind() == Kind::number) {
        time = json_.number();
      } else if (place == 1 && json_.kind() == Kind::text) {
        value = parse_value(json_.text().value_or(""));
      } else {
        json_.skip();
      }
    }
    if (time && value && count_value()) series.points.push_back({*time, *value});
  }

  JsonReader json_;
  const AnswerLimits &limits_;
  QueryAnswer answer_{};
  std::string status_{};
  std::size_t series_ = 0, values_ = 0;
  bool has_data_ = false, is_too_much_ = false;
};

}  // namespace

std::string_view EngineSeries::label(std::string_view name) const {
  const auto found = std::ranges::find(labels, name, [](const Label &label) { return std::string_view(label.first); });
  return found == labels.end() ? std::string_view() : std::string_view(found->second);
}

QueryAnswer parse_query_answer(std::string_view json, const AnswerLimits &limits) {
  return AnswerReader(json, limits).read();
}

}  // namespace gpulse::fleet
