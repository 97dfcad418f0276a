// SPDX-License-Identifier: Apache-2.0
// Recording rules of Prometheus and vmalert: a fleet summed up once a minute, so that boards and long times need not
// read each GPU. Pure.
#pragma once

#include <string>

namespace gpulse::view {

// YAML, for `rule_files`.
std::string recording_rules();

}  // namespace gpulse::view
