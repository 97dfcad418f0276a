// SPDX-License-Identifier: Apache-2.0
#include "fleet/write_request.hpp"

#include <snappy.h>

#include <protozero/pbf_writer.hpp>
#include <unordered_map>

namespace gpulse::fleet {

namespace {

// Numbers of the message's fields.
constexpr protozero::pbf_tag_type kTimeSeries = 1, kLabel = 1, kSamples = 2, kLabelName = 1, kLabelValue = 2,
                                  kSampleValue = 1, kSampleTime = 2;

void add_sample(std::string &series, double value, std::int64_t time_ms) {
  protozero::pbf_writer writer(series);
  protozero::pbf_writer sample(writer, kSamples);
  sample.add_double(kSampleValue, value);
  sample.add_int64(kSampleTime, time_ms);
}

}  // namespace

std::string encode_labels(std::span<const Label> labels) {
  std::string out;
  protozero::pbf_writer writer(out);
  for (const auto &[name, value] : labels) {
    protozero::pbf_writer label(writer, kLabel);
    label.add_string(kLabelName, name);
    label.add_string(kLabelValue, value);
  }
  return out;
}

std::string encode_write_request(std::span<const Step> steps) {
  std::vector<std::string> all;
  std::unordered_map<const std::string *, std::size_t> places;
  for (const auto &step : steps) {
    for (const auto &sample : step.samples) {
      const auto [place, is_new] = places.try_emplace(sample.labels.get(), all.size());
      if (is_new) all.push_back(*sample.labels);
      add_sample(all[place->second], sample.value, step.time_ms);
    }
  }
  std::string message, packed;
  protozero::pbf_writer writer(message);
  for (const auto &series : all) writer.add_message(kTimeSeries, series);
  snappy::Compress(message.data(), message.size(), &packed);
  return packed;
}

}  // namespace gpulse::fleet
