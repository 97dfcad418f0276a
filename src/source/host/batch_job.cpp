// SPDX-License-Identifier: Apache-2.0
#include "source/host/batch_job.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.hpp"
#include "source/host/process_text.hpp"

namespace gpulse::host {

namespace {

constexpr std::string_view kFolder = "/run/gpulse-jobs";

// Only root, or this user himself, may say whose account pays.
bool is_trusted(const std::string &folder) {
  struct stat found{};
  if (::lstat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return false;
  return (found.st_uid == 0 || found.st_uid == ::geteuid()) && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

Text job_account(const Sysroot &root, std::string_view job) {
  const auto folder = root.path(kFolder);
  if (job.empty() || !is_trusted(folder)) return {};
  const auto text = read_small_file(fmt::format("{}/{}", folder, job));
  return text ? parse_job_account(*text) : Text();
}

}  // namespace gpulse::host
