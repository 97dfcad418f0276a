// SPDX-License-Identifier: Apache-2.0
// Findings as a person or a program reads them. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/json_writer.hpp"
#include "insight/diagnose.hpp"
#include "term/style.hpp"

namespace gpulse::view {

struct DiagnosisPart {
  std::optional<std::string> phase{};  // the label of the stretch
  WallTime origin{};                   // from here on seconds count
  insight::Diagnosis diagnosis{};
};

// What stands in the object of a finding, and the object; `origin` as in a part. `clock`: also with the time of day
// since when.
void write_finding_members(JsonWriter &json, const insight::Finding &finding, WallTime origin, bool clock = false);
void write_finding_json(JsonWriter &json, const insight::Finding &finding, WallTime origin, bool clock = false);
void write_diagnosis_json(JsonWriter &json, const DiagnosisPart &part);

// "GPU 0, 2  starved by preprocessing on the CPU  input-cpu", the sentence, what it costs, evidence, advice.
std::string render_finding(const insight::Finding &finding, const term::Style &style);
// Of several parts each has a heading; what is well takes a line.
std::string render_diagnosis(const DiagnosisPart &part, const term::Style &style);

// "94 % of GPU time: at best 16 times as fast; 22.6 GPU-hours and 3.1 kWh a day"; empty: it costs none.
std::string cost_words(const insight::Finding &finding);
// A fact as people read it: "sm_active 0.03 %".
std::string fact_words(const insight::Fact &fact);

}  // namespace gpulse::view
