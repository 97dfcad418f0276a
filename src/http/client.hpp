// SPDX-License-Identifier: Apache-2.0
// An HTTP/1.1 client: one request at a time, on the thread of whoever asks, within a limit of time. One thread uses a
// Client. OpenSSL is touched when the first https address is asked, and not before.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "http/message.hpp"
#include "http/url.hpp"

namespace gpulse::http {

struct ClientOptions {
  std::string ca_file{};                // empty: the authorities that this system trusts
  std::string certificate{}, key{};     // of our own; empty: none
  std::string server_name{};            // what the certificate must name where that is not the host
  bool verifies = true;                 // the server's certificate
  std::string bearer_file{};            // read anew for every request, so that a secret may change
  std::string user{}, password_file{};  // the file as above
  std::optional<std::string> proxy{};   // none: as the environment says; empty: none. http:// only
  std::string user_agent = "gpulse";
  std::chrono::milliseconds connect_time{5000};  // until the server can be asked: name, connection, proxy, TLS
  std::chrono::milliseconds total_time{30000};
  std::size_t most_bytes = std::size_t{64} << 20U;  // of an answer's body, after decoding
};

struct ClientRequest {
  std::string method = "GET";
  Url url{};
  Fields headers{};
  std::string body{};
};

struct ClientResponse {
  int status = 0;
  Fields headers{};  // names in lower case
  std::string body{};

  // Of the first by this name; none: there is no such.
  std::optional<std::string_view> header(std::string_view name) const;
};

// How the error begins where an answer has more than `most_bytes`.
inline constexpr std::string_view kLargerThan = "the answer is larger than";

class Client {
 public:
  explicit Client(ClientOptions options);
  Client(Client &&) noexcept;
  Client &operator=(Client &&) noexcept;
  ~Client();

  // Any status is an answer; redirects are not followed. The connection is kept for the next request to the same
  // server. Where the server has closed it meanwhile, the request is sent once more over a new one: it must be of a
  // kind that may arrive twice. A stop ends it within a tenth of a second.
  Result<ClientResponse> send(const ClientRequest &request, const std::stop_token &stop = {});

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// "Sun, 06 Nov 1994 08:49:37 GMT", as in Date and Retry-After.
std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text);

}  // namespace gpulse::http
