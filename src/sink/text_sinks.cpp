// SPDX-License-Identifier: Apache-2.0
#include "sink/text_sinks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sink/rotation.hpp"
#include "view/json.hpp"
#include "view/log_fields.hpp"

namespace gpulse::sink {

namespace {

using Columns = std::vector<view::CsvColumn>;

// What every line of JSON begins with.
constexpr std::string_view kJsonHead = R"({"schema":"gpulse/1")";

// What is common to the formats: a file of lines, the devices, the step that goes on.
class TextSink : public Sink {
 public:
  TextSink(const SinkOptions &options, OutputFile file)
      : filter_(options.devices), name_(file.name()), file_(std::move(file)) {
    if (options.rotation.wanted()) rotation_.emplace(options.rotation, *file_);
  }

  Result<void> write(const Snapshot &snapshot, std::optional<std::int64_t> step) final {
    if (!file_ || !is_own_process()) return failure("the log is closed");
    if (step) step_ = step;
    lines_.clear();
    const auto part = filter_.part_of(snapshot);
    append(lines_, part ? *part : snapshot, step_);
    const auto time = has_time(snapshot) ? snapshot.time : wall_now();
    if (rotation_ && rotation_->is_due(*file_, lines_.size(), time)) {
      if (auto begun = rotation_->begin_file(*file_, time); !begun) return begun;
      on_new_file();
      lines_.clear();
      append(lines_, part ? *part : snapshot, step_);
    }
    const auto written = file_->write(lines_);
    if (written) on_written();
    return written;
  }
  Result<void> flush() final { return {}; }
  Result<void> close() final {
    if (file_) size_ = file_->size();
    file_.reset();
    if (rotation_ && is_own_process()) rotation_->close();
    return {};
  }
  std::optional<Error> take_complaint() final { return rotation_ ? rotation_->take_complaint() : std::nullopt; }
  std::string place() const final { return name_; }
  std::uint64_t size() const final { return file_ ? file_->size() : size_; }

 protected:
  virtual void append(std::string &lines, const Snapshot &snapshot, std::optional<std::int64_t> step) = 0;
  virtual void on_written() {}
  virtual void on_new_file() {}

 private:
  DeviceFilter filter_;
  std::string name_;
  std::optional<OutputFile> file_;  // none: closed
  std::optional<Rotation> rotation_;
  std::optional<std::int64_t> step_;
  std::string lines_;
  std::uint64_t size_ = 0;
};

Columns with_step(Columns columns) {
  const view::CsvColumn step = view::CsvIdentity::step;
  if (std::ranges::find(columns, step) == columns.end()) columns.insert(columns.begin(), step);
  return columns;
}

// Without and with a step.
std::vector<std::string> csv_heads(const Columns &columns) {
  std::vector<std::string> heads(2);
  view::write_csv_header(columns, heads[0]);
  view::write_csv_header(with_step(columns), heads[1]);
  return heads;
}

class CsvSink final : public TextSink {
 public:
  CsvSink(const SinkOptions &options, const Columns &columns, OutputFile file)
      : TextSink(options, std::move(file)), columns_(columns), steps_(options.steps) {}

  // The file that is gone on with has these titles.
  void go_on(bool steps) {
    if (steps) columns_ = with_step(std::move(columns_));
    titled_ = decided_ = true;
  }

 private:
  void append(std::string &lines, const Snapshot &snapshot, std::optional<std::int64_t> step) override {
    // The first sample decides.
    if (!decided_ && (steps_ || step)) columns_ = with_step(std::move(columns_));
    if (!titled_) view::write_csv_header(columns_, lines);
    view::write_csv(snapshot, columns_, lines, step);
  }
  void on_written() override { titled_ = decided_ = true; }
  void on_new_file() override { titled_ = false; }

  Columns columns_;
  bool steps_;
  bool decided_ = false;  // whether there is a column for the step
  bool titled_ = false;   // the file has its titles
};

class JsonSink final : public TextSink {
 public:
  JsonSink(const SinkOptions &options, std::optional<MetricSet> fields, OutputFile file)
      : TextSink(options, std::move(file)), fields_(fields) {}

 private:
  void append(std::string &lines, const Snapshot &snapshot, std::optional<std::int64_t> step) override {
    view::write_json(snapshot, lines, {.only = fields_ ? &*fields_ : nullptr, .memory = &memory_, .step = step});
    lines += '\n';
  }

  std::optional<MetricSet> fields_;
  view::JsonMemory memory_;
};

Result<std::vector<std::string>> heads_of(const SinkOptions &options) {
  if (options.format == Format::jsonl) return std::vector{std::string(kJsonHead)};
  const auto columns = log_columns(options.fields);
  if (!columns) return std::unexpected(columns.error());
  return csv_heads(*columns);
}

Result<OutputFile> open_file(const SinkOptions &options, const std::stop_token &stop) {
  const auto heads = heads_of(options);
  if (!heads) return std::unexpected(heads.error());
  auto file = OutputFile::open({.path = options.path, .existing = options.existing, .heads = *heads}, stop);
  if (file && options.rotation.wanted() && !file->is_regular()) {
    return failure(fmt::format("cannot rotate {}", options.path), "it is not a file");
  }
  return file;
}

}  // namespace

Result<Columns> log_columns(std::span<const std::string> fields) {
  if (!fields.empty()) return view::csv_columns(fields);
  using view::CsvIdentity;
  Columns columns{CsvIdentity::time, CsvIdentity::id, CsvIdentity::uuid, CsvIdentity::name};
  const auto metrics = view::log_fields();
  for (const auto scope : {Scope::device, Scope::host}) {
    metrics.for_each(scope, [&](MetricId id) { columns.emplace_back(id); });
  }
  return columns;
}

Result<void> check_text_target(const SinkOptions &options) {
  const auto heads = heads_of(options);
  if (!heads) return std::unexpected(heads.error());
  return OutputFile::check({.path = options.path, .existing = options.existing, .heads = *heads});
}

Result<std::unique_ptr<Sink>> open_csv(const SinkOptions &options, const std::stop_token &stop) {
  const auto columns = log_columns(options.fields);
  if (!columns) return std::unexpected(columns.error());
  auto file = open_file(options, stop);
  if (!file) return std::unexpected(file.error());
  const auto head = file->head();
  auto made = std::make_unique<CsvSink>(options, *columns, std::move(*file));
  if (head) made->go_on(*head == 1);
  return made;
}

Result<std::unique_ptr<Sink>> open_jsonl(const SinkOptions &options, const std::stop_token &stop) {
  const auto fields = view::json_fields(options.fields);
  if (!fields) return std::unexpected(fields.error());
  auto file = open_file(options, stop);
  if (!file) return std::unexpected(file.error());
  return std::make_unique<JsonSink>(options, options.fields.empty() ? std::nullopt : std::optional(*fields),
                                    std::move(*file));
}

}  // namespace gpulse::sink
