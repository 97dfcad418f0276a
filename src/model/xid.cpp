// SPDX-License-Identifier: Apache-2.0
#include "model/xid.hpp"

#include <algorithm>
#include <array>

namespace gpulse {

namespace {

constexpr std::string_view kBadCommands = "the device stopped on a bad or damaged stream of commands";
constexpr std::string_view kBadCommandsDo =
    "restart the program and check its device code; if other programs get it too, suspect the bus or the board";
constexpr std::string_view kComplaint = "a complaint of the firmware or the driver";
constexpr std::string_view kComplaintDo = "ignore it once; report it to the vendor if it comes again";
constexpr std::string_view kCopy = "a copy engine failed";
constexpr std::string_view kMedia = "a video, JPEG or optical-flow engine failed";
constexpr std::string_view kRestart = "restart the program";
constexpr std::string_view kTimeout = "an engine or a switch between programs took too long";
constexpr std::string_view kController = "a controller inside the device halted";
constexpr std::string_view kReset = "reset the device";
constexpr std::string_view kResetSupport = "reset the device; if it comes again ask the vendor's support";
constexpr std::string_view kLink5 = "an error in a unit of the fifth-generation NVLink";
constexpr std::string_view kLink5Do = "reset the device and check the fabric: cables, switches, fabric manager";
constexpr std::string_view kInit = "training a link or starting the device failed";
constexpr std::string_view kHardware = "reset the device; if it comes again suspect the hardware";
constexpr std::string_view kSmoothing = "news of the power-smoothing circuit and its life span";
constexpr std::string_view kEccDetail = "tells where the double-bit memory error (XID 48) was: 171 DRAM, 172 SRAM";
constexpr std::string_view kDoubleBitDo =
    "the program that used the memory ends; take the device out of work, reset it, and look for 63, 64, 94 or 95 "
    "beside it";
constexpr std::string_view kUnitRetired = "retiring a broken unit or memory channel";
constexpr std::string_view kFirmware = "the firmware processor (GSP) did not answer or reported an error";
constexpr std::string_view kFirmwareDo = "reset the device; a newer driver often helps";

// Sorted by number.
constexpr std::array kXids{
    Xid{8, 8, kBadCommands, kBadCommandsDo, false},
    Xid{11, 11, kBadCommands, kBadCommandsDo, false},
    Xid{13, 13, "an exception in the graphics or compute engine, most often an access out of bounds",
        "the program is at fault: run it under compute-sanitizer; if several programs get it on one device, suspect "
        "the device",
        true},
    Xid{25, 25, kBadCommands, kBadCommandsDo, false},
    Xid{31, 31, "a memory page fault: the program used an address it does not own",
        "the program is at fault: run it under compute-sanitizer", true},
    Xid{32, 32, kBadCommands, kBadCommandsDo, false},
    Xid{37, 38, kComplaint, kComplaintDo, false},
    Xid{39, 41, kCopy, kRestart, false},
    Xid{43, 43, "a program's channel was reset after its fault", "look at the program; the device is fine", true},
    Xid{44, 44, kComplaint, kComplaintDo, false},
    Xid{45, 45, "a program's channel was taken down, after an earlier error or because the program was killed",
        "look at the XID that came before; alone it is harmless", true},
    Xid{46, 46, kTimeout, kReset, false},
    Xid{48, 48, "a double-bit memory error that cannot be corrected", kDoubleBitDo, false},
    Xid{54, 54, "the board's extra power cable is missing", "check the power cable", false},
    Xid{60, 60, kMedia, kRestart, false},
    Xid{61, 62, kController, kResetSupport, false},
    Xid{63, 63, "a bad page was retired, or a row of memory was replaced by a spare one",
        "nothing is lost now; reset the device when it is idle so that the repair takes effect", false},
    Xid{64, 64, "retiring a page or replacing a row of memory failed",
        "reset the device; if it comes again the board has to be replaced", false},
    Xid{66, 67, kComplaint, kComplaintDo, false},
    Xid{68, 68, kMedia, kRestart, true},
    Xid{69, 69, kBadCommands, kBadCommandsDo, false},
    Xid{70, 72, kCopy, kRestart, false},
    Xid{74, 74, "an error on an NVLink",
        "check the link, its cable and its switch; reset all devices on the link together", false},
    Xid{75, 77, kCopy, kRestart, false},
    Xid{78, 78, "a virtual GPU could not be started", "bring the drivers of host and guest to versions that fit",
        false},
    Xid{79, 79, "the device has fallen off the bus: the host can no longer reach it",
        "restart the machine, with power off if need be; then check power supply, seat in the slot and heat", false},
    Xid{80, 80, kBadCommands, kBadCommandsDo, false},
    Xid{82, 84, kMedia, kRestart, false},
    Xid{85, 85, kCopy, kRestart, false},
    Xid{86, 86, kMedia, kRestart, false},
    Xid{88, 89, kMedia, kRestart, false},
    Xid{92, 92, "corrected memory errors come too often", "watch it; replace the board if the rate grows", false},
    Xid{93, 93, "the memory that holds the board's settings (InfoROM) is worn", "a warning: ask the vendor", false},
    Xid{94, 94, "a memory error that was contained: only the program that touched it suffers",
        "restart that program; reset the device when it is idle", false},
    Xid{95, 95, "a memory error that was not contained: every program on the device is affected",
        "stop all programs on the device and reset it", false},
    Xid{96, 105, kMedia, kRestart, false},
    Xid{108, 108, "a translation error on an NVLink", "see the kernel's log for the link concerned", false},
    Xid{109, 109, kTimeout, "restart the program; reset the device if it comes again", true},
    Xid{110, 110, "a security fault inside the device", kReset, false},
    Xid{119, 120, kFirmware, kFirmwareDo, false},
    Xid{121, 121, "an error on the link between chips (C2C)", "see the kernel's log; harmless when corrected", false},
    Xid{125, 125, "the file system in the board's settings memory (InfoROM) has an error", "a warning: ask the vendor",
        false},
    Xid{126, 135, kCopy, kRestart, false},
    Xid{136, 136, kInit, kHardware, false},
    Xid{137, 137, "an NVLink access without the right to it", "see the kernel's log for the program concerned", false},
    Xid{139, 139, kMedia, kRestart, false},
    Xid{140, 140, "an uncorrected memory error that escaped the usual handling", kReset, false},
    Xid{141, 141, kComplaint, kComplaintDo, false},
    Xid{143, 143, kInit, kHardware, false},
    Xid{144, 150, kLink5, kLink5Do, false},
    Xid{151, 151, "changing the key of confidential computing failed", "restart the virtual machine", false},
    Xid{154, 154, "the driver changed what it asks you to do with the device", "do what recovery_action says", false},
    Xid{155, 155, kLink5, kLink5Do, false},
    Xid{156, 156, "a broken unit was retired", "reset the device so that it takes effect", false},
    Xid{157, 157, kUnitRetired, "watch it; if it comes again ask the vendor's support", false},
    Xid{158, 158, "a timeout that ends all work on the device", kHardware, false},
    Xid{159, 159, "an error on the coherent link to the processor", "see the kernel's log", false},
    Xid{160, 161, kUnitRetired, "watch it; if it comes again ask the vendor's support", false},
    Xid{162, 165, kSmoothing, "nothing to do; it is information", false},
    Xid{166, 166, kLink5, kLink5Do, false},
    Xid{167, 167, "a PCIe request was never answered", kHardware, false},
    Xid{168, 168, "less memory can be used than is fitted", "a warning: check the repairs of the memory", false},
    Xid{169, 169, kController, kReset, false},
    Xid{170, 170, kLink5, kLink5Do, false},
    Xid{171, 172, kEccDetail, kDoubleBitDo, false},
    Xid{173, 173, "the link between chips (C2C) is dead", "the hardware needs service", false},
    Xid{175, 175, "an error in the memory subsystem", "a warning: check the repairs of the memory", false},
    Xid{176, 176, "corrected PCIe errors come in a storm", "check the slot, the riser and the cable", false},
};

constexpr bool sorted_without_overlap() {
  for (std::size_t i = 0; i < kXids.size(); ++i) {
    if (kXids[i].last < kXids[i].first || (i > 0 && kXids[i].first <= kXids[i - 1].last)) return false;
  }
  return true;
}
static_assert(sorted_without_overlap());

}  // namespace

const Xid *find_xid(std::int64_t number) {
  const auto *found = std::lower_bound(kXids.begin(), kXids.end(), number,
                                       [](const Xid &entry, std::int64_t wanted) { return entry.last < wanted; });
  return found != kXids.end() && found->first <= number ? &*found : nullptr;
}

}  // namespace gpulse
