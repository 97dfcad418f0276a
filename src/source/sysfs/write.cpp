// SPDX-License-Identifier: Apache-2.0
#include "source/sysfs/write.hpp"

#include <cerrno>
#include <cstring>

namespace gpulse::sysfs {

namespace {

std::uint16_t code_of(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      return SettingError::kNoPermission;
    case ENOENT:
    case ENOTDIR:
    case ENODEV:
    case ENXIO:
    case ENOTTY:  // the kernel knows no way to reset the device
    case EOPNOTSUPP:
      return SettingError::kNotSupported;
    case EINVAL:
    case ERANGE:
      return SettingError::kInvalid;
    case EBUSY:
    case EAGAIN:
      return SettingError::kInUse;
    default:
      return SettingError::kUnknown;
  }
}

}  // namespace

SettingResult write_attribute(const Sysroot &root, std::string_view path, std::string_view text) {
  if (root.write(path, text)) return {};
  const int error = errno;
  const auto code = code_of(error);
  if (code == SettingError::kNoPermission) return setting_refused(code, "no permission");
  if (code == SettingError::kNotSupported) return setting_refused(code, "not supported");
  return setting_refused(code, std::strerror(error));
}

}  // namespace gpulse::sysfs
