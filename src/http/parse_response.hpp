// SPDX-License-Identifier: Apache-2.0
// The answer of a server, from the bytes as they come: bounded in size, whatever the server says. Internal to src/http.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/result.hpp"
#include "http/client.hpp"

namespace gpulse::http {

class ResponseParser {
 public:
  enum class Body : bool { none, any };  // none: the answer to HEAD or CONNECT

  ResponseParser(Body body, std::size_t most_bytes);
  ResponseParser(const ResponseParser &) = delete;
  ResponseParser &operator=(const ResponseParser &) = delete;
  ~ResponseParser();

  Result<void> put(std::string_view bytes);
  // The server has ended the connection.
  Result<void> put_end();

  bool has_begun() const;
  bool is_done() const;
  // Another request may be sent over the same connection.
  bool keeps_alive() const;
  // When it is done, once. What is packed is unpacked.
  Result<ClientResponse> take();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace gpulse::http
