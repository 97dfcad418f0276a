// SPDX-License-Identifier: Apache-2.0
#include "view/json_indent.hpp"

namespace gpulse::view {

namespace {

class Indenter {
 public:
  Indenter(std::string_view text, std::size_t blanks) : text_(text), blanks_(blanks) { out_.reserve(text.size() * 2); }

  std::string run() {
    for (at_ = 0; at_ < text_.size(); ++at_) step(text_[at_]);
    out_ += '\n';
    return std::move(out_);
  }

 private:
  void step(char c) {
    if (quoted_) return quoted(c);
    switch (c) {
      case '{':
      case '[':
        out_ += c;
        if (const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; next == '}' || next == ']') {
          out_ += next;
          ++at_;
        } else {
          break_line(++depth_);
        }
        break;
      case '}':
      case ']':
        break_line(--depth_);
        out_ += c;
        break;
      case ',':
        out_ += c;
        break_line(depth_);
        break;
      case ':':
        out_ += ": ";
        break;
      default:
        quoted_ = c == '"';
        out_ += c;
    }
  }
  void quoted(char c) {
    out_ += c;
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      quoted_ = false;
    }
  }
  void break_line(int depth) {
    out_ += '\n';
    out_.append(static_cast<std::size_t>(depth) * blanks_, ' ');
  }

  std::string_view text_;
  std::size_t blanks_;
  std::string out_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool quoted_ = false;
  bool escaped_ = false;
};

}  // namespace

std::string indent_json(std::string_view compact, std::size_t blanks) { return Indenter(compact, blanks).run(); }

}  // namespace gpulse::view
