// SPDX-License-Identifier: Apache-2.0
#include "serve/password.hpp"

#include <crypt.h>
#include <sys/random.h>

#include <memory>

// libcrypt would take this one, for salts that we never make, from glibc 2.36 and bind the program to it.
extern "C" [[gnu::visibility("hidden")]] void arc4random_buf(void *buffer, std::size_t size) noexcept {
  static_cast<void>(::getrandom(buffer, size, 0));
}

namespace gpulse::serve {

namespace {

constexpr std::size_t kMostKnown = 256;
// Of nobody: with it, a name that is not known takes as long as one that is.
constexpr const char *kNobody = "$2b$10$abcdefghijklmnopqrstuu4T826PRnz0Hu6YlprUuxkZxOOj5Fw5S";

}  // namespace

bool is_bcrypt_hash(const std::string &text) {
  constexpr std::string_view kAlphabet = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  const bool has_form =
      text.size() == 60 && (text.starts_with("$2b$") || text.starts_with("$2y$") || text.starts_with("$2a$"));
  return has_form && text[6] == '$' && text.substr(4, 2) >= "04" && text.substr(4, 2) <= "16" &&
         text.find_first_not_of(kAlphabet, 7) == std::string::npos;
}

bool is_password_of(const std::string &hash, const std::string &password) {
  const auto data = std::make_unique<crypt_data>();
  const char *made = ::crypt_r(password.c_str(), hash.c_str(), data.get());
  return made != nullptr && http::is_same_secret(made, hash);
}

Passwords::Passwords() { static_cast<void>(::getrandom(key_.data(), key_.size(), 0)); }

bool Passwords::check(const Users &users, const std::string &name, const std::string &password,
                      std::function<void(bool)> done) {
  const auto user = users.find(name);
  const bool is_known = user != users.end();
  const std::string hash = is_known ? user->second : kNobody;
  const std::array<std::string_view, 3> parts{name, password, hash};
  const auto secret = http::hash_secret(key_, parts);
  const auto is_remembered = [&] {
    const std::lock_guard lock(mutex_);
    return is_known && known_.contains(secret);
  };
  if (is_remembered()) {
    done(true);
    return true;
  }
  return worker_.post([this, is_known, hash, password, secret, done = std::move(done)] {
    const bool good = is_password_of(hash, password) && is_known;
    if (good) {
      const std::lock_guard lock(mutex_);
      if (known_.size() >= kMostKnown) known_.clear();
      known_.insert(secret);
    }
    done(good);
  });
}

}  // namespace gpulse::serve
