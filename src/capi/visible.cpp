// SPDX-License-Identifier: Apache-2.0
#include "pick/visible.hpp"

#include <fmt/format.h>

#include <map>

#include "capi/handles.hpp"
#include "pick/cuda_order.hpp"

struct gpulse_view {
  gpulse::pick::Visible visible;
  std::string method;
};

using namespace gpulse;

namespace {

pick::Environment environment_of(const char *const *entries) {
  if (entries == nullptr) return pick::own_environment();
  std::map<std::string, std::string, std::less<>> values;
  for (; *entries != nullptr; ++entries) {
    const std::string_view entry = *entries;
    const auto equals = entry.find('=');
    if (equals != std::string_view::npos) values.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return [values = std::move(values)](const char *name) -> std::optional<std::string> {
    const auto found = values.find(std::string_view(name));
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

}  // namespace

gpulse_status gpulse_visible(const gpulse_sample *sample, const gpulse_visible_options *given, gpulse_view **view) {
  return capi::guarded([&] {
    if (sample == nullptr || view == nullptr) return capi::fail(GPULSE_INVALID, "no sample, or no place for the view");
    *view = nullptr;
    const auto taken =
        capi::take_in(given, gpulse_visible_options{.size = 0, .program = nullptr, .environment = nullptr});
    if (!taken) return capi::fail(GPULSE_INVALID, taken.error().line());
    const auto &options = *taken;
    const std::string program = options.program == nullptr ? "gpulse" : options.program;
    auto visible = pick::visible(capi::from_handle(sample)->snapshot->devices, environment_of(options.environment),
                                 [&] { return pick::ask_cuda_order(program); });
    const std::string method(word(visible.method));
    // CUDA's own words may be in them.
    visible.problem = Text(visible.problem).str();
    for (auto &one : visible.ignored) one.reason = Text(one.reason).str();
    *view = new gpulse_view{std::move(visible), method};
    return GPULSE_OK;
  });
}

void gpulse_view_free(gpulse_view *view) { delete view; }

gpulse_status gpulse_get_view(const gpulse_view *view, gpulse_view_info *info) {
  return capi::guarded([&] {
    if (view == nullptr) return capi::fail(GPULSE_INVALID, "no view");
    const gpulse_view_info full{.size = 0,
                                .devices = static_cast<std::uint32_t>(view->visible.devices.size()),
                                .ignored = static_cast<std::uint32_t>(view->visible.ignored.size()),
                                .method = view->method.c_str(),
                                .problem = view->visible.problem.c_str()};
    return capi::hand_out(full, info);
  });
}

int32_t gpulse_view_device(const gpulse_view *view, uint32_t index) {
  if (view == nullptr || index >= view->visible.devices.size()) return -1;
  return static_cast<int32_t>(view->visible.devices[index]);
}

gpulse_status gpulse_get_ignored(const gpulse_view *view, uint32_t index, gpulse_ignored *ignored) {
  return capi::guarded([&] {
    if (view == nullptr || index >= view->visible.ignored.size())
      return capi::fail(GPULSE_INVALID, fmt::format("the view has no ignored entry {}", index));
    const auto &one = view->visible.ignored[index];
    const gpulse_ignored full{
        .size = 0, .variable = one.variable.c_str(), .entry = one.entry.str().c_str(), .reason = one.reason.c_str()};
    return capi::hand_out(full, ignored);
  });
}
