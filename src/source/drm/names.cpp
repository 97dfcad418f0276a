// SPDX-License-Identifier: Apache-2.0
#include "source/drm/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"

// In names_data.S.
extern "C" {
extern const char gpulse_pci_names_begin[];
extern const char gpulse_pci_names_end[];
extern const char gpulse_amd_names_begin[];
extern const char gpulse_amd_names_end[];
}

namespace gpulse::drm {

namespace {

constexpr std::size_t kMaxTable = 16U << 20U;
constexpr std::uint32_t kAmd = 0x1002;

std::optional<std::uint32_t> parse_id(std::string_view text) {
  return text.size() > 4 ? std::nullopt : parse_integer<std::uint32_t>(text, 16);
}

// The name in "744c  Navi 31 [Radeon …]", when the line has that id.
std::optional<std::string_view> name_of(std::string_view line, std::uint32_t id) {
  if (line.size() < 5 || line[4] != ' ' || parse_id(line.substr(0, 4)) != id) return std::nullopt;
  return trim(line.substr(4));
}

// The same for "148c 2427  RX 7800 XT", with two ids.
std::optional<std::string_view> name_of(std::string_view line, std::uint32_t first, std::uint32_t second) {
  const auto rest = name_of(line, first);
  return rest ? name_of(*rest, second) : std::nullopt;
}

// The vendor's lines of pci.ids. No map: most of its 40,000 lines are for hardware that is not here.
std::string_view vendor_part(std::string_view table, std::uint32_t vendor, std::string_view &name) {
  const auto id = fmt::format("{:04x}", vendor);
  for (std::size_t at = 0; at < table.size();) {
    const auto end = std::min(table.find('\n', at), table.size());
    const auto line = table.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(id)) continue;
    const auto found = name_of(line, vendor);
    if (!found) continue;
    name = *found;
    const auto rest = table.substr(std::min(at, table.size()));
    for (std::size_t stop = 0; stop < rest.size(); stop = std::min(rest.find('\n', stop), rest.size() - 1) + 1) {
      const char first = rest[stop];
      if (first != '\t' && first != '#' && first != '\n') return rest.substr(0, stop);
    }
    return rest;
  }
  return {};
}

// "Navi 31 [Radeon RX 7900 XTX]": the chip, and the product in brackets.
std::string_view readable(std::string_view name) {
  const auto open = name.find('[');
  const auto close = name.rfind(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close <= open + 1) return name;
  return trim(name.substr(open + 1, close - open - 1));
}

std::string_view between(const char *begin, const char *end) { return {begin, static_cast<std::size_t>(end - begin)}; }
std::string_view own_pci_names() { return between(&gpulse_pci_names_begin[0], &gpulse_pci_names_end[0]); }
std::string_view own_amd_names() { return between(&gpulse_amd_names_begin[0], &gpulse_amd_names_end[0]); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool has_digit(std::string_view word) { return std::any_of(word.begin(), word.end(), is_digit); }

// Where the words of `part` stand in the text, not as parts of longer ones: "7900 XT" is not in "7900 XTX".
std::size_t find_words(std::string_view text, std::string_view part) {
  const auto is_end = [&](std::size_t at) {
    if (at >= text.size()) return true;
    const char c = text[at];
    return !(is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'));
  };
  auto at = text.find(part);
  while (at != std::string_view::npos && ((at > 0 && !is_end(at - 1)) || !is_end(at + part.size()))) {
    at = text.find(part, at + 1);
  }
  return at;
}

// The words of AMD's product names before the number; the maker of a board may leave some of them out.
bool is_family(std::string_view word) {
  constexpr std::array<std::string_view, 13> kWords{"Radeon", "Mobility", "RX", "HD",      "R5",     "R7",      "R9",
                                                    "Pro",    "PRO",      "WX", "FirePro", "FireGL", "Instinct"};
  if (word.starts_with('[')) word.remove_prefix(1);
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

// "7900 XTX" of "Radeon RX 7900 XTX"; empty when no word of it has a digit.
std::string_view from_number(std::string_view product) {
  for (const auto word : split_words(product)) {
    if (has_digit(word) && !is_family(word)) {
      return product.substr(static_cast<std::size_t>(word.data() - product.data()));
    }
  }
  return {};
}

}  // namespace

std::string_view find_amd_name(std::string_view table, std::uint32_t product, std::optional<std::uint32_t> revision) {
  std::string_view only;
  while (!table.empty()) {
    auto line = next_piece(table, '\n');
    if (line.starts_with('#')) continue;
    if (parse_id(trim(next_piece(line, ','))) != product) continue;
    const auto found = parse_id(trim(next_piece(line, ',')));
    const auto name = trim(line);
    if (revision && found == revision) return name;
    if (revision || !found) continue;
    if (!only.empty() && only != name) return {};
    only = name;
  }
  return only;
}

PciNames find_pci_names(std::string_view table, std::uint32_t vendor, std::uint32_t product, std::uint32_t subvendor,
                        std::uint32_t subproduct) {
  PciNames names;
  auto part = vendor_part(table, vendor, names.vendor);
  bool inside = false;
  while (!part.empty()) {
    auto line = next_piece(part, '\n');
    if (!line.starts_with('\t')) continue;
    line.remove_prefix(1);
    const bool deeper = line.starts_with('\t');
    if (!deeper) {
      if (inside) break;
      const auto device = name_of(line, product);
      inside = device.has_value();
      if (inside) names.device = *device;
    } else if (inside) {
      if (const auto found = name_of(line.substr(1), subvendor, subproduct)) names.subsystem = *found;
    }
  }
  return names;
}

std::string narrowed(std::string_view products, std::string_view board) {
  std::string_view best;
  for (const auto part : split(products, '/')) {
    const auto number = from_number(trim(part));
    if (number.empty() || find_words(board, number) == std::string_view::npos) continue;
    if (best.empty() || number.contains(best))
      best = number;
    else if (!best.contains(number))
      return {};  // the board's name has several products too
  }
  if (best.empty()) return {};
  // With the words before it that belong to the product: "Radeon RX" but not "NITRO+".
  const auto at = find_words(board, best);
  auto begin = at;
  auto words = split_words(board.substr(0, at));
  for (; !words.empty() && is_family(words.back()); words.pop_back()) {
    begin = static_cast<std::size_t>(words.back().data() - board.data());
    if (board[begin] == '[') {
      ++begin;
      break;
    }
  }
  if (begin == at) return {};
  const auto name = board.substr(begin, at + best.size() - begin);
  const auto brand = products.substr(0, products.find(' '));
  return name.starts_with(brand) || name.starts_with("Mobility") ? std::string(name)
                                                                 : fmt::format("{} {}", brand, name);
}

std::string vendor_word(std::uint32_t vendor) {
  constexpr std::array<std::pair<std::uint32_t, std::string_view>, 6> kWords{{{kAmd, "AMD"},
                                                                              {0x8086, "Intel"},
                                                                              {0x10de, "NVIDIA"},
                                                                              {0x1da3, "Habana"},
                                                                              {0x1e52, "Tenstorrent"},
                                                                              {0x1af4, "Red Hat"}}};
  for (const auto &[id, word] : kWords) {
    if (id == vendor) return std::string(word);
  }
  return fmt::format("{:04x}", vendor);
}

std::optional<std::string> Names::read_table(std::string_view path) const {
  // A recorded machine seldom has the tables, but ids mean the same everywhere.
  auto text = root_.read(path, kMaxTable);
  return text ? std::move(text) : Sysroot().read(path, kMaxTable);
}

std::string Names::from_amd_tables(std::uint32_t product, std::optional<std::uint32_t> revision) const {
  const auto table = read_table("/usr/share/libdrm/amdgpu.ids");
  for (const std::string_view text : {table ? std::string_view(*table) : std::string_view(), own_amd_names()}) {
    const auto name = find_amd_name(text, product, revision);
    if (!name.empty()) return std::string(name);
  }
  return {};
}

std::string Names::from_pci_tables(const Card &card) const {
  const auto own = find_pci_names(own_pci_names(), card.vendor, card.product, 0, 0).device;
  for (const std::string_view path : {"/usr/share/hwdata/pci.ids", "/usr/share/misc/pci.ids"}) {
    const auto table = read_table(path);
    if (!table) continue;
    const auto names = find_pci_names(*table, card.vendor, card.product, card.subvendor, card.subproduct);
    const auto name = readable(names.device);
    // A table that is older than the product knows only the chip.
    if (name == names.device && !own.empty()) continue;
    if (name.empty()) continue;
    const auto product = card.vendor == kAmd ? narrowed(name, names.subsystem) : std::string();
    return product.empty() ? std::string(name) : product;
  }
  return std::string(own);
}

std::string Names::look_up(const Card &card) const {
  if (card.vendor == kAmd && card.revision) {
    if (auto name = from_amd_tables(card.product, card.revision); !name.empty()) return name;
  }
  auto name = from_pci_tables(card);
  if (name.empty() && card.vendor == kAmd) name = from_amd_tables(card.product, std::nullopt);
  return name;
}

std::string Names::product(const Card &card, std::string_view hint) {
  if (card.vendor == 0) return hint.empty() ? card.driver : std::string(hint);
  const auto key = fmt::format("{:x}:{:x}:{:x}:{:x}:{:x}", card.vendor, card.product, card.revision.value_or(0x100),
                               card.subvendor, card.subproduct);
  const auto [known, is_new] = known_.try_emplace(key);
  if (is_new) known->second = look_up(card);
  const auto vendor = vendor_word(card.vendor);
  if (!known->second.empty()) {
    return known->second.starts_with(vendor) ? known->second : vendor + " " + known->second;
  }
  if (!hint.empty()) return std::string(hint);
  return fmt::format("{} GPU {:04x}:{:04x}", vendor, card.vendor, card.product);
}

}  // namespace gpulse::drm
