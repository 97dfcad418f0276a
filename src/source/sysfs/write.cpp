// SPDX-License-Identifier: Apache-2.0
#include "source/sysfs/write.hpp"

#include <cerrno>
#include <cstring>

namespace gpulse::sysfs {

namespace {

SettingFailure failure_of(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      return SettingFailure::no_permission;
    case ENOENT:
    case ENOTDIR:
    case ENODEV:
    case ENXIO:
    case ENOTTY:  // the kernel has no way to reset the device
    case EOPNOTSUPP:
      return SettingFailure::not_supported;
    case EINVAL:
    case ERANGE:
      return SettingFailure::invalid;
    case EBUSY:
    case EAGAIN:
      return SettingFailure::in_use;
    default:
      return SettingFailure::failed;
  }
}

}  // namespace

SettingResult write_attribute(const Sysroot &root, std::string_view path, std::string_view text) {
  if (root.write(path, text)) return {};
  const int error = errno;
  const auto failure = failure_of(error);
  if (failure == SettingFailure::no_permission) return setting_failed(failure, "no permission");
  if (failure == SettingFailure::not_supported) return setting_not_supported();
  return setting_failed(failure, std::strerror(error));
}

}  // namespace gpulse::sysfs
