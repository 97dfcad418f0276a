// SPDX-License-Identifier: Apache-2.0
// Who may read over HTTP. Programs of this machine may, without a word, where nobody has asked for more; anybody else
// has to show a token, a password or a certificate. A browser may only where it shows a page of our own: not by a name
// that somebody has pointed at this address, and not for a page of another site. Any thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "http/address.hpp"
#include "http/message.hpp"
#include "serve/password.hpp"
#include "serve/sessions.hpp"
#include "serve/throttle.hpp"

namespace gpulse::serve {

struct AccessOptions {
  std::vector<std::string> tokens{};  // any of them will do
  Users users{};
  bool is_open = false;              // to everybody who can reach it, as somebody has asked for
  std::vector<std::string> hosts{};  // by which this machine may be called, besides its addresses
};

// An error where somebody on the network could read without showing anything, or a password could be overheard.
Result<void> check_exposure(std::span<const http::Address> addresses, const AccessOptions &options, bool has_tls,
                            bool asks_certificates);

class Access {
 public:
  explicit Access(AccessOptions options) { replace(std::move(options)); }

  struct Verdict {
    std::optional<Reader> reader{};  // none: refused, with this
    http::Response refusal{};
    std::chrono::milliseconds delay{0};  // of whatever is answered
  };
  // May call back later, and on another thread.
  using Done = std::function<void(Verdict)>;
  void check(const http::Request &request, const Done &done);
  // A form with a token, or a user and a password, for a cookie that stands for them from then on. Where nothing has to
  // be shown, or it has been already, the answer says so.
  void log_in(const http::Request &request, const http::Answer &answer);
  http::Response log_out(const http::Request &request);
  // From now on.
  void replace(AccessOptions options);

 private:
  using OptionsPtr = std::shared_ptr<const AccessOptions>;
  OptionsPtr options() const;
  // What is refused to everybody: another machine's name, a page of another site.
  static std::optional<http::Response> refuse_site(const http::Request &request, const AccessOptions &options);
  void check_credentials(const http::Request &request, const OptionsPtr &options, const Done &done);
  void check_password(const http::Request &request, const std::string &name, const std::string &password,
                      std::chrono::milliseconds turn, const OptionsPtr &options, const Done &done);
  void conclude(const http::Request &request, bool is_right, Reader reader, std::chrono::milliseconds turn,
                const OptionsPtr &options, const Done &done);

  mutable std::mutex mutex_;
  OptionsPtr options_;
  Throttle throttle_;
  Sessions sessions_;
  Passwords passwords_;  // the last to be made and the first to end: it uses the rest
};

}  // namespace gpulse::serve
