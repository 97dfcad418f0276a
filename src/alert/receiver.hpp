// SPDX-License-Identifier: Apache-2.0
// Who is told of alerts, and telling one of them. One thread per receiver.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "alert/alert.hpp"
#include "base/result.hpp"
#include "http/client.hpp"

namespace gpulse::alert {

enum class ReceiverKind : std::uint8_t { webhook, slack, ntfy, exec, log };
inline constexpr std::string_view kReceiverKinds[] = {"webhook", "slack", "ntfy", "exec", "log"};

struct Receiver {
  std::string name{};
  ReceiverKind kind = ReceiverKind::log;
  std::string url{}, url_file{};       // one of them; the file is read anew for every message
  http::ClientOptions client{};        // its times are `time`
  std::vector<std::string> command{};  // of exec: the program by its whole path, and its arguments
  std::chrono::nanoseconds time = std::chrono::seconds(10);
  AlertLevel least = AlertLevel::info;
  std::vector<std::string> rules{};  // patterns; empty: all
  bool resolved = true;              // it is also told what is over

  bool wants(const Message &message) const;
};

struct Delivery {
  enum class End : std::uint8_t {
    arrived,
    later,    // it is away or busy
    refused,  // this message: asking again and again helps nobody
    wrong,    // the address or our rights are: somebody has to mend that
  };
  End end = End::arrived;
  std::string words{};           // why not; never holds an address's path, which may be a secret
  std::chrono::seconds wait{0};  // that it asks for
};

class Sender {
 public:
  explicit Sender(Receiver receiver);
  Delivery send(const Message &message, const std::stop_token &stop);

 private:
  Delivery post(const Message &message, const std::stop_token &stop);
  Result<http::Url> url() const;

  Receiver receiver_;
  std::optional<http::Client> client_;
};

// Runs a program without a shell: the input on its standard input, its variables beside those of this process. It gets
// no other file of ours, and is ended when its time is over or a stop is asked for.
Delivery run_program(const std::vector<std::string> &command, const std::string &input,
                     const std::vector<std::pair<std::string, std::string>> &variables, std::chrono::nanoseconds time,
                     const std::stop_token &stop);

// A file with a secret that everybody may read is a mistake.
Result<std::string> read_secret_file(const std::string &file);

}  // namespace gpulse::alert
