// SPDX-License-Identifier: Apache-2.0
// What has to be read so that the rules can tell as much as they are able to; without some of it they still say what
// they can. For whoever takes samples of nothing but what is asked for. Pure; any thread.
#pragma once

#include "metric/set.hpp"

namespace gpulse::insight {

MetricSet needs_of_findings();

}  // namespace gpulse::insight
