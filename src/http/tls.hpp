// SPDX-License-Identifier: Apache-2.0
// Certificate and key of a server, read from files; and what secrets are compared with. OpenSSL is touched when the
// first of these is called, and not before.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace gpulse::http {

struct TlsFiles {
  std::string certificate;  // PEM, with the chain behind it; empty: no TLS
  std::string key;
  std::string client_ca;  // every client must have a certificate from one of these; empty: none is asked for
};

class TlsContext;  // http/tls_context.hpp

// TLS 1.2 and newer.
Result<std::shared_ptr<const TlsContext>> load_tls(const TlsFiles &files);

// In a time that does not depend on where they differ.
bool is_same_secret(std::string_view one, std::string_view other);

// Nobody without the key can say which texts have the same. What is in which text makes a difference, not only what
// they are in a row.
using SecretHash = std::array<std::byte, 32>;
SecretHash hash_secret(std::span<const std::byte> key, std::span<const std::string_view> texts);

}  // namespace gpulse::http
