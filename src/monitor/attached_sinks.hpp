// SPDX-License-Identifier: Apache-2.0
// The sinks that a monitor writes every sample to. Any thread adds one and asks for what went wrong; the monitor's
// thread writes and closes.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "monitor/sample.hpp"
#include "sink/sink.hpp"

namespace gpulse::monitor {

class AttachedSinks {
 public:
  // `steps_may_come`: the first samples are held back for a while, because a step axis cannot begin without steps.
  void add(std::unique_ptr<sink::Sink> sink, bool steps_may_come);
  void write(const SamplePtr &sample);
  void close();
  // What last went wrong; empty: nothing. One sink that fails does not keep the others from being written.
  std::string problem() const;

 private:
  struct Attached {
    std::unique_ptr<sink::Sink> sink;
    bool undecided = false;  // whether there will be steps
    std::vector<SamplePtr> held{};
  };
  void write(Attached &attached, const SamplePtr &sample);
  void with_each(const std::function<void(Attached &)> &work);
  void write_held(Attached &attached);
  void take_new();
  void note(const Result<void> &written);

  std::vector<Attached> sinks_;  // of the thread that writes
  mutable std::mutex mutex_;     // of what follows
  std::vector<Attached> new_;
  std::string problem_;
};

}  // namespace gpulse::monitor
