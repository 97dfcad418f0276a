// SPDX-License-Identifier: Apache-2.0
#include "source/drm/card.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "source/sysfs/attribute.hpp"
#include "source/sysfs/power.hpp"

namespace gpulse::drm {

namespace {

constexpr std::string_view kGraphics = "/sys/class/drm";
constexpr std::string_view kAccelerators = "/sys/class/accel";

std::optional<std::uint32_t> number_after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  return parse_integer<std::uint32_t>(name.substr(prefix.size()));
}

std::optional<std::uint32_t> parse_hex(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  return parse_integer<std::uint32_t>(text, 16);
}

// Parses "1002:744C".
void parse_pair(std::string_view text, std::uint32_t &first, std::uint32_t &second) {
  const auto a = parse_hex(next_piece(text, ':'));
  const auto b = parse_hex(text);
  if (!a || !b) return;
  first = *a;
  second = *b;
}

void read_uevent(const Sysroot &root, Card &card) {
  const auto text = root.read(card.device + "/uevent", 4096).value_or("");
  std::string_view rest = sysfs::bare(text);
  while (!rest.empty()) {
    auto value = next_piece(rest, '\n');
    const auto key = next_piece(value, '=');
    if (key == "DRIVER") card.driver = sysfs::bare(value);
    if (key == "PCI_SLOT_NAME") card.pci = sysfs::bare(value);
    if (key == "PCI_ID") parse_pair(sysfs::bare(value), card.vendor, card.product);
    if (key == "PCI_SUBSYS_ID") parse_pair(sysfs::bare(value), card.subvendor, card.subproduct);
  }
}

void read_ids(const Sysroot &root, Card &card) {
  const auto take = [&](std::string_view file, std::uint32_t &number) {
    if (number != 0) return;
    number = parse_hex(sysfs::read_word(root, card.device + std::string(file))).value_or(0);
  };
  take("/vendor", card.vendor);
  take("/device", card.product);
  take("/subsystem_vendor", card.subvendor);
  take("/subsystem_device", card.subproduct);
  card.revision = parse_hex(sysfs::read_word(root, card.device + "/revision"));
}

void read_nodes(const Sysroot &root, Card &card, Node own) {
  card.nodes.push_back(own);
  if (own.major != kDrmMajor) return;
  for (const auto &name : root.list(card.device + "/drm")) {
    if (const auto minor = number_after(name, "renderD")) card.nodes.push_back({kDrmMajor, *minor});
  }
}

// Reads which driver it has: enough to decide whether the rest is wanted.
Card begin_card(const Sysroot &root, std::string name, std::string folder) {
  Card card;
  card.name = std::move(name);
  card.folder = std::move(folder);
  card.device = card.folder + "/device";
  read_uevent(root, card);
  if (card.driver.empty()) {
    const auto link = root.read_link(card.device + "/driver").value_or("");
    card.driver = link.substr(link.rfind('/') + 1);
  }
  return card;
}

// Reads its ids, and whether it is asleep.
void finish_card(const Sysroot &root, Card &card) {
  read_ids(root, card);
  card.asleep = is_asleep(root, card);
}

}  // namespace

Card describe_card(const Sysroot &root, std::string name, std::string folder, std::string driver) {
  auto card = begin_card(root, std::move(name), std::move(folder));
  if (card.driver.empty()) card.driver = std::move(driver);
  finish_card(root, card);
  return card;
}

std::vector<Card> list_cards(const Sysroot &root, DriverFilter accepts) {
  std::vector<Card> cards;
  const auto look = [&](std::string_view where, std::string_view prefix, std::uint32_t major) {
    for (const auto &name : root.list(where)) {
      // "card1-DP-1" is a connector.
      const auto minor = number_after(name, prefix);
      if (!minor) continue;
      auto card = begin_card(root, name, std::string(where) + "/" + name);
      if (card.driver.empty() || !accepts(card.driver)) continue;
      finish_card(root, card);
      read_nodes(root, card, {major, *minor});
      cards.push_back(std::move(card));
    }
  };
  look(kGraphics, "card", kDrmMajor);
  look(kAccelerators, "accel", kAccelMajor);
  std::sort(cards.begin(), cards.end(), [](const Card &a, const Card &b) {
    return std::tie(a.pci, a.nodes.front().major, a.nodes.front().minor) <
           std::tie(b.pci, b.nodes.front().major, b.nodes.front().minor);
  });
  return cards;
}

void explain_unlisted(const Sysroot &root, Discovery &found) {
  if (!found.entities.empty()) return;
  for (const auto folder : {kGraphics, kAccelerators}) {
    const int error = root.list_error(folder);
    if (error == 0 || error == ENOENT || error == ENOTDIR) continue;  // a kernel without graphics has no such folder
    found.problem = "cannot list " + std::string(folder);
    found.remedy = std::strerror(error);
    return;
  }
}

bool is_asleep(const Sysroot &root, const Card &card) { return sysfs::is_suspended(root, card.device); }

std::string default_uuid(const Sysroot &root, const Card &card) {
  if (!card.pci.empty()) return "PCI-" + card.pci;
  const auto link = root.read_link(card.device).value_or("");
  const auto place = link.substr(link.rfind('/') + 1);
  return "DRM-" + (place.empty() ? card.name : place);
}

Reading numa_node(const Sysroot &root, const Card &card) {
  const auto node = parse_integer<int>(sysfs::read_word(root, card.device + "/numa_node"));
  return node && *node >= 0 ? Reading(*node) : Reason::not_supported;
}

std::string driver_text(const Sysroot &root, const Card &card) {
  const auto version = sysfs::read_word(root, "/sys/module/" + card.driver + "/version");
  return version.empty() ? card.driver : card.driver + " " + version;
}

}  // namespace gpulse::drm
