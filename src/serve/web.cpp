// SPDX-License-Identifier: Apache-2.0
#include "serve/web.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/json_writer.hpp"
#include "base/log.hpp"
#include "http/target.hpp"
#include "serve/api_parts.hpp"

namespace gpulse::serve {

namespace {

constexpr std::string_view kLogin = "/login", kLogout = "/logout";

http::Response version_answer(const std::string &version) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("name", "gpulse");
  json.member("version", version);
  json.end_object();
  text += '\n';
  return {.body = std::make_shared<const std::string>(std::move(text))};
}

// Null: plain HTTP.
Result<std::shared_ptr<const http::TlsContext>> load(const http::TlsFiles &files) {
  if (files.certificate.empty()) return nullptr;
  return http::load_tls(files);
}

// Each connection is a file, and so is much else that the agent has open. Where it may not have more, it turns away
// whoever is too many.
void make_room_for(const http::Limits &limits) {
  constexpr rlim_t kOthers = 4096;
  const rlim_t wanted = limits.connections + limits.streams + kOthers;
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0 || now.rlim_cur >= wanted) return;
  now.rlim_cur = std::min(now.rlim_max, wanted);
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &now));
}

AccessOptions with_own_names(AccessOptions options, const std::vector<http::Address> &addresses) {
  for (const auto &address : addresses) options.hosts.push_back(address.host);
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) {
    const std::string_view whole = name.data();
    options.hosts.emplace_back(whole);
    options.hosts.emplace_back(whole.substr(0, whole.find('.')));
  }
  return options;
}

}  // namespace

Web::Web(WebOptions options, std::unique_ptr<Site> site)
    : options_(std::move(options)),
      site_(std::move(site)),
      access_(with_own_names(options_.access, options_.addresses)) {
  page_.set_frame_origins(options_.frame_origins);
  add_routes();
}

// One row per part that answers.
void Web::add_routes() {
  common_.add({.path = "/version", .handle = [this](const http::Request &, const Reader &, const http::Answer &answer) {
                 answer(version_answer(options_.version));
               }});
  const auto page = [this](const http::Request &request, const Reader &, const http::Answer &answer) {
    answer(page_.answer(request));
  };
  common_.add({.path = "/", .handle = page, .is_public = true});
  common_.add({.path = "/assets/", .handle = page, .is_public = true});
  common_.add({.path = "/icon.svg", .handle = page, .is_public = true});
  const auto log_in = [this](const http::Request &request, const Reader &, const http::Answer &answer) {
    access_.log_in(request, answer);
  };
  common_.add({.path = std::string(kLogin), .handle = log_in, .is_public = true, .takes_post = true});
  const auto log_out = [this](const http::Request &request, const Reader &, const http::Answer &answer) {
    answer(access_.log_out(request));
  };
  common_.add({.path = std::string(kLogout), .handle = log_out, .takes_post = true});
  routes_.add(
      {.path = "/healthz",
       .handle = [this](const http::Request &, const Reader &, const http::Answer &answer) { answer(site_->health()); },
       .is_public = true});
  for (auto &route : site_->routes()) routes_.add(std::move(route));
}

Result<std::unique_ptr<Web>> Web::open(WebOptions options, const MakeSite &make_site) {
  const auto tls = load(options.tls);
  if (!tls) return std::unexpected(tls.error());
  std::vector<http::Listener> listeners;
  for (const auto &address : options.addresses) {
    auto opened = http::listen_on(address);
    if (!opened && !options.is_asked_for) {
      log_line(LogLevel::notice, opened.error().line() + ": nothing is answered over HTTP");
      return nullptr;
    }
    if (!opened) return std::unexpected(opened.error());
    for (auto &listener : *opened) listeners.push_back(std::move(listener));
  }
  make_room_for(options.limits);
  std::unique_ptr<Web> web(new Web(std::move(options), make_site()));
  web->server_ = std::make_unique<http::Server>(
      http::ServerOptions{.limits = web->options_.limits, .tls = *tls}, std::move(listeners),
      [raw = web.get()](const http::Request &request, const http::Answer &answer) { raw->handle(request, answer); });
  return web;
}

Result<void> Web::reload(WebOptions options) {
  const bool asks_certificates = !options.tls.client_ca.empty();
  const bool has_tls = !options.tls.certificate.empty();
  auto good = check_exposure(options_.addresses, options.access, has_tls, asks_certificates);
  if (!good) return good;
  auto tls = load(options.tls);
  if (!tls) return std::unexpected(tls.error());
  server_->set_tls(std::move(*tls));
  page_.set_frame_origins(options.frame_origins);
  access_.replace(with_own_names(std::move(options.access), options_.addresses));
  return {};
}

namespace {

// All addresses in the page are relative: they need the slash. A name alone could be read as the address of another
// site.
http::Response with_slash(std::string_view path) {
  const auto name = http::percent_encoded(path.substr(path.rfind('/') + 1));
  return {.status = 303, .headers = {{"Location", "./" + name + "/"}}};
}

// Who logs in does so for all folders: a cookie counts for the one that gave it, and what lies below.
http::Response to_root(std::string_view folder, std::string_view rest) {
  std::string place;
  for (auto up = std::ranges::count(folder, '/'); up > 0; --up) place += "../";
  return {.status = 307, .headers = {{"Location", place + std::string(rest.substr(1))}}};
}

}  // namespace

void Web::handle(const http::Request &request, const http::Answer &answer) {
  const auto &base = options_.base_path;
  if (base.empty() || !request.path.starts_with(base)) return handle_below_base(request, answer);
  const auto rest = request.path.substr(base.size());
  if (rest.empty()) return answer(with_slash(base));
  if (!rest.starts_with('/')) return handle_below_base(request, answer);
  auto below = request;
  below.path = rest;
  handle_below_base(below, answer);
}

void Web::handle_below_base(const http::Request &request, const http::Answer &answer) {
  const auto folder = site_->folder(request.path);
  const auto rest = request.path.substr(folder.size());
  if (rest.empty()) return answer(with_slash(folder));
  if (!folder.empty() && (rest == kLogin || rest == kLogout)) return answer(to_root(folder, rest));
  if (const auto *common = common_.find(rest); common != nullptr) {
    auto below = request;
    below.path = rest;
    return answer_with(common, below, answer);
  }
  answer_with(routes_.find(request.path), request, answer);
}

// Null: there is no such path.
void Web::answer_with(const Route *route, const http::Request &request, const http::Answer &answer) {
  if (route != nullptr && route->is_public) return run(*route, request, {}, answer);
  // Whether there is such a path is told to those who may read.
  access_.check(request, [this, route, request, answer](Access::Verdict verdict) {
    const auto answer_then = [answer, delay = verdict.delay](http::Response response) {
      response.delay = delay;
      answer(std::move(response));
    };
    if (!verdict.reader) return answer_then(std::move(verdict.refusal));
    if (route == nullptr) return answer_then(http::error(404, "there is nothing here"));
    run(*route, request, *verdict.reader, answer_then);
  });
}

void Web::run(const Route &route, const http::Request &request, const Reader &reader, const http::Answer &answer) {
  if (auto refusal = refuse_method(route, request.method)) return answer(std::move(*refusal));
  if (!route.is_slow) return route.handle(request, reader, answer);
  if (slow_.post([&route, request, reader, answer] { route.handle(request, reader, answer); })) return;
  answer(try_later("too many requests wait for the history", 1));
}

}  // namespace gpulse::serve
