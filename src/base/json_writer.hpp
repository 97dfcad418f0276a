// SPDX-License-Identifier: Apache-2.0
// Writes JSON into a string: commas and escaping are its business, order is the caller's. No tree, no allocation of
// its own besides the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpulse {

class JsonWriter {
 public:
  explicit JsonWriter(std::string &out) : out_(out) {}

  void begin_object();
  void end_object();
  void begin_array();
  void end_array();
  void key(std::string_view name);

  void value(std::string_view text);
  void value(const char *text) { value(std::string_view(text)); }
  void value(bool flag);
  void value(std::uint64_t number);
  void value(std::int64_t number);
  void value(std::uint32_t number) { value(std::uint64_t{number}); }
  void value(int number) { value(std::int64_t{number}); }
  // Shortest text that reads back as the same double; not-a-number and infinities become null.
  void value(double number);
  void null();
  // Members or values that another writer has written, with the commas between them.
  void written(std::string_view text);

  template <class T>
  void member(std::string_view name, const T &content) {
    key(name);
    value(content);
  }

 private:
  void append(std::uint64_t number);
  bool append_thousandths(double number);
  void separate();

  std::string &out_;
  bool fresh_ = true;
};

}  // namespace gpulse
