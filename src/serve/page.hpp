// SPDX-License-Identifier: Apache-2.0
// The page in the browser: the files that web/ is built into, as they lie in the program. They hold nothing of this
// machine, so anybody may have them; what they show they ask for like any other reader. Any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "http/message.hpp"

namespace gpulse::serve {

// Each is "self", or "https://hub.example:8443": what stands in a header must not say more than that.
Result<void> check_frame_origins(std::span<const std::string> origins);

class Page {
 public:
  Page();
  // 404 where there is no such file.
  http::Response answer(const http::Request &request) const;
  // Whose pages may show it in a frame from now on, as checked above; none: nobody's.
  void set_frame_origins(std::span<const std::string> origins);

 private:
  std::string frame_ancestors() const;

  struct File {
    std::shared_ptr<const std::string> bytes;
    std::string_view type;
    std::string etag;
    bool is_packed = false;    // with gzip
    bool is_for_good = false;  // its name changes with what is in it
  };
  std::map<std::string, File, std::less<>> files_;
  mutable std::mutex mutex_;     // guards what follows
  std::string frame_ancestors_;  // empty: nobody
};

}  // namespace gpulse::serve
