// SPDX-License-Identifier: Apache-2.0
// Users and their passwords, which are kept as bcrypt's hashes. That is slow on purpose: a thread of its own does one
// at a time, and what was right once is remembered. Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "http/tls.hpp"
#include "http/workers.hpp"

namespace gpulse::serve {

using Users = std::map<std::string, std::string>;  // hashes by name

// "$2b$10$" and 53 more characters.
bool is_bcrypt_hash(const std::string &text);
// Takes as long as the hash says.
bool is_password_of(const std::string &hash, const std::string &password);

class Passwords {
 public:
  Passwords();

  // Calls back here where the answer is known, else from the thread. False: too many are waiting.
  bool check(const Users &users, const std::string &name, const std::string &password, std::function<void(bool)> done);

 private:
  std::array<std::byte, 32> key_{};
  std::mutex mutex_;                  // guards the next
  std::set<http::SecretHash> known_;  // of name, password and the user's hash, where they are right
  http::Workers worker_{1, 32};       // the last to be made and the first to end: it uses the rest
};

}  // namespace gpulse::serve
