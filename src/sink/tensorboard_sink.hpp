// SPDX-License-Identifier: Apache-2.0
// Samples as TensorBoard scalars. sink.hpp says what steps mean.
#pragma once

#include "sink/curves.hpp"
#include "sink/event_file.hpp"
#include "sink/sink.hpp"

namespace gpulse::sink {

class TensorboardSink final : public Sink {
 public:
  static Result<std::unique_ptr<Sink>> open(const SinkOptions &options);
  TensorboardSink(const SinkOptions &options, const MetricSet &metrics, EventFile file);
  TensorboardSink(const TensorboardSink &) = delete;
  TensorboardSink &operator=(const TensorboardSink &) = delete;
  ~TensorboardSink() override;

  Result<void> write(const Snapshot &snapshot, std::optional<std::int64_t> step) override;
  Result<void> flush() override { return {}; }
  Result<void> close() override;
  std::string place() const override { return folder_; }
  std::uint64_t size() const override { return earlier_size_ + (file_ ? file_->size() : 0); }

 private:
  Result<void> move_to(std::int64_t step);
  Result<void> put(std::int64_t step);

  const SinkOptions options_;
  Curves curves_;
  std::optional<EventFile> file_;  // none: closed
  std::string folder_;
  std::uint64_t earlier_size_ = 0;      // of the runs before this one
  std::optional<std::int64_t> step_{};  // that is going on; none: samples go by their number
  std::int64_t number_ = 0;             // of the next sample
  int restarts_ = 0;
  WallTime time_{};  // of the last sample
};

}  // namespace gpulse::sink
