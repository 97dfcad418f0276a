// SPDX-License-Identifier: Apache-2.0
#include "sink/sink.hpp"

#include <fmt/format.h>

#include "capi/handles.hpp"

using namespace gpulse;

namespace {

std::vector<std::string> pieces(const char *text) {
  std::vector<std::string> all;
  if (text == nullptr || *text == '\0') return all;
  for (const auto piece : split(text, ',')) all.emplace_back(trim(piece));
  return all;
}

}  // namespace

gpulse_status gpulse_add_sink(gpulse_monitor *monitor, const gpulse_sink_options *given) {
  return capi::guarded([&] {
    if (monitor == nullptr || given == nullptr) return capi::fail(GPULSE_INVALID, "no monitor, or no options");
    if (monitor->monitor.is_forked()) return capi::forked();
    const auto taken = capi::take_in(given, gpulse_sink_options{.size = 0,
                                                                .format = nullptr,
                                                                .path = nullptr,
                                                                .fields = nullptr,
                                                                .uuids = nullptr,
                                                                .run = nullptr,
                                                                .existing = GPULSE_REFUSE,
                                                                .steps = 0});
    if (!taken) return capi::fail(GPULSE_INVALID, taken.error().line());
    const auto &options = *taken;
    if (options.format == nullptr || options.path == nullptr)
      return capi::fail(GPULSE_INVALID, "no format, or no path");
    const auto format = sink::parse_format(options.format);
    if (!format) return capi::fail(GPULSE_INVALID, fmt::format("no format \"{}\"", Text(options.format)));
    if (options.existing < GPULSE_REFUSE || options.existing > GPULSE_OVERWRITE)
      return capi::fail(GPULSE_INVALID, "a file that is there is refused, appended to or overwritten");
    sink::SinkOptions wanted;
    wanted.format = *format;
    wanted.path = options.path;
    wanted.fields = pieces(options.fields);
    wanted.devices = pieces(options.uuids);
    if (options.run != nullptr) wanted.run = options.run;
    wanted.existing = static_cast<sink::Existing>(options.existing);
    wanted.steps = options.steps != 0;
    if (const auto good = sink::needs_of(wanted); !good) return capi::fail(GPULSE_INVALID, good.error().line());
    auto opened = sink::open(wanted);
    if (!opened) return capi::fail(opened.error());
    monitor->monitor.sinks().add(std::move(*opened), *format == sink::Format::tensorboard && !wanted.steps);
    return GPULSE_OK;
  });
}

const char *gpulse_sink_error(const gpulse_monitor *monitor) {
  if (monitor == nullptr || monitor->monitor.is_forked()) return "";
  thread_local std::string told;
  capi::guarded([&] {
    told = monitor->monitor.sinks().problem();
    return GPULSE_OK;
  });
  return told.c_str();
}
