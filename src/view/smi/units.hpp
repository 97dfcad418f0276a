// SPDX-License-Identifier: Apache-2.0
// nvidia-smi -q -u: the boxes of GPUs outside of the machine that there were until 2012. No driver of today has any.
#pragma once

#include <string>

#include "view/smi/cell.hpp"

namespace gpulse::view::smi {

std::string unit_log(const Selection &selection, bool xml);

}  // namespace gpulse::view::smi
