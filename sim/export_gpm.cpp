// SPDX-License-Identifier: Apache-2.0
// GPM: a sample is a moment; a metric is the mean of its value between two of them.
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "export.hpp"

using namespace gpulse::sim;
using gpulse::nvml::GpmMetric;
using gpulse::nvml::GpmMetricsGet;
using gpulse::nvml::GpmSample;
using gpulse::nvml::GpmSupport;
using gpulse::nvml::kNoInstance;

namespace gpulse::nvml {

// Belongs to the caller's thread, as in the real library.
struct GpmSampleOpaque {
  Handle device = nullptr;
  std::uint32_t gpu_instance = kNoInstance;
  double time_s = 0;
};

}  // namespace gpulse::nvml

namespace {

struct MetricName {
  std::uint32_t id;
  std::array<char, 12> short_name, unit;
  std::array<char, 40> long_name;
};

// Not const: the library gives its callers writable pointers to these.
constinit std::array<MetricName, 17> g_names{{{1, {"gract"}, {"%"}, {"Graphics Engine Active"}},
                                              {2, {"smutil"}, {"%"}, {"SM Activity"}},
                                              {3, {"smocc"}, {"%"}, {"SM Occupancy"}},
                                              {4, {"intutil"}, {"%"}, {"Integer Activity"}},
                                              {5, {"mmaact"}, {"%"}, {"Tensor Activity"}},
                                              {6, {"dfmat"}, {"%"}, {"DFMA Tensor Activity"}},
                                              {7, {"hmmat"}, {"%"}, {"HMMA Tensor Activity"}},
                                              {8, {"-"}, {"%"}, {"DMMA Tensor Activity"}},
                                              {9, {"immat"}, {"%"}, {"IMMA Tensor Activity"}},
                                              {10, {"dram"}, {"%"}, {"DRAM Bandwidth Utilization"}},
                                              {11, {"fp64"}, {"%"}, {"FP64 Activity"}},
                                              {12, {"fp32"}, {"%"}, {"FP32 Activity"}},
                                              {13, {"fp16"}, {"%"}, {"FP16 Activity"}},
                                              {20, {"pcitx"}, {"MiB/s"}, {"PCIe TX Bandwidth"}},
                                              {21, {"pcirx"}, {"MiB/s"}, {"PCIe RX Bandwidth"}},
                                              {60, {"nvlrx"}, {"MiB/s"}, {"NVLink RX Bandwidth"}},
                                              {61, {"nvltx"}, {"MiB/s"}, {"NVLink TX Bandwidth"}}}};
constinit std::array<char, 2> g_no_name{"-"};

void name_metric(GpmMetric &metric) {
  const auto found = std::ranges::find(g_names, metric.id, &MetricName::id);
  const bool known = found != g_names.end();
  metric.short_name = known ? found->short_name.data() : g_no_name.data();
  metric.long_name = known ? found->long_name.data() : g_no_name.data();
  metric.unit = known ? found->unit.data() : g_no_name.data();
}

double mean(const Number &number, double from_s, double until_s) {
  if (number.series == nullptr || until_s <= from_s) {
    return number.at(until_s);
  }
  return (number.integral(until_s) - number.integral(from_s)) / (until_s - from_s);
}

const Target *target_of(const Call &call, std::uint32_t gpu_instance) {
  if (gpu_instance == kNoInstance) {
    return &call.device();
  }
  const auto found = std::ranges::find(call.device().mig, gpu_instance, &MigInstance::gpu_instance);
  return found == call.device().mig.end() ? nullptr : &*found;
}

void measure(const Call &call, const Target &target, double from_s, double until_s, GpmMetric &metric) {
  name_metric(metric);
  metric.value = 0;
  metric.result = metric.id < kGpmCount ? target.gpm[metric.id].code : Return::not_supported;
  if (metric.result != Return::success) {
    return;
  }
  metric.result = call.gpm_fault(metric.id);
  metric.value = mean(target.gpm[metric.id], from_s, until_s);
  if (call.nan()) {
    metric.value = std::numeric_limits<double>::quiet_NaN();
  }
}

bool has_gpm(const Call &call) { return call.device()[Key::gpm].supported() && call.device()[Key::gpm].constant > 0; }

Return take(const Call &call, Handle device, std::uint32_t gpu_instance, GpmSample sample) {
  GPULSE_SIM_NEED(sample != nullptr)
  if (!has_gpm(call)) {
    return Return::not_supported;
  }
  GPULSE_SIM_NEED(target_of(call, gpu_instance) != nullptr)
  *sample = {.device = device, .gpu_instance = gpu_instance, .time_s = call.now()};
  return Return::success;
}

}  // namespace

GPULSE_SIM_EXPORT Return nvmlGpmQueryDeviceSupport(Handle device, GpmSupport *out) {
  GPULSE_SIM_BEGIN(nvmlGpmQueryDeviceSupport, device)
  GPULSE_SIM_NEED(out != nullptr)
  if (out->version != 1) {
    return Return::argument_version_mismatch;
  }
  out->supported = has_gpm(call) ? 1 : 0;
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlGpmSampleAlloc(GpmSample *out) {
  GPULSE_SIM_BEGIN(nvmlGpmSampleAlloc)
  GPULSE_SIM_NEED(out != nullptr)
  *out = std::make_unique<gpulse::nvml::GpmSampleOpaque>().release();
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlGpmSampleFree(GpmSample sample) {
  GPULSE_SIM_BEGIN(nvmlGpmSampleFree)
  GPULSE_SIM_NEED(sample != nullptr)
  const std::unique_ptr<gpulse::nvml::GpmSampleOpaque> freed(sample);
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlGpmSampleGet(Handle device, GpmSample sample) {
  GPULSE_SIM_BEGIN(nvmlGpmSampleGet, device)
  return take(call, make_handle(call.place()), kNoInstance, sample);
}

GPULSE_SIM_EXPORT Return nvmlGpmMigSampleGet(Handle device, std::uint32_t gpu_instance, GpmSample sample) {
  GPULSE_SIM_BEGIN(nvmlGpmMigSampleGet, device)
  return take(call, make_handle(call.place()), gpu_instance, sample);
}

GPULSE_SIM_EXPORT Return nvmlGpmMetricsGet(GpmMetricsGet<1> *request) {
  const Handle device = request != nullptr && request->sample2 != nullptr ? request->sample2->device : make_handle(0);
  GPULSE_SIM_BEGIN(nvmlGpmMetricsGet, device)
  GPULSE_SIM_NEED(request != nullptr && request->sample1 != nullptr && request->sample2 != nullptr)
  if (request->version != 1) {
    return Return::argument_version_mismatch;
  }
  const auto &first = *request->sample1;
  const auto &second = *request->sample2;
  GPULSE_SIM_NEED(first.device == second.device && first.gpu_instance == second.gpu_instance)
  const Target *target = target_of(call, second.gpu_instance);
  GPULSE_SIM_NEED(target != nullptr)
  if (const std::uint64_t cost = call.scenario().costs.gpm_metric_ns; cost != 0) {
    spin_ns(cost * request->count);
  }
  GpmMetric *metrics = request->metrics.data();
  for (std::uint32_t i = 0; i < request->count; ++i) {
    call.log("gpm", metrics[i].id);
    measure(call, *target, first.time_s, second.time_s, metrics[i]);
  }
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlGpmQueryIfStreamingEnabled(Handle device, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlGpmQueryIfStreamingEnabled, device)
  GPULSE_SIM_NEED(out != nullptr)
  *out = 0;
  return has_gpm(call) ? Return::success : Return::not_supported;
}
