// SPDX-License-Identifier: Apache-2.0
// What the agent answers to a scraper: the readings of the newest sample, what it has counted since the one before,
// who holds the GPUs, what is found to be wrong, and how the agent itself is doing. What it says of processes never
// includes a command line. One thread at a time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "insight/owners.hpp"
#include "insight/tally.hpp"
#include "model/snapshot.hpp"
#include "view/agent_numbers.hpp"
#include "view/prometheus.hpp"

namespace gpulse::view {

// Everything that a page is made of.
struct Scrape {
  const Snapshot *snapshot = nullptr;  // null: there is none yet
  bool is_fresh = false;               // it tells what is now; else it has no readings to show
  const insight::TallyReport &tally;
  std::span<const insight::DeviceOwners> owners{};
  const AgentNumbers &agent;
};

class ScrapeView {
 public:
  // With `processes`: series for the largest processes too.
  explicit ScrapeView(Exposition exposition, bool processes = false, const PageContents &contents = whole_page());

  // The whole text, with its end.
  std::string write(const Scrape &scrape);

 private:
  // A family that every text of ours may have.
  struct Named {
    std::string name, head;
  };
  struct ProcessFamily {
    MetricId id;
    Named named;
    double scale;
  };
  Named named(std::string_view name, std::string_view help) const;
  void write_xids(const insight::TallyReport &tally, std::string &out) const;
  void write_findings(const insight::TallyReport &tally, std::string &out) const;
  void write_owners(std::span<const insight::DeviceOwners> owners, std::string &out) const;
  void write_processes(const Snapshot &snapshot, std::string &out) const;
  void write_agent(const Scrape &scrape, std::string &out) const;
  void write_alerts(const AgentNumbers::Alerts &alerts, std::string &out) const;
  void write_calls(const AgentNumbers &agent, std::string &out) const;

  Exposition exposition_;
  PrometheusView readings_;
  bool has_calls_;
  std::vector<ProcessFamily> processes_;
  std::size_t size_ = 0;  // of the last text
};

}  // namespace gpulse::view
