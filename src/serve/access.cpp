// SPDX-License-Identifier: Apache-2.0
#include "serve/access.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_writer.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "http/target.hpp"

namespace gpulse::serve {

namespace {

using namespace std::chrono_literals;

// "name:9837" and "[::1]:9837" without the port.
std::string_view without_port(std::string_view host) {
  const auto colon = host.rfind(':');
  const auto bracket = host.rfind(']');
  const bool has_port = colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  return has_port ? host.substr(0, colon) : host;
}

// An address cannot be pointed elsewhere, as a name can.
bool is_own_host(std::string_view host, const AccessOptions &options) {
  const auto name = lower(without_port(host));
  return http::is_ip_address(name) || name == "localhost" ||
         std::ranges::any_of(options.hosts, [&](const std::string &own) { return lower(own) == name; });
}

// A page of another site may lead here, but not read what is here.
bool is_foreign(const http::Request &request) {
  const auto site = request.header("sec-fetch-site").value_or("none");
  // A browser says this itself, and knows the name that a proxy may have replaced.
  if (site == "same-origin") return false;
  if (const auto origin = request.header("origin")) {
    const auto slashes = origin->find("://");
    const auto host = slashes == std::string_view::npos ? std::string_view() : origin->substr(slashes + 3);
    if (host.empty() || lower(host) != lower(request.header("host").value_or(""))) return true;
  }
  if (site == "none") return false;
  const bool follows_a_link = request.method == http::Method::get && request.header("sec-fetch-mode") == "navigate" &&
                              request.header("sec-fetch-dest") == "document";
  return !follows_a_link;
}

// What a proxy on this machine hands on comes from anywhere.
bool is_from_here(const http::Request &request) {
  const auto is_told_of = [&](const char *name) { return request.header(name).has_value(); };
  return request.peer.is_loopback && !is_told_of("x-forwarded-for") && !is_told_of("forwarded") &&
         !is_told_of("x-real-ip") && !is_told_of("via");
}

std::optional<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto value = kAlphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xFFU);
  }
  return out;
}

// All are compared, so that the time does not tell which was nearly right.
bool is_token(std::string_view given, const std::vector<std::string> &tokens) {
  bool is_one = false;
  for (const auto &token : tokens) is_one = http::is_same_secret(given, token) || is_one;
  return is_one;
}

// The page has a form of its own: a browser that is asked for a password would show another one.
bool is_asked_by_page(const http::Request &request) {
  const auto mode = request.header("sec-fetch-mode");
  return (mode && *mode != "navigate") || request.header("x-gpulse-page").has_value();
}

http::Response ask_for_credentials(const http::Request &request, const AccessOptions &options) {
  auto refusal = http::error(401, "this needs a token or a password");
  if (is_asked_by_page(request)) {
    refusal.headers.emplace_back("WWW-Authenticate", "Form realm=\"gpulse\"");
    return refusal;
  }
  if (!options.users.empty()) {
    refusal.headers.emplace_back("WWW-Authenticate", "Basic realm=\"gpulse\", charset=\"UTF-8\"");
  }
  if (!options.tokens.empty()) refusal.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"gpulse\"");
  return refusal;
}

std::string field_of(const http::Fields &form, std::string_view name) {
  const auto found = std::ranges::find(form, name, &http::Fields::value_type::first);
  return found == form.end() ? std::string() : found->second;
}

// What a form can ask for, and whether there is any need to.
http::Response login_answer(const AccessOptions &options, bool is_reader) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("schema", "gpulse-login/1");
  json.member("needed", !is_reader);
  json.member("token", !options.tokens.empty());
  json.member("users", !options.users.empty());
  json.end_object();
  return {.body = std::make_shared<const std::string>(std::move(text))};
}

http::Response later(int status, std::string_view why, const char *seconds) {
  auto refusal = http::error(status, why);
  refusal.headers.emplace_back("Retry-After", seconds);
  return refusal;
}

}  // namespace

Result<void> check_exposure(std::span<const http::Address> addresses, const AccessOptions &options, bool has_tls,
                            bool asks_certificates) {
  const auto far = std::ranges::find(addresses, false, &http::Address::is_loopback);
  if (far == addresses.end() || options.is_open) return {};
  if (!options.users.empty() && !has_tls) {
    return failure(fmt::format("passwords could be overheard on {}", far->text), "[web] needs cert and key");
  }
  if (!options.tokens.empty() || !options.users.empty() || asks_certificates) return {};
  return failure(fmt::format("everybody on the network could read on {}", far->text),
                 "give --token-file FILE, or users and a certificate in [web], or --insecure-no-auth");
}

void Access::replace(AccessOptions options) {
  auto now = std::make_shared<const AccessOptions>(std::move(options));
  // A token that counts no more must not live on in a cookie.
  sessions_.end_all();
  const std::lock_guard lock(mutex_);
  options_ = std::move(now);
}

