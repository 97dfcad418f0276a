// SPDX-License-Identifier: Apache-2.0
// What a remote write says, read by a protobuf reader of its own: for tests.
#pragma once

#include <snappy.h>

#include <map>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <utility>
#include <vector>

namespace gpulse::fleet {

struct Written {
  std::map<std::string, std::string> labels;
  std::vector<std::string> order{};  // of the labels' names
  std::vector<std::pair<std::int64_t, double>> samples{};
};

inline Written decode_series(protozero::pbf_reader in) {
  Written series;
  while (in.next()) {
    const bool is_label = in.tag() == 1;  // gone with the message
    auto part = in.get_message();
    if (is_label) {
      std::string name, value;
      while (part.next()) {
        auto &text = part.tag() == 1 ? name : value;
        text = part.get_string();
      }
      series.order.push_back(name);
      series.labels[name] = value;
    } else {
      std::pair<std::int64_t, double> sample{0, 0};
      while (part.next()) {
        if (part.tag() == 1) {
          sample.second = part.get_double();
        } else {
          sample.first = part.get_int64();
        }
      }
      series.samples.push_back(sample);
    }
  }
  return series;
}

inline std::vector<Written> decode_write_request(const std::string &body) {
  std::string message;
  std::vector<Written> all;
  if (!snappy::Uncompress(body.data(), body.size(), &message)) return all;
  protozero::pbf_reader in(message);
  while (in.next(1)) all.push_back(decode_series(in.get_message()));
  return all;
}

}  // namespace gpulse::fleet
