// SPDX-License-Identifier: Apache-2.0
// Part of gpulse.hpp: which devices a process gets to see, and devices for this process alone.
#ifndef GPULSE_PICK_HPP
#define GPULSE_PICK_HPP

#include <stdlib.h>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpulse.h"
#include "monitor.hpp"
#include "sample.hpp"

namespace gpulse {
inline namespace v1 {

// Which devices a process gets to see, in the order in which it numbers them.
struct Visible {
  // An entry of a variable that shows no device.
  struct Ignored {
    std::string variable;  // "CUDA_VISIBLE_DEVICES"; empty where no variable is to blame
    std::string entry, reason;
  };

  std::vector<Device> devices;  // the first is cuda:0
  std::vector<Ignored> ignored;
  std::string method;   // "no mask", "mask", ...: how it was found
  std::string problem;  // why nothing is visible, or why it is not certain; else empty
};

struct VisibleOptions {
  std::string program{};  // gpulse itself: asked for CUDA's order where GPUs differ; empty: "gpulse", from PATH
  // "NAME=value" of the process in question. Not given: those of this process.
  std::optional<std::vector<std::string>> environment{};
};

namespace detail {

struct FreeView {
  void operator()(gpulse_view *view) const noexcept { gpulse_view_free(view); }
};
struct FreeLease {
  void operator()(gpulse_lease *lease) const noexcept { gpulse_lease_free(lease); }
};

}  // namespace detail

// The devices of the sample that CUDA, HIP and Level Zero would give the process, by their own rules for
// CUDA_VISIBLE_DEVICES and the like. Never initialises CUDA in this process.
inline Visible visible(const Sample &sample, const VisibleOptions &given = {}) {
  auto options = detail::sized<gpulse_visible_options>();
  std::vector<const char *> entries;
  if (given.environment) {
    for (const auto &entry : *given.environment) entries.push_back(entry.c_str());
    entries.push_back(nullptr);
    options.environment = entries.data();
  }
  options.program = detail::or_null(given.program);
  gpulse_view *handle = nullptr;
  detail::check(gpulse_visible(sample.handle(), &options, &handle));
  const std::unique_ptr<gpulse_view, detail::FreeView> view(handle);
  auto info = detail::sized<gpulse_view_info>();
  detail::check(gpulse_get_view(handle, &info));
  Visible out{{}, {}, info.method, info.problem};
  for (std::uint32_t i = 0; i < info.devices; ++i)
    out.devices.emplace_back(sample, static_cast<std::uint32_t>(gpulse_view_device(handle, i)));
  for (std::uint32_t i = 0; i < info.ignored; ++i) {
    auto one = detail::sized<gpulse_ignored>();
    detail::check(gpulse_get_ignored(handle, i, &one));
    out.ignored.push_back({one.variable, one.entry, one.reason});
  }
  return out;
}

struct PickOptions {
  std::uint32_t count = 1;
  std::optional<double> min_free{};        // bytes of memory that must be free
  std::optional<double> min_free_share{};  // of the memory, 0 to 1. Neither given: 0.9, as good as empty
  std::optional<double> max_util{};        // percent. Not given: 10, where the device tells it
  Seconds wait{0};                         // for a free one; 0: looks once; Seconds(INFINITY): for ever
  bool pass_on = false;                    // children and the programs that they execute hold the lease too
  std::string program{};                   // as in VisibleOptions
  // Called now and then while it waits, on this thread; false gives up. What it throws comes out of pick().
  std::function<bool(Seconds waited, std::uint32_t free)> progress{};
};

// No GPU is to be had. what() is one line with the reason of each.
class NoGpuAvailable : public Error {
 public:
  struct Refused {
    std::string id, uuid, name, reason;
  };

  NoGpuAvailable(gpulse_status status, const std::string &sentence, std::vector<Refused> refused)
      : Error(status, with_reasons(sentence, refused)),
        refused_(std::make_shared<const std::vector<Refused>>(std::move(refused))) {}

  // Those that it could have been. Empty where there is none at all, or waiting was given up: status() is
  // GPULSE_CLOSED.
  const std::vector<Refused> &refused() const noexcept { return *refused_; }

 private:
  static std::string with_reasons(std::string sentence, const std::vector<Refused> &refused) {
    for (const auto &one : refused) sentence += "; GPU " + one.id + ": " + one.reason;
    return sentence;
  }

  std::shared_ptr<const std::vector<Refused>> refused_;  // a copy of an exception must not throw
};

// Devices that are this process's own until release(), its destruction or the end of the process, however it ends.
// pick() makes one.
class Lease {
 public:
  struct Leased {
    std::string id, uuid, name;  // "3", "0:1"
  };

  // Takes over the handle, which is not null.
  explicit Lease(gpulse_lease *handle) : handle_(handle) {
    auto info = detail::sized<gpulse_lease_info>();
    detail::check(gpulse_get_lease(handle, &info));
    for (std::uint32_t i = 0; i < info.devices; ++i) {
      auto one = detail::sized<gpulse_leased>();
      detail::check(gpulse_get_leased(handle, i, &one));
      devices_.push_back({one.id, one.uuid, one.name});
    }
    for (std::uint32_t i = 0; i < info.variables; ++i) {
      const char *value = nullptr;
      const char *name = gpulse_lease_variable(handle, i, &value);
      variables_.emplace_back(name, value);
    }
  }

  // In the order in which a program with these variables sees them. They stay after release().
  const std::vector<Leased> &devices() const noexcept { return devices_; }
  std::vector<std::string> uuids() const {
    std::vector<std::string> all;
    for (const auto &device : devices_) all.push_back(device.uuid);
    return all;
  }
  // What to set for a program that is to use them: CUDA_VISIBLE_DEVICES and the like.
  const std::vector<std::pair<std::string, std::string>> &variables() const noexcept { return variables_; }
  // Sets them in this process: before CUDA is used, which looks at them once, and while no other thread reads the
  // environment.
  void apply() const {
    for (const auto &[name, value] : variables_) {
      if (::setenv(name.c_str(), value.c_str(), 1) != 0) throw Error(GPULSE_FAILED, name + " cannot be set");
    }
  }
  // Gives them back. In a forked child it leaves the parent's alone.
  void release() noexcept { handle_.reset(); }

 private:
  std::unique_ptr<gpulse_lease, detail::FreeLease> handle_;
  std::vector<Leased> devices_;
  std::vector<std::pair<std::string, std::string>> variables_;
};

namespace detail {

// No exception may pass through C: it is kept until the call has returned.
struct Progress {
  const PickOptions &given;
  std::exception_ptr thrown{};

  static std::int32_t call(void *context, double waited, std::uint32_t free) noexcept {
    auto &self = *static_cast<Progress *>(context);
    try {
      return self.given.progress(Seconds(waited), free) ? 0 : 1;
    } catch (...) {
      self.thrown = std::current_exception();
      return 1;
    }
  }
};

inline std::vector<NoGpuAvailable::Refused> refused_of(const gpulse_lease *lease) {
  std::vector<NoGpuAvailable::Refused> all;
  if (lease == nullptr) return all;
  auto info = sized<gpulse_lease_info>();
  check(gpulse_get_lease(lease, &info));
  for (std::uint32_t i = 0; i < info.refused; ++i) {
    auto one = sized<gpulse_leased>();
    check(gpulse_get_refused(lease, i, &one));
    all.push_back({one.id, one.uuid, one.name, one.reason});
  }
  return all;
}

}  // namespace detail

// Takes devices that nobody uses, without a race between processes that pick: among those that are visible to this
// process. Throws NoGpuAvailable where there are not enough.
[[nodiscard]] inline Lease pick(const PickOptions &given = {}) {
  gpulse_pick_options options;
  gpulse_pick_options_init(&options);
  options.count = given.count;
  if (given.min_free) options.min_free = *given.min_free;
  if (given.min_free_share) options.min_free_share = *given.min_free_share;
  if (given.max_util) options.max_util = *given.max_util;
  options.wait = given.wait.count();
  options.pass_on = given.pass_on ? 1 : 0;
  options.program = detail::or_null(given.program);
  detail::Progress progress{given};
  if (given.progress) {
    options.progress = detail::Progress::call;
    options.context = &progress;
  }
  gpulse_lease *handle = nullptr;
  const auto status = gpulse_pick(&options, &handle);
  const std::string sentence = gpulse_last_error();
  std::unique_ptr<gpulse_lease, detail::FreeLease> lease(handle);
  if (progress.thrown) std::rethrow_exception(progress.thrown);
  if (status == GPULSE_NO_GPU || status == GPULSE_CLOSED)
    throw NoGpuAvailable(status, sentence, detail::refused_of(handle));
  if (status != GPULSE_OK) throw Error(status, sentence);
  return Lease(lease.release());
}

}  // namespace v1
}  // namespace gpulse

#endif
