// SPDX-License-Identifier: Apache-2.0
#include "sink/prometheus_sink.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.hpp"
#include "sink/device_filter.hpp"
#include "sink/replaced_file.hpp"
#include "view/prometheus.hpp"

namespace gpulse::sink {

namespace {

bool is_standard_output(const SinkOptions &options) { return options.path == "-"; }

ReplacedFile::Target target_of(const SinkOptions &options) {
  return {.path = options.path, .existing = options.existing, .head = view::kPrometheusHead};
}

class PrometheusSink final : public Sink {
 public:
  // Without a file: to the standard output.
  PrometheusSink(const SinkOptions &options, const MetricSet &metrics, std::optional<ReplacedFile> file)
      : filter_(options.devices), keep_(options.keep_newest), view_(metrics), file_(std::move(file)) {}
  PrometheusSink(const PrometheusSink &) = delete;
  PrometheusSink &operator=(const PrometheusSink &) = delete;
  ~PrometheusSink() override { (void)PrometheusSink::close(); }

  Result<void> write(const Snapshot &snapshot, std::optional<std::int64_t> /*step*/) override {
    if (closed_ || !is_own_process()) return failure("the log is closed");
    text_.clear();
    const auto part = filter_.part_of(snapshot);
    view_.write(part ? *part : snapshot, text_);
    if (file_) return file_->write(text_);
    if (!write_without_signal(STDOUT_FILENO, text_)) {
      return failure("cannot write the standard output", std::strerror(errno));
    }
    return {};
  }
  Result<void> flush() override { return {}; }
  Result<void> close() override {
    // Nothing says that a value is old, so that the last ones would be taken for those of now, for ever.
    if (!closed_ && file_ && !keep_ && is_own_process()) file_->remove();
    closed_ = true;
    return {};
  }
  std::string place() const override { return file_ ? file_->path() : "the standard output"; }
  std::uint64_t size() const override { return text_.size(); }

 private:
  DeviceFilter filter_;
  bool keep_;
  view::PrometheusView view_;
  std::optional<ReplacedFile> file_;
  std::string text_;
  bool closed_ = false;
};

}  // namespace

Result<void> check_prometheus_target(const SinkOptions &options) {
  return is_standard_output(options) ? Result<void>{} : ReplacedFile::check(target_of(options));
}

Result<std::unique_ptr<Sink>> open_prometheus(const SinkOptions &options) {
  const auto metrics = view::prometheus_fields(options.fields);
  if (!metrics) return std::unexpected(metrics.error());
  std::optional<ReplacedFile> file;
  if (!is_standard_output(options)) {
    auto opened = ReplacedFile::open(target_of(options));
    if (!opened) return std::unexpected(opened.error());
    file = std::move(*opened);
  }
  return std::make_unique<PrometheusSink>(options, *metrics, std::move(file));
}

}  // namespace gpulse::sink
