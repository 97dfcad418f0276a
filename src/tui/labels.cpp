// SPDX-License-Identifier: Apache-2.0
#include "tui/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

#include "base/text.hpp"
#include "tui/session.hpp"
#include "tui/text_page.hpp"
#include "view/explain.hpp"
#include "view/glossary.hpp"

namespace gpulse::tui {

using term::Key;

namespace {

struct Word {
  int x = 0, columns = 0;
  std::string text{};
};

bool is_label_ink(const term::CellInk &ink, const Theme &theme) {
  const std::array inks{theme.heading, theme.title, theme.dim, theme.strong};
  return std::ranges::any_of(inks, [&](const term::Ink &each) {
    return ink.fore() == each.fore && (ink.attributes() & each.attributes) == each.attributes;
  });
}

// The words of a line in the inks of labels, without the mark of the sort.
std::vector<Word> words_of(const term::Screen &screen, int y, const Theme &theme) {
  constexpr std::array<std::string_view, 4> kSortMarks{"▼", "▲", "│", "|"};
  std::vector<Word> words;
  bool open = false;
  for (int x = 0; x < screen.size().columns; ++x) {
    const auto &cell = screen.at(x, y);
    const bool mark = std::ranges::find(kSortMarks, cell.text()) != kSortMarks.end();
    if (cell.text() == " " || mark || cell.length == 0 || !is_label_ink(cell.ink, theme)) {
      open = false;
      continue;
    }
    if (!open) words.push_back({x});
    open = true;
    words.back().text += cell.text();
    words.back().columns = x - words.back().x + 1;
  }
  return words;
}

// The label that begins with the first of these words, and the longer of two: "GPU MEM", not "GPU".
std::optional<PlacedLabel> first_label(std::span<const Word> words, int y) {
  constexpr std::size_t kLongest = 2;  // words of a label
  std::optional<PlacedLabel> found;
  std::string text;
  int end = 0;
  for (std::size_t i = 0; i < std::min(kLongest, words.size()); ++i) {
    if (i > 0 && words[i].x != end + 1) break;  // they stand apart: two labels
    text += (i > 0 ? " " : "") + words[i].text;
    end = words[i].x + words[i].columns;
    if (!view::label_line(text).empty()) found = PlacedLabel{{words[0].x, y, end - words[0].x, 1}, text};
  }
  return found;
}

std::vector<PlacedLabel> labels_in_row(const term::Screen &screen, int y, const Theme &theme) {
  const auto words = words_of(screen, y, theme);
  std::vector<PlacedLabel> labels;
  int end = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].x < end) continue;  // part of the one before
    auto label = first_label(std::span(words).subspan(i), y);
    if (!label) continue;
    end = label->where.x + label->where.columns;
    labels.push_back(std::move(*label));
  }
  return labels;
}

std::string line_of(const PlacedLabel &label) {
  return fmt::format("{}: {}", label.label, view::label_line(label.label));
}

// The line at the bottom, with the label that it is about marked.
class LabelLine final : public Component {
 public:
  Place place() const override { return Place::line; }

  bool handle(const term::Input &input, Session &session) override {
    const auto *key = std::get_if<term::KeyPress>(&input);
    if (key == nullptr) {
      const auto *mouse = std::get_if<term::MouseEvent>(&input);
      return mouse == nullptr || mouse->action != term::MouseAction::press;
    }
    if (key->key == Key::right || key->key == Key::down || (key->key == Key::tab && !key->shift)) return move(1);
    if (key->key == Key::left || key->key == Key::up || key->key == Key::tab) return move(-1);
    if (key->key == Key::home) return move(-static_cast<int>(at_));
    if (key->key == Key::end) return move(static_cast<int>(labels_.size()));
    if (key->key == Key::enter && at_ < labels_.size()) open_explanation(session, labels_[at_].label);
    return false;
  }

  void draw(const term::Area &area, const Look &look, Session &session) override {
    std::erase_if(session.hits, [](const Hit &hit) { return hit.kind == Hit::Kind::key; });
    labels_ = labels_on(area.screen(), *look.theme);
    at_ = std::min(at_, labels_.empty() ? 0 : labels_.size() - 1);
    const auto line = area.row(area.rows() - 1);
    line.fill(look.theme->text);
    const auto note = key_note(key_bar());
    const int room = line.columns() - term::width(note) - 2;
    if (labels_.empty()) {
      line.put(0, 0, "there is no label on this screen", look.theme->dim);
      return;
    }
    const auto &label = labels_[at_];
    area.part(label.where).highlight(look.theme->selected, term::kReverse);
    line.put(0, 0, term::cut(line_of(label), room > 40 ? room : line.columns(), look.style.ellipsis()),
             look.theme->text);
    if (room > 40) line.put(line.columns() - term::width(note), 0, note, look.theme->dim);
  }

  std::vector<KeyHint> key_bar() const override {
    return {{"Left Right", "other labels"}, {"Enter", "says more"}, {"Esc", "closes"}};
  }

 private:
  bool move(int by) {
    const auto count = static_cast<int>(labels_.size());
    if (count > 0) at_ = static_cast<std::size_t>(std::clamp(static_cast<int>(at_) + by, 0, count - 1));
    return true;
  }

  static void open_explanation(Session &session, const std::string &label) {
    constexpr int kFrame = 4;
    const term::Style plain{
        .colour = false, .unicode = session.options.unicode, .width = std::max(20, session.size.columns - kFrame)};
    const auto text = view::explain(label, plain);
    if (!text) return session.say(text.error().line(), true);
    TextLines lines;
    for (const auto line : split(std::string_view(*text).substr(0, text->size() - 1), '\n')) {
      lines.push_back({{std::string(line), term::Colour::plain}});
    }
    session.open(std::make_unique<TextPage>(label, std::move(lines)));
  }

  std::vector<PlacedLabel> labels_;  // of the last drawing
  std::size_t at_ = 0;
};

}  // namespace

std::vector<PlacedLabel> labels_on(const term::Screen &screen, const Theme &theme) {
  std::vector<PlacedLabel> labels;
  for (int y = 0; y < screen.size().rows; ++y) {
    auto row = labels_in_row(screen, y, theme);
    std::ranges::move(row, std::back_inserter(labels));
  }
  return labels;
}

std::string label_words_at(const term::Screen &screen, const Theme &theme, int x, int y) {
  if (!screen.area().contains(x, y)) return {};
  const auto labels = labels_in_row(screen, y, theme);
  const auto found = std::ranges::find_if(labels, [&](const PlacedLabel &each) { return each.where.contains(x, y); });
  return found == labels.end() ? std::string() : line_of(*found);
}

void open_label_line(Session &session) { session.open(std::make_unique<LabelLine>()); }

}  // namespace gpulse::tui
