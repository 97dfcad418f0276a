// SPDX-License-Identifier: Apache-2.0
// Alerts as they come and go: a rule has to hold for a while before it is one, and not to hold for a while before it is
// over. What can be told no more stays as it was. Pure but for the ids of new alerts; one thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "alert/alert.hpp"
#include "alert/judge.hpp"

namespace gpulse::alert {

// What outlasts the agent.
struct Memory {
  std::vector<Alert> alerts{};
  Growths growths{};  // those of metrics that count
};

struct EvaluatorOptions {
  std::vector<insight::AlertRule> rules{};
  std::vector<Silence> silences{};
  std::chrono::nanoseconds keep = std::chrono::minutes(1);  // of rules that do not say
  std::string host{};
};

class Evaluator {
 public:
  explicit Evaluator(EvaluatorOptions options, Memory memory = {});

  // The alerts that receivers are to be told of: those that have begun, and those that are over.
  std::vector<Alert> look(const Sight &sight);
  // From now on; alerts whose rule is gone are over with the next look.
  void configure(EvaluatorOptions options);
  void set_silences(std::vector<Silence> silences) { options_.silences = std::move(silences); }
  // The clock was set: all times move with it.
  void shift(std::chrono::nanoseconds by);

  const Memory &memory() const { return memory_; }
  // Whether it has changed since this was asked last, in what need not be kept at once.
  bool take_changed() { return std::exchange(has_changed_, false); }

 private:
  void look_at(const insight::AlertRule &rule, const Sight &sight);
  void apply(const insight::AlertRule &rule, const Verdict &verdict, const Sight &sight);
  void apply_missing(const insight::AlertRule &rule, const Sight &sight);
  void begin(Alert &alert, const Verdict &verdict, const Sight &sight);
  void fire(Alert &alert, const insight::AlertRule &rule, WallTime now);
  void end(Alert &alert, WallTime now, Text why = {});
  void forget(WallTime now);
  void tell(WallTime now, std::vector<Alert> &changes);
  void name(Alert &alert, const Sight &sight) const;
  void fill_in(Alert &alert, const insight::AlertRule &rule) const;
  bool is_covered(const Alert &alert, const insight::AlertRule &rule) const;
  bool is_silent(const Alert &alert, WallTime now) const;
  std::chrono::nanoseconds keep_of(const Alert &alert, const insight::AlertRule &rule) const;

  EvaluatorOptions options_;
  Memory memory_;
  std::vector<Alert> ended_;  // with this look
  bool has_changed_ = false;
};

}  // namespace gpulse::alert
