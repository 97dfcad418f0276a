// SPDX-License-Identifier: Apache-2.0
// A fleet over HTTP: the overview out of a metrics engine, and each of its hosts as an agent would show it.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fleet/fleet_page.hpp"
#include "http/workers.hpp"
#include "serve/fleet_live.hpp"
#include "serve/fleet_query.hpp"
#include "serve/host_sites.hpp"
#include "serve/shared_asks.hpp"
#include "serve/site.hpp"
#include "serve/timer.hpp"

namespace gpulse::serve {

struct FleetSiteOptions {
  std::string version{};
  fleet::EngineOptions engine{};
  std::chrono::nanoseconds interval = std::chrono::seconds(15);
  std::chrono::nanoseconds patience = std::chrono::seconds(3);  // until a client is told to ask again
  std::chrono::nanoseconds whole = std::chrono::seconds(30);    // for all questions of one answer together
};

class FleetSite final : public Site {
 public:
  explicit FleetSite(FleetSiteOptions options);

  http::Response health() override;
  std::vector<Route> routes() override;
  std::string_view folder(std::string_view path) const override;

 private:
  // Of one fleet and one question, as it was made last.
  struct Made {
    std::string key;
    fleet::FleetPtr fleet;  // kept, so that no other one gets its address
    std::mutex mutex;       // guards these
    std::optional<http::Response> answer{};
    std::vector<http::Answer> waiting{};  // for the one that makes it, of many who come at once
  };

  void handle(const http::Request &request, const http::Answer &answer);
  http::Response about(const http::Request &request) const;
  void overview(const http::Request &request, const http::Answer &answer);
  void overview_then(const FleetAsked &asked, const http::Answer &answer);
  void curves(const http::Request &request, const http::Answer &answer);
  void host(const http::Request &request, const Reader &reader, const http::Answer &answer);
  void open_host(const fleet::FleetNews &news, const std::string &key, const http::Request &request, bool sees_commands,
                 const http::Answer &answer);
  std::shared_ptr<Made> made_of(const fleet::FleetPtr &fleet, std::string key);
  void page(const fleet::FleetPtr &fleet, const fleet::FleetQuestion &question, const fleet::FleetPageNotes &notes,
            const http::Answer &answer);
  void live_page(const fleet::FleetNews &news, const fleet::FleetQuestion &question, const http::Answer &answer);
  http::Response too_slow() const;
  void tidy();

  const FleetSiteOptions options_;
  const Text place_;
  std::mutex mutex_;                        // guards what follows
  std::deque<std::shared_ptr<Made>> made_;  // the newest last
  // Each ends before those above it, which it uses.
  http::Workers makers_{2, 64};  // of pages, which take a while where there are many GPUs
  Timer timer_;
  SharedAsks<http::Response> answers_;
  SharedAsks<fleet::EngineResult<fleet::FleetPtr>> moments_{{.threads = 2, .waiting = 16, .kept = 8}};
  HostSites hosts_{answers_, timer_};
  FleetLive live_;
  Timer tidier_;
};

}  // namespace gpulse::serve
