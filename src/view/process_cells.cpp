// SPDX-License-Identifier: Apache-2.0
#include "view/process_cells.hpp"

#include "base/text.hpp"
#include "term/width.hpp"
#include "view/cell.hpp"
#include "view/command_words.hpp"

namespace gpulse::view {

using term::Cell;
using term::Colour;
using term::Style;

std::string type_letters(std::uint8_t types) {
  std::string letters;
  if ((types & static_cast<std::uint8_t>(ProcessType::compute)) != 0) letters += 'C';
  if ((types & static_cast<std::uint8_t>(ProcessType::graphics)) != 0) letters += 'G';
  if ((types & static_cast<std::uint8_t>(ProcessType::mps)) != 0) letters += 'M';
  return letters.empty() ? "?" : letters;
}

std::string process_text(const Process &process, Role role, const Style &style) {
  return term::clean(text_by_role(process.texts.get(), role), style.unicode);
}

Cell process_text_cell(const Process &process, Role role, const Style &style) {
  auto text = process_text(process, role, style);
  return text.empty() ? missing_cell(style) : Cell(std::move(text));
}

Cell owner_cell(const Process &process, const Style &style) {
  constexpr int kIdentifier = 12;
  for (const auto role : {Role::job, Role::pod, Role::container}) {
    const auto text = process_text(process, role, style);
    if (!text.empty()) return role == Role::container ? term::cut(text, kIdentifier, "") : text;
  }
  return missing_cell(style);
}

namespace {

// From the arguments themselves where they are known: one may hold blanks.
std::string brief_command_of(const Process &process) {
  if (process.arguments != nullptr && !process.arguments->empty()) {
    return brief_command({process.arguments->begin(), process.arguments->end()});
  }
  return brief_command(split_words(text_by_role(process.texts.get(), Role::command)));
}

}  // namespace

Cell command_cell(const Process &process, const Style &style, CommandForm form) {
  if (process.foreign) return {"host pid", Colour::dim};
  if (process.gone) return {"gone", Colour::dim};
  const auto command = form == CommandForm::whole ? process_text(process, Role::command, style)
                                                  : term::clean(printable(brief_command_of(process)), style.unicode);
  return command.empty() ? process_text_cell(process, Role::name, style) : Cell(command);
}

bool has_owner(const Process &process) {
  return !text_by_role(process.texts.get(), Role::job).empty() ||
         !text_by_role(process.texts.get(), Role::pod).empty() ||
         !text_by_role(process.texts.get(), Role::container).empty();
}

}  // namespace gpulse::view
