// SPDX-License-Identifier: Apache-2.0
#include "serve/api_history.hpp"
#include "serve/past_source.hpp"

namespace gpulse::serve {

namespace {

class HistoryFilePast final : public PastSource {
 public:
  HistoryFilePast(const std::string &path, const ReadersLimits &limits) : readers_(path, limits) {}

  void history(HistoryQuery query, const http::Answer &answer) override {
    readers_.ask([query = std::move(query)](history::Reader &reader) { return history_answer(reader, query); }, answer);
  }
  void processes(ProcessQuery query, bool sees_commands, const http::Answer &answer) override {
    readers_.ask([query = std::move(query), sees_commands](
                     history::Reader &reader) { return past_processes_answer(reader, query, sees_commands); },
                 answer);
  }
  void events(EventQuery query, const http::Answer &answer) override {
    readers_.ask([query = std::move(query)](history::Reader &reader) { return past_events_answer(reader, query); },
                 answer);
  }
  void findings(EventQuery query, std::vector<insight::LastingFinding> lasting, const http::Answer &answer) override {
    readers_.ask([query = std::move(query), lasting = std::move(lasting)](
                     history::Reader &reader) { return past_findings_answer(reader, query, lasting); },
                 answer);
  }

 private:
  HistoryReaders readers_;
};

}  // namespace

std::unique_ptr<PastSource> history_file_past(const std::string &path, const ReadersLimits &limits) {
  return std::make_unique<HistoryFilePast>(path, limits);
}

}  // namespace gpulse::serve
