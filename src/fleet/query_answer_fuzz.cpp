// SPDX-License-Identifier: Apache-2.0
// Whatever an engine answers: nothing breaks, no more comes out than was allowed, and its words are clean.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json_reader.hpp"
#include "fleet/query_answer.hpp"

namespace {

using namespace gpulse;

void must(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  constexpr fleet::AnswerLimits kLimits{.series = 16, .values = 64};
  const auto answer = fleet::parse_query_answer(text, kLimits);
  must(answer.series.size() <= kLimits.series && answer.words.size() <= kLimits.values);
  std::size_t values = answer.words.size();
  for (const auto &series : answer.series) values += series.labels.size() + series.points.size();
  must(values <= kLimits.values);
  for (const auto &said : {answer.error_type, answer.error, answer.warning}) must(said.str() == printable(said.str()));

  // Reading all of it finds no fault where passing over it found none.
  JsonReader json(text);
  json.skip();
  if (answer.status == fleet::QueryAnswer::Status::success) must(json.is_whole());
  must(json.is_whole() || answer.status != fleet::QueryAnswer::Status::error);
  return 0;
}
