// SPDX-License-Identifier: Apache-2.0
#include "http/tls.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>

#include "base/file.hpp"
#include "http/tls_context.hpp"

namespace gpulse::http {

namespace {

// Of TLS 1.2 only what has forward secrecy and authenticates what it encrypts; those of 1.3 are all good.
constexpr const char *kCiphers =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";

std::unexpected<Error> tls_failure(const std::string &what) {
  const auto code = ::ERR_peek_last_error();
  const char *reason = ::ERR_reason_error_string(code);
  ::ERR_clear_error();
  return failure(what, reason != nullptr ? reason : "");
}

// OpenSSL says of a file that is not there no more than "system lib".
Result<void> check_readable(const std::string &file) {
  const auto text = read_small_file(file);
  if (!text) return std::unexpected(text.error());
  return {};
}

Result<void> use_client_ca(SSL_CTX *context, const std::string &file) {
  if (auto good = check_readable(file); !good) return good;
  if (::SSL_CTX_load_verify_locations(context, file.c_str(), nullptr) != 1) {
    return tls_failure(fmt::format("{} holds no certificates of an authority", file));
  }
  auto *names = ::SSL_load_client_CA_file(file.c_str());
  if (names == nullptr) return tls_failure(fmt::format("{} holds no certificates of an authority", file));
  ::SSL_CTX_set_client_CA_list(context, names);
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return {};
}

}  // namespace

Result<std::shared_ptr<const TlsContext>> load_tls(const TlsFiles &files) {
  auto made = std::make_shared<TlsContext>();
  auto *context = made->get().native_handle();
  ::SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  ::SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  ::SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  // A session that is resumed would not show the client's certificate again.
  ::SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  ::SSL_CTX_set_num_tickets(context, 0);
  ::SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  if (::SSL_CTX_set_cipher_list(context, kCiphers) != 1) return tls_failure("OpenSSL knows none of the ciphers");
  for (const auto &file : {files.certificate, files.key}) {
    if (auto good = check_readable(file); !good) return std::unexpected(good.error());
  }
  if (::SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1) {
    return tls_failure(fmt::format("{} holds no certificate that can be used", files.certificate));
  }
  if (::SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return tls_failure(fmt::format("{} holds no key that goes with the certificate", files.key));
  }
  if (::SSL_CTX_check_private_key(context) != 1) {
    return tls_failure(fmt::format("the key in {} does not go with the certificate", files.key));
  }
  if (!files.client_ca.empty()) {
    if (auto good = use_client_ca(context, files.client_ca); !good) return std::unexpected(good.error());
  }
  return made;
}

bool is_same_secret(std::string_view one, std::string_view other) {
  return one.size() == other.size() && ::CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

SecretHash hash_secret(std::span<const std::byte> key, std::span<const std::string_view> texts) {
  std::string all;
  for (const auto text : texts) all += fmt::format("{}:{}", text.size(), text);
  SecretHash hash{};
  ::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char *>(all.data()),
         all.size(), reinterpret_cast<unsigned char *>(hash.data()), nullptr);
  return hash;
}

}  // namespace gpulse::http
