// SPDX-License-Identifier: Apache-2.0
#include "serve/machine_site.hpp"

#include "serve/about.hpp"
#include "serve/health.hpp"

namespace gpulse::serve {

MachineSite::MachineSite(Board &board, MachineOptions options)
    : options_(std::move(options)),
      board_(board),
      metrics_(board_, {.processes = options_.process_metrics,
                        .pods = [this] { return options_.pods ? options_.pods->pods() : std::vector<PodDevice>{}; }}),
      api_(board, {.version = options_.version}, history_file_past(options_.history)) {}

http::Response MachineSite::health() { return health_answer(board_); }

std::vector<Route> MachineSite::routes() {
  std::vector<Route> routes;
  routes.push_back(
      {.path = "/metrics", .handle = [this](const http::Request &request, const Reader &, const http::Answer &answer) {
         metrics_.handle(request, answer);
       }});
  routes.push_back({.path = std::string(kApiPrefix),
                    .handle = [this](const http::Request &request, const Reader &reader, const http::Answer &answer) {
                      api_.handle(request, reader.sees_commands, answer);
                    }});
  routes.push_back({.path = std::string(kApiPrefix) + "about",
                    .handle = [this](const http::Request &request, const Reader &, const http::Answer &answer) {
                      answer(about_answer(request, options_.version, "machine"));
                    }});
  return routes;
}

}  // namespace gpulse::serve
