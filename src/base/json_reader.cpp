// SPDX-License-Identifier: Apache-2.0
#include "base/json_reader.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace gpulse {

namespace {

constexpr std::uint32_t kHighSurrogate = 0xd800, kLowSurrogate = 0xdc00, kBehindSurrogates = 0xe000;
constexpr std::uint32_t kReplacement = 0xfffd;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string &to, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { to += static_cast<char>(byte); };
  const auto tail = [&](unsigned shift) { put(0x80U | ((code >> shift) & 0x3fU)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0U | (code >> 6U));
    tail(0);
  } else if (code < 0x10000) {
    put(0xe0U | (code >> 12U));
    tail(6);
    tail(0);
  } else {
    put(0xf0U | (code >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

// How many bytes the number takes that the text begins with, as JSON writes numbers; 0: there is none.
std::size_t number_size(std::string_view text) {
  std::size_t at = 0;
  const auto at_digit = [&] { return at < text.size() && is_digit(text[at]); };
  const auto digits = [&] {
    const auto first = at;
    while (at_digit()) ++at;
    return at > first;
  };
  if (at < text.size() && text[at] == '-') ++at;
  if (at < text.size() && text[at] == '0') {
    ++at;
  } else if (!digits()) {
    return 0;
  }
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digits()) return 0;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits()) return 0;
  }
  return at;
}

}  // namespace

void JsonReader::fail() {
  failed_ = true;
  at_ = text_.size();
  depth_ = 0;
}

void JsonReader::skip_blanks() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
    ++at_;
  }
}

bool JsonReader::take(char c) {
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

bool JsonReader::take_word(std::string_view word) {
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

JsonReader::Kind JsonReader::kind() {
  skip_blanks();
  if (failed_ || at_ >= text_.size()) return Kind::none;
  switch (text_[at_]) {
    case '{':
      return Kind::object;
    case '[':
      return Kind::array;
    case '"':
      return Kind::text;
    case 't':
    case 'f':
      return Kind::boolean;
    case 'n':
      return Kind::null;
    default:
      return text_[at_] == '-' || is_digit(text_[at_]) ? Kind::number : Kind::none;
  }
}

void JsonReader::begin(char first, char end) {
  skip_blanks();
  if (failed_ || depth_ == kMostDepth || !take(first)) return fail();
  open_[depth_++] = {end, true};
}

// False: what was open has ended here.
bool JsonReader::next_part() {
  if (failed_ || depth_ == 0) {
    fail();
    return false;
  }
  skip_blanks();
  auto &open = open_[depth_ - 1];
  if (take(open.end)) {
    --depth_;
    return false;
  }
  if (!open.is_first && !take(',')) {
    fail();
    return false;
  }
  open.is_first = false;
  skip_blanks();
  return true;
}

bool JsonReader::member(std::string &name) {
  if (!next_part()) return false;
  name.clear();
  const bool good = take_text(&name);
  skip_blanks();
  if (good && take(':')) return true;
  fail();
  return false;
}

bool JsonReader::element() { return next_part(); }

std::optional<std::uint32_t> JsonReader::take_hex() {
  constexpr std::size_t kDigits = 4;
  const auto digits = text_.substr(at_, kDigits);
  std::uint32_t code = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (digits.size() < kDigits || error != std::errc() || end != digits.data() + kDigits) return std::nullopt;
  at_ += kDigits;
  return code;
}

// What stands behind a backslash.
bool JsonReader::take_escape(std::string *to) {
  if (at_ >= text_.size()) return false;
  const char c = text_[at_++];
  if (c != 'u') {
    constexpr std::string_view kEscapes = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const auto place = kEscapes.find(c);
    if (place == std::string_view::npos) return false;
    if (to != nullptr) *to += kMeanings[place];
    return true;
  }
  auto code = take_hex();
  if (!code) return false;
  if (*code >= kHighSurrogate && *code < kBehindSurrogates) {
    const auto before = at_;
    const auto low = *code < kLowSurrogate && take_word("\\u") ? take_hex() : std::nullopt;
    if (low && *low >= kLowSurrogate && *low < kBehindSurrogates) {
      code = 0x10000U + ((*code - kHighSurrogate) << 10U) + (*low - kLowSurrogate);
    } else {
      // One half alone is no character; what follows it may still be one.
      at_ = before;
      code = kReplacement;
    }
  }
  if (to != nullptr) append_utf8(*to, *code);
  return true;
}

bool JsonReader::take_text(std::string *to) {
  if (!take('"')) return false;
  while (at_ < text_.size()) {
    const auto end = std::find_if(text_.begin() + static_cast<std::ptrdiff_t>(at_), text_.end(),
                                  [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' '; });
    const auto stop = static_cast<std::size_t>(end - text_.begin());
    if (to != nullptr) to->append(text_.substr(at_, stop - at_));
    at_ = stop;
    if (take('"')) return true;
    if (!take('\\') || !take_escape(to)) return false;
  }
  return false;
}

std::optional<std::string> JsonReader::text() {
  skip_blanks();
  std::string value;
  if (!failed_ && take_text(&value)) return value;
  fail();
  return std::nullopt;
}

std::optional<double> JsonReader::number() {
  skip_blanks();
  const auto size = failed_ ? 0 : number_size(text_.substr(at_));
  // None also where no double can hold it.
  const auto value = parse_double(text_.substr(at_, size));
  if (size == 0 || !value) {
    fail();
    return std::nullopt;
  }
  at_ += size;
  return value;
}

std::optional<bool> JsonReader::boolean() {
  skip_blanks();
  if (!failed_ && take_word("true")) return true;
  if (!failed_ && take_word("false")) return false;
  fail();
  return std::nullopt;
}

// One that is neither an object nor an array.
bool JsonReader::take_value() {
  switch (kind()) {
    case Kind::text:
      return take_text(nullptr);
    case Kind::number: {
      const auto size = number_size(text_.substr(at_));
      at_ += size;
      return size > 0;
    }
    case Kind::boolean:
      return take_word("true") || take_word("false");
    case Kind::null:
      return take_word("null");
    default:
      return false;
  }
}

void JsonReader::skip() {
  const auto outside = depth_;
  do {
    const auto what = kind();
    if (what == Kind::object) {
      begin_object();
    } else if (what == Kind::array) {
      begin_array();
    } else if (!take_value()) {
      return fail();
    }
    // Goes on with the next part of what is open, and out of all that ends here.
    while (!failed_ && depth_ > outside) {
      std::string unused;
      if (open_[depth_ - 1].end == '}' ? member(unused) : element()) break;
    }
  } while (!failed_ && depth_ > outside);
}

bool JsonReader::is_whole() {
  skip_blanks();
  return !failed_ && depth_ == 0 && at_ == text_.size() && at_ > 0;
}

}  // namespace gpulse
