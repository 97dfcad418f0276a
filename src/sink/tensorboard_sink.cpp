// SPDX-License-Identifier: Apache-2.0
#include "sink/tensorboard_sink.hpp"

namespace gpulse::sink {

namespace {

// A program that counts each epoch from 0 must not fill the disk with folders.
constexpr int kMostRestarts = 100;

}  // namespace

Result<std::unique_ptr<Sink>> TensorboardSink::open(const SinkOptions &options) {
  const auto metrics = view::tensorboard_fields(options.fields);
  if (!metrics) return std::unexpected(metrics.error());
  auto file = EventFile::create(options.path, options.run);
  if (!file) return std::unexpected(file.error());
  return std::make_unique<TensorboardSink>(options, *metrics, std::move(*file));
}

TensorboardSink::TensorboardSink(const SinkOptions &options, const MetricSet &metrics, EventFile file)
    : options_(options),
      curves_(metrics, DeviceFilter(options.devices)),
      file_(std::move(file)),
      folder_(file_->folder()) {}

TensorboardSink::~TensorboardSink() { (void)TensorboardSink::close(); }

Result<void> TensorboardSink::write(const Snapshot &snapshot, std::optional<std::int64_t> step) {
  if (!file_ || !is_own_process()) return failure("the log is closed");
  if (!step && !step_) {
    if (options_.steps) return {};
    curves_.add(snapshot);
    time_ = snapshot.time;
    return put(number_++);
  }
  Result<void> moved;
  if (step && step != step_) moved = move_to(*step);
  if (!step_) return moved;
  curves_.add(snapshot);
  time_ = snapshot.time;
  return moved;
}

// Leaves the step as it was where no other can begin.
Result<void> TensorboardSink::move_to(std::int64_t step) {
  const bool goes_back = step_ ? step < *step_ : number_ > 0;
  if (!goes_back) {
    const auto done = step_ ? put(*step_) : Result<void>{};
    step_ = step;
    return done;
  }
  if (restarts_ == kMostRestarts) return {};
  auto next = EventFile::create(options_.path, options_.run);
  if (!next) return std::unexpected(next.error());
  const auto done = step_ ? put(*step_) : Result<void>{};
  earlier_size_ += file_->size();
  file_ = std::move(*next);
  folder_ = file_->folder();
  curves_.introduce_again();
  ++restarts_;
  step_ = step;
  return done;
}

Result<void> TensorboardSink::put(std::int64_t step) {
  const auto points = curves_.points();
  Result<void> written;
  if (!points.empty()) {
    std::string event;
    view::append_tensorboard_event(event, time_, step, points);
    written = file_->append(event);
  }
  curves_.clear(written.has_value());
  return written;
}

Result<void> TensorboardSink::close() {
  if (!file_) return {};
  const auto written = step_ && is_own_process() ? put(*step_) : Result<void>{};
  earlier_size_ += file_->size();
  file_.reset();
  return written;
}

}  // namespace gpulse::sink
