// SPDX-License-Identifier: Apache-2.0
#include "tui/prompt.hpp"

#include <algorithm>
#include <array>

#include "tui/session.hpp"

namespace gpulse::tui {

using term::Key;
using term::KeyPress;

namespace {

constexpr std::size_t kLongest = 400;

std::string utf8(char32_t character) {
  std::array<char, 4> bytes{};
  return {bytes.data(), term::encode_utf8(character, bytes)};
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

Prompt::Prompt(std::string question, std::string text, Changed changed, Done done)
    : question_(std::move(question)),
      text_(std::move(text)),
      first_text_(text_),
      at_(text_.size()),
      changed_(std::move(changed)),
      done_(std::move(done)) {}

std::size_t Prompt::before() const {
  auto at = at_ > 0 ? at_ - 1 : 0;
  while (at > 0 && continues(text_[at])) --at;
  return at;
}

std::size_t Prompt::after() const {
  auto at = std::min(at_ + 1, text_.size());
  while (at < text_.size() && continues(text_[at])) ++at;
  return at;
}

Prompt::Answer Prompt::insert(std::string_view text) {
  if (text.empty() || text_.size() + text.size() > kLongest) return Answer::none;
  text_.insert(at_, text);
  at_ += text.size();
  return Answer::changed;
}

Prompt::Answer Prompt::erase(std::size_t from, std::size_t to) {
  if (from >= to) return Answer::none;
  text_.erase(from, to - from);
  at_ = from;
  return Answer::changed;
}

Prompt::Answer Prompt::handle_control(char32_t letter) {
  if (letter == U'a') return at_ = 0, Answer::none;
  if (letter == U'e') return at_ = text_.size(), Answer::none;
  if (letter == U'u') return erase(0, at_);
  if (letter == U'k') return erase(at_, text_.size());
  if (letter == U'c' || letter == U'g') return Answer::cancelled;
  if (letter == U'w') {
    auto from = at_;
    while (from > 0 && text_[from - 1] == ' ') --from;
    while (from > 0 && text_[from - 1] != ' ') --from;
    return erase(from, at_);
  }
  return Answer::none;
}

Prompt::Answer Prompt::handle_key(const KeyPress &key) {
  switch (key.key) {
    case Key::enter:
      return Answer::done;
    case Key::escape:
      return Answer::cancelled;
    case Key::left:
      return at_ = before(), Answer::none;
    case Key::right:
      return at_ = after(), Answer::none;
    case Key::home:
      return at_ = 0, Answer::none;
    case Key::end:
      return at_ = text_.size(), Answer::none;
    case Key::backspace:
      return text_.empty() ? Answer::cancelled : erase(before(), at_);
    case Key::remove:
      return erase(at_, after());
    case Key::character:
      break;
    default:
      return Answer::none;
  }
  if (key.ctrl) return handle_control(key.character);
  if (key.alt || key.character < 32) return Answer::none;
  return insert(term::clean(utf8(key.character)));
}

bool Prompt::handle(const term::Input &input, Session &session) {
  auto answer = Answer::none;
  if (const auto *key = std::get_if<KeyPress>(&input)) answer = handle_key(*key);
  if (const auto *paste = std::get_if<term::Paste>(&input)) answer = insert(term::clean(paste->text));
  if (answer == Answer::none) return true;
  if (answer == Answer::done) {
    if (!problem_.empty()) session.say(problem_, true);
    done_(session, text_);
    return false;
  }
  if (answer == Answer::cancelled) text_ = first_text_;
  if (changed_) problem_ = changed_(session, text_);
  return answer != Answer::cancelled;
}

void Prompt::draw(const term::Area &area, const Look &look, Session &session) {
  // Keys that are covered cannot be clicked on.
  std::erase_if(session.hits, [](const Hit &hit) { return hit.kind == Hit::Kind::key; });
  const auto line = area.row(area.rows() - 1);
  line.fill(look.theme->text);
  int x = line.put(0, 0, question_, look.theme->title) + 1;
  const std::string_view all = text_;
  auto head = all.substr(0, at_);
  // A long text loses its start, so that the cursor stays in sight.
  const int room = std::max(1, line.columns() - x - 1);
  while (term::width(head) > room) {
    std::size_t step = 1;
    while (step < head.size() && continues(head[step])) ++step;
    head.remove_prefix(step);
  }
  x += line.put(x, 0, head, look.theme->text);
  auto under = all.substr(at_, after() - at_);
  if (under.empty()) under = " ";
  x += line.put(x, 0, under, look.theme->text.with(term::kReverse));
  x += line.put(x, 0, all.substr(after()), look.theme->text);
  if (!problem_.empty()) line.put(x + 2, 0, problem_, look.theme->warn);
}

}  // namespace gpulse::tui
