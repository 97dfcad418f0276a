// SPDX-License-Identifier: Apache-2.0
// Reads JSON from outside piece by piece: no tree, no recursion, nothing allocated but the text that is asked for. What
// is no JSON, or deeper than allowed, ends it: every call answers "no more" from then on, and good() says so. Members
// that nobody wants are passed over with skip().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpulse {

class JsonReader {
 public:
  static constexpr std::size_t kMostDepth = 32;
  enum class Kind : std::uint8_t { object, array, text, number, boolean, null, none };

  explicit JsonReader(std::string_view text) : text_(text) {}

  // What stands next; `none`: nothing that may stand there.
  Kind kind();

  // for (json.begin_object(); json.member(name);) …
  void begin_object() { begin('{', '}'); }
  bool member(std::string &name);
  // for (json.begin_array(); json.element();) …
  void begin_array() { begin('[', ']'); }
  bool element();

  // Each takes the value that stands next; none, and an end to all reading, where it is of another kind.
  std::optional<std::string> text();
  std::optional<double> number();
  std::optional<bool> boolean();
  void skip();

  // Ends all reading, as a fault does.
  void fail();
  bool good() const { return !failed_; }
  // One whole value was read, and nothing follows it.
  bool is_whole();

 private:
  struct Open {
    char end;
    bool is_first;
  };

  void begin(char first, char end);
  bool next_part();
  bool take(char c);
  bool take_word(std::string_view word);
  // Into `to` where that is not null.
  bool take_text(std::string *to);
  bool take_escape(std::string *to);
  std::optional<std::uint32_t> take_hex();
  bool take_value();
  void skip_blanks();

  std::string_view text_;
  std::size_t at_ = 0;
  std::array<Open, kMostDepth> open_{};
  std::size_t depth_ = 0;
  bool failed_ = false;
};

}  // namespace gpulse
