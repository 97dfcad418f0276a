// SPDX-License-Identifier: Apache-2.0
// An operation that can fail returns Result<T>; the Error is one sentence and, where there is one, what to do about it.
#pragma once

#include <expected>
#include <string>
#include <utility>

#include "base/text.hpp"

namespace gpulse {

struct [[nodiscard]] Error {
  Text what;
  Text remedy = {};

  // "what went wrong: what to do", the form every message of ours has.
  std::string line() const { return remedy.empty() ? what.str() : what + ": " + remedy; }
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> failure(Text what, Text remedy = {}) {
  return std::unexpected(Error{std::move(what), std::move(remedy)});
}

}  // namespace gpulse
