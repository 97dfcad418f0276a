// SPDX-License-Identifier: Apache-2.0
#include "tui/prompt.hpp"

#include <algorithm>
#include <array>

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

std::size_t before(const Prompt &prompt) {
  auto at = prompt.at > 0 ? prompt.at - 1 : 0;
  while (at > 0 && continues(prompt.text[at])) --at;
  return at;
}

std::size_t after(const Prompt &prompt) {
  auto at = std::min(prompt.at + 1, prompt.text.size());
  while (at < prompt.text.size() && continues(prompt.text[at])) ++at;
  return at;
}

PromptAnswer insert(Prompt &prompt, std::string_view text) {
  if (text.empty() || prompt.text.size() + text.size() > kLongest) return PromptAnswer::none;
  prompt.text.insert(prompt.at, text);
  prompt.at += text.size();
  return PromptAnswer::changed;
}

PromptAnswer erase(Prompt &prompt, std::size_t from, std::size_t to) {
  if (from >= to) return PromptAnswer::none;
  prompt.text.erase(from, to - from);
  prompt.at = from;
  return PromptAnswer::changed;
}

PromptAnswer handle_control(Prompt &prompt, char32_t letter) {
  if (letter == U'a') return prompt.at = 0, PromptAnswer::none;
  if (letter == U'e') return prompt.at = prompt.text.size(), PromptAnswer::none;
  if (letter == U'u') return erase(prompt, 0, prompt.at);
  if (letter == U'k') return erase(prompt, prompt.at, prompt.text.size());
  if (letter == U'c' || letter == U'g') return PromptAnswer::cancelled;
  if (letter == U'w') {
    auto from = prompt.at;
    while (from > 0 && prompt.text[from - 1] == ' ') --from;
    while (from > 0 && prompt.text[from - 1] != ' ') --from;
    return erase(prompt, from, prompt.at);
  }
  return PromptAnswer::none;
}

PromptAnswer handle_key(Prompt &prompt, const KeyPress &key) {
  switch (key.key) {
    case Key::enter:
      return PromptAnswer::done;
    case Key::escape:
      return PromptAnswer::cancelled;
    case Key::left:
      return prompt.at = before(prompt), PromptAnswer::none;
    case Key::right:
      return prompt.at = after(prompt), PromptAnswer::none;
    case Key::home:
      return prompt.at = 0, PromptAnswer::none;
    case Key::end:
      return prompt.at = prompt.text.size(), PromptAnswer::none;
    case Key::backspace:
      return prompt.text.empty() ? PromptAnswer::cancelled : erase(prompt, before(prompt), prompt.at);
    case Key::remove:
      return erase(prompt, prompt.at, after(prompt));
    case Key::character:
      break;
    default:
      return PromptAnswer::none;
  }
  if (key.ctrl) return handle_control(prompt, key.character);
  if (key.alt || key.character < 32) return PromptAnswer::none;
  return insert(prompt, term::clean(utf8(key.character)));
}

}  // namespace

PromptAnswer handle_prompt(Prompt &prompt, const term::Input &input) {
  if (const auto *key = std::get_if<KeyPress>(&input)) return handle_key(prompt, *key);
  if (const auto *paste = std::get_if<term::Paste>(&input)) return insert(prompt, term::clean(paste->text));
  return PromptAnswer::none;
}

void draw_prompt(const term::Area &area, const Look &look, const Prompt &prompt) {
  area.fill(look.theme->text);
  int x = area.put(0, 0, prompt.question, look.theme->title) + 1;
  const std::string_view all = prompt.text;
  auto head = all.substr(0, prompt.at);
  // The cursor stays in sight: a long text loses its start.
  const int room = std::max(1, area.columns() - x - 1);
  while (term::width(head) > room) {
    std::size_t step = 1;
    while (step < head.size() && continues(head[step])) ++step;
    head.remove_prefix(step);
  }
  x += area.put(x, 0, head, look.theme->text);
  auto under = all.substr(prompt.at, after(prompt) - prompt.at);
  if (under.empty()) under = " ";
  x += area.put(x, 0, under, look.theme->text.with(term::kReverse));
  x += area.put(x, 0, all.substr(after(prompt)), look.theme->text);
  if (!prompt.trouble.empty()) area.put(x + 2, 0, prompt.trouble, look.theme->warn);
}

}  // namespace gpulse::tui
