// SPDX-License-Identifier: Apache-2.0
// What a user types to find processes: `user:ann gpu:0,2-3 type:c !job:42 cpu>50 mem>=1G train.*\.py`. All terms must
// hold; a term without a field is a regular expression over command, name, user, job and PID. Pure.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/snapshot.hpp"

namespace gpulse::tui {

class Query {
 public:
  Query();
  Query(const Query &);
  Query &operator=(const Query &);
  Query(Query &&) noexcept;
  Query &operator=(Query &&) noexcept;
  ~Query();

  // A regular expression ignores case unless it contains a capital letter.
  static Result<Query> parse(std::string_view text);

  bool empty() const { return text_.empty(); }
  const std::string &text() const { return text_; }
  bool matches(const Process &process) const;

 private:
  struct Term;
  std::string text_;
  std::shared_ptr<const std::vector<Term>> terms_;
};

}  // namespace gpulse::tui
