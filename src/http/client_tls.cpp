// SPDX-License-Identifier: Apache-2.0
#include "http/client_tls.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <array>

#include "base/file.hpp"
#include "http/address.hpp"

namespace gpulse::http {

namespace {

std::string reason() {
  const auto *text = ::ERR_reason_error_string(::ERR_peek_last_error());
  ::ERR_clear_error();
  return text != nullptr ? text : "no reason given";
}

std::string state_of(const ClientOptions &options) {
  std::string all;
  for (const auto &file : {options.ca_file, options.certificate, options.key}) {
    struct stat info{};
    if (file.empty() || ::stat(file.c_str(), &info) != 0) continue;
    all += fmt::format("{} {} {} {}.{}\n", file, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  }
  return all;
}

// The path that is compiled into OpenSSL is Debian's; a portable program meets others.
Result<void> trust_system(SSL_CTX *context) {
  ::SSL_CTX_set_default_verify_paths(context);
  constexpr std::array kBundles{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};
  for (const auto *bundle : kBundles) {
    if (::access(bundle, R_OK) == 0 && ::SSL_CTX_load_verify_file(context, bundle) == 1) break;
  }
  ::ERR_clear_error();
  return {};
}

Result<void> trust(SSL_CTX *context, const ClientOptions &options) {
  if (!options.verifies) return {};
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (options.ca_file.empty()) return trust_system(context);
  if (auto text = read_small_file(options.ca_file); !text) return std::unexpected(text.error());
  if (::SSL_CTX_load_verify_file(context, options.ca_file.c_str()) == 1) return {};
  return failure(fmt::format("{} holds no certificates of an authority", options.ca_file), reason());
}

Result<void> identify(SSL_CTX *context, const ClientOptions &options) {
  if (options.certificate.empty()) return {};
  const auto &key = options.key.empty() ? options.certificate : options.key;
  for (const auto &file : {options.certificate, key}) {
    if (auto text = read_small_file(file); !text) return std::unexpected(text.error());
  }
  if (::SSL_CTX_use_certificate_chain_file(context, options.certificate.c_str()) != 1) {
    return failure(fmt::format("{} holds no certificate that can be used", options.certificate), reason());
  }
  if (::SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return failure(fmt::format("{} holds no key that goes with the certificate", key), reason());
  }
  return {};
}

bool expect_name(SSL *session, const std::string &name) {
  if (is_ip_address(name)) {
    return ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(session), name.c_str()) == 1;
  }
  ::SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  // What SSL_set_tlsext_host_name stands for, without its cast.
  auto *text = const_cast<char *>(name.c_str());
  return ::SSL_set1_host(session, text) == 1 &&
         ::SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, text) == 1;
}

}  // namespace

void FreeTls::operator()(ssl_ctx_st *context) const noexcept { ::SSL_CTX_free(context); }
void FreeTls::operator()(ssl_st *session) const noexcept { ::SSL_free(session); }

Result<TlsSession> ClientTls::begin(const ClientOptions &options, const std::string &host, int socket) {
  auto state = state_of(options);
  if (context_ == nullptr || state != files_) {
    ::ERR_clear_error();
    context_.reset(::SSL_CTX_new(::TLS_client_method()));
    if (context_ == nullptr) return failure("TLS cannot be used", reason());
    ::SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
    ::SSL_CTX_set_mode(context_.get(),
                       SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    for (const auto step : {trust, identify}) {
      if (auto good = step(context_.get(), options); !good) {
        context_.reset();
        return std::unexpected(good.error());
      }
    }
    files_ = std::move(state);
  }
  TlsSession session(::SSL_new(context_.get()));
  const auto &name = options.server_name.empty() ? host : options.server_name;
  if (session == nullptr || !expect_name(session.get(), name) || ::SSL_set_fd(session.get(), socket) != 1) {
    return failure(fmt::format("TLS with {} cannot begin", name), reason());
  }
  return session;
}

Error handshake_error(ssl_st *session, const std::string &name) {
  const auto verified = ::SSL_get_verify_result(session);
  if (verified == X509_V_OK) {
    return {fmt::format("TLS with {} failed: {}", name, reason()),
            "check that the port speaks TLS, and what it asks of clients"};
  }
  ::ERR_clear_error();
  const auto why = std::string(::X509_verify_cert_error_string(verified));
  auto what = fmt::format("the certificate of {} is not good: {}", name, why);
  switch (verified) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return {std::move(what), "have it renewed, and check this machine's clock"};
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return {std::move(what), "use a name that is in the certificate"};
    default:
      return {std::move(what), "give the file with the certificate of its authority"};
  }
}

}  // namespace gpulse::http