Access::OptionsPtr Access::options() const {
  const std::lock_guard lock(mutex_);
  return options_;
}

std::optional<http::Response> Access::refuse_site(const http::Request &request, const AccessOptions &options) {
  if (const auto host = request.header("host"); host && !is_own_host(*host, options)) {
    return http::error(421, "this machine is not known by that name: --allowed-host adds one");
  }
  if (is_foreign(request)) return http::error(403, "a page of another site may not read this");
  return std::nullopt;
}

void Access::check(const http::Request &request, const Done &done) {
  const auto options = this->options();
  if (auto refusal = refuse_site(request, *options)) return done({.refusal = std::move(*refusal)});
  if (!options->tokens.empty() || !options->users.empty()) return check_credentials(request, options, done);
  const bool is_certified = !request.peer.certificate.empty();
  done({.reader = Reader{.sees_commands = is_certified || is_from_here(request), .name = request.peer.certificate}});
}

void Access::check_credentials(const http::Request &request, const OptionsPtr &options, const Done &done) {
  const auto field = request.header("authorization");
  if (!field) {
    if (auto reader = sessions_.find(request, monotonic_now())) return done({.reader = std::move(reader)});
    return done({.refusal = ask_for_credentials(request, *options)});
  }
  const auto turn = throttle_.turn(request.peer.address, monotonic_now());
  if (!turn) return done({.refusal = later(429, "too many have been wrong from there", "5")});
  auto rest = *field;
  const auto kind = lower(next_piece(rest, ' '));
  const auto given = trim(rest);
  if (kind == "bearer") {
    return conclude(request, is_token(given, options->tokens), {.sees_commands = true, .name = "token"}, *turn, options,
                    done);
  }
  const auto text = kind == "basic" ? decode_base64(given) : std::nullopt;
  const auto colon = text ? text->find(':') : std::string::npos;
  if (colon == std::string::npos) return conclude(request, false, {}, *turn, options, done);
  check_password(request, text->substr(0, colon), text->substr(colon + 1), *turn, options, done);
}

void Access::check_password(const http::Request &request, const std::string &name, const std::string &password,
                            std::chrono::milliseconds turn, const OptionsPtr &options, const Done &done) {
  const bool is_looked_at = passwords_.check(options->users, name, password, [=, this](bool is_right) {
    conclude(request, is_right, {.sees_commands = true, .name = name}, turn, options, done);
  });
  if (!is_looked_at) done({.refusal = later(503, "too many wait for their password to be looked at", "1")});
}

void Access::conclude(const http::Request &request, bool is_right, Reader reader, std::chrono::milliseconds turn,
                      const OptionsPtr &options, const Done &done) {
  if (is_right) return done({.reader = std::move(reader), .delay = turn});
  const auto &address = request.peer.address;
  const auto now = monotonic_now();
  for (const auto &[who, times] : throttle_.forget(now)) {
    log_line(LogLevel::warning, fmt::format("{} wrong tokens or passwords came from {}", times, who));
  }
  const auto failure = throttle_.failed(address, now);
  // Once: who guesses must not fill the log.
  if (failure.is_first) log_line(LogLevel::warning, fmt::format("a wrong token or password came from {}", address));
  done({.refusal = ask_for_credentials(request, *options), .delay = failure.delay});
}

void Access::log_in(const http::Request &request, const http::Answer &answer) {
  const auto options = this->options();
  if (auto refusal = refuse_site(request, *options)) return answer(std::move(*refusal));
  const bool needs_nothing = options->tokens.empty() && options->users.empty();
  if (needs_nothing || request.method != http::Method::post) {
    return answer(login_answer(*options, needs_nothing || sessions_.find(request, monotonic_now())));
  }
  const auto form = http::parse_target("/?" + request.body);
  if (!form) return answer(http::error(400, "this is no form"));
  const auto turn = throttle_.turn(request.peer.address, monotonic_now());
  if (!turn) return answer(later(429, "too many have been wrong from there", "5"));
  const auto done = [this, request, answer](Verdict verdict) {
    http::Response response = std::move(verdict.refusal);
    if (verdict.reader) {
      response = {.status = 204};
      response.headers.emplace_back("Set-Cookie",
                                    sessions_.begin(request, std::move(*verdict.reader), monotonic_now()));
    }
    response.delay = verdict.delay;
    answer(std::move(response));
  };
  if (const auto token = field_of(form->query, "token"); !token.empty()) {
    return conclude(request, is_token(token, options->tokens), {.sees_commands = true, .name = "token"}, *turn, options,
                    done);
  }
  check_password(request, field_of(form->query, "user"), field_of(form->query, "password"), *turn, options, done);
}

http::Response Access::log_out(const http::Request &request) {
  if (request.method != http::Method::post) return http::error(405, "logging out takes a POST");
  return {.status = 204, .headers = {{"Set-Cookie", sessions_.end(request)}}};
}

}  // namespace gpulse::serve
