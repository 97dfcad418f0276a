// SPDX-License-Identifier: Apache-2.0
// Where each field is in each layout of gpu_metrics: byte offsets in the kernel's structures.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "source/amdgpu/gpu_metrics.hpp"

namespace gpulse::amdgpu {

struct Entry {
  Field field;
  std::uint16_t offset;
  std::uint8_t size = 2;   // of one element
  std::uint8_t count = 1;  // elements
};

struct Layout {
  std::uint8_t format, content;
  std::uint16_t smallest;  // a smaller structure does not have this layout
  std::array<std::span<const Entry>, 3> parts;
  // The records of the parts of a split chip; 0: there are none.
  std::uint16_t partition_count = 0, partitions = 0, partition_size = 0;
};

// Vega12, Vega20.
inline constexpr std::array<Entry, 14> kVega{{{Field::temperature_edge, 16},
                                              {Field::temperature_hotspot, 18},
                                              {Field::temperature_memory, 20},
                                              {Field::temperature_vr_graphics, 22},
                                              {Field::temperature_vr_soc, 24},
                                              {Field::temperature_vr_memory, 26},
                                              {Field::activity_graphics, 28},
                                              {Field::activity_memory, 30},
                                              {Field::activity_video, 32},
                                              {Field::power_socket, 34},
                                              {Field::clock_graphics, 54},
                                              {Field::clock_soc, 56},
                                              {Field::clock_memory, 58},
                                              {Field::fan_rpm, 72}}};
// Discrete cards up to RDNA4, MI100 and MI200.
inline constexpr std::array<Entry, 16> kNavi{{{Field::temperature_edge, 4},
                                              {Field::temperature_hotspot, 6},
                                              {Field::temperature_memory, 8},
                                              {Field::temperature_vr_graphics, 10},
                                              {Field::temperature_vr_soc, 12},
                                              {Field::temperature_vr_memory, 14},
                                              {Field::activity_graphics, 16},
                                              {Field::activity_memory, 18},
                                              {Field::activity_video, 20},
                                              {Field::power_socket, 22},
                                              {Field::energy, 24, 8},
                                              {Field::clock_graphics, 54},
                                              {Field::clock_soc, 56},
                                              {Field::clock_memory, 58},
                                              {Field::clock_video, 60},
                                              {Field::fan_rpm, 72}}};
inline constexpr std::array<Entry, 4> kNaviVoltages{{{Field::voltage_soc, 104},
                                                     {Field::voltage_graphics, 106},
                                                     {Field::voltage_memory, 108},
                                                     {Field::throttle, 112, 8}}};
// MI300 and later.
inline constexpr std::array<Entry, 6> kMi300Head{{{Field::temperature_hotspot, 4},
                                                  {Field::temperature_memory, 6},
                                                  {Field::temperature_vr_soc, 8},
                                                  {Field::power_socket, 10},
                                                  {Field::activity_graphics, 12},
                                                  {Field::activity_memory, 14}}};
inline constexpr std::array<Entry, 9> kMi300First{{{Field::activity_video, 16, 2, 4},
                                                   {Field::energy, 24, 8},
                                                   {Field::pcie_replay, 88, 8},
                                                   {Field::xgmi_read_kib, 104, 8, 8},
                                                   {Field::xgmi_write_kib, 168, 8, 8},
                                                   {Field::clock_graphics, 240, 2, 8},
                                                   {Field::clock_soc, 256, 2, 4},
                                                   {Field::clock_video, 264, 2, 4},
                                                   {Field::clock_memory, 280}}};
inline constexpr std::array<Entry, 10> kMi300Second{{{Field::activity_video, 16, 2, 4},
                                                     {Field::activity_jpeg, 24, 2, 32},
                                                     {Field::energy, 88, 8},
                                                     {Field::pcie_replay, 152, 8},
                                                     {Field::xgmi_read_kib, 176, 8, 8},
                                                     {Field::xgmi_write_kib, 240, 8, 8},
                                                     {Field::clock_graphics, 312, 2, 8},
                                                     {Field::clock_soc, 328, 2, 4},
                                                     {Field::clock_video, 336, 2, 4},
                                                     {Field::clock_memory, 352}}};
inline constexpr std::array<Entry, 14> kMi300Third{{{Field::energy, 16, 8},
                                                    {Field::accumulation, 32, 4},
                                                    {Field::residency_prochot, 36, 4},
                                                    {Field::residency_power, 40, 4},
                                                    {Field::residency_socket_heat, 44, 4},
                                                    {Field::residency_regulator_heat, 48, 4},
                                                    {Field::residency_memory_heat, 52, 4},
                                                    {Field::pcie_replay, 104, 8},
                                                    {Field::xgmi_read_kib, 128, 8, 8},
                                                    {Field::xgmi_write_kib, 192, 8, 8},
                                                    {Field::clock_graphics, 264, 2, 8},
                                                    {Field::clock_soc, 280, 2, 4},
                                                    {Field::clock_video, 288, 2, 4},
                                                    {Field::clock_memory, 304}}};
inline constexpr std::array<Entry, 14> kMi300Fourth{{{Field::energy, 24, 8},
                                                     {Field::accumulation, 40, 4},
                                                     {Field::residency_prochot, 44, 4},
                                                     {Field::residency_power, 48, 4},
                                                     {Field::residency_socket_heat, 52, 4},
                                                     {Field::residency_regulator_heat, 56, 4},
                                                     {Field::residency_memory_heat, 60, 4},
                                                     {Field::pcie_replay, 112, 8},
                                                     {Field::xgmi_read_kib, 136, 8, 8},
                                                     {Field::xgmi_write_kib, 200, 8, 8},
                                                     {Field::clock_graphics, 296, 2, 8},
                                                     {Field::clock_soc, 312, 2, 4},
                                                     {Field::clock_video, 320, 2, 4},
                                                     {Field::clock_memory, 336}}};
// APUs. Activity is left out: it is in percent on some, in hundredths of a percent on others.
inline constexpr std::array<Entry, 8> kRenoir{{{Field::temperature_edge, 16},
                                               {Field::temperature_soc, 18},
                                               {Field::power_socket, 44},
                                               {Field::clock_graphics, 80},
                                               {Field::clock_soc, 82},
                                               {Field::clock_memory, 84},
                                               {Field::clock_fabric, 86},
                                               {Field::clock_video, 88}}};
inline constexpr std::array<Entry, 8> kRembrandt{{{Field::temperature_edge, 4},
                                                  {Field::temperature_soc, 6},
                                                  {Field::power_socket, 40},
                                                  {Field::clock_graphics, 76},
                                                  {Field::clock_soc, 78},
                                                  {Field::clock_memory, 80},
                                                  {Field::clock_fabric, 82},
                                                  {Field::clock_video, 84}}};
inline constexpr std::array<Entry, 1> kVanGoghThrottle{{{Field::throttle, 120, 8}}};
inline constexpr std::array<Entry, 2> kVanGoghVoltages{{{Field::voltage_soc, 154}, {Field::voltage_graphics, 156}}};
// Strix Point and later.
inline constexpr std::array<Entry, 17> kStrix{{{Field::temperature_edge, 4},
                                               {Field::temperature_soc, 6},
                                               {Field::activity_graphics, 42},
                                               {Field::activity_video, 44},
                                               {Field::power_socket, 112, 4},
                                               {Field::clock_graphics, 174},
                                               {Field::clock_soc, 176},
                                               {Field::clock_fabric, 182},
                                               {Field::clock_video, 184},
                                               {Field::clock_memory, 186},
                                               {Field::growth_prochot, 228, 4},
                                               {Field::growth_power_sustained, 232, 4},
                                               {Field::growth_power_fast, 236, 4},
                                               {Field::growth_power_slow, 240, 4},
                                               {Field::growth_core_heat, 244, 4},
                                               {Field::growth_graphics_heat, 248, 4},
                                               {Field::growth_soc_heat, 252, 4}}};

inline constexpr std::array<Layout, 15> kLayouts{{
    {1, 0, 80, {kVega}},
    {1, 1, 96, {kNavi}},
    {1, 2, 104, {kNavi}},
    {1, 3, 120, {kNavi, kNaviVoltages}},
    {1, 4, 288, {kMi300Head, kMi300First}},
    {1, 5, 360, {kMi300Head, kMi300Second}},
    {1, 6, 312, {kMi300Head, kMi300Third}, 306, 312, 168},
    {1, 7, 344, {kMi300Head, kMi300Fourth}, 338, 344, 232},
    {1, 8, 344, {kMi300Head, kMi300Fourth}, 338, 344, 440},
    {2, 0, 120, {kRenoir}},
    {2, 1, 116, {kRembrandt}},
    {2, 2, 128, {kRembrandt, kVanGoghThrottle}},
    {2, 3, 152, {kRembrandt, kVanGoghThrottle}},
    {2, 4, 168, {kRembrandt, kVanGoghThrottle, kVanGoghVoltages}},
    {3, 0, 228, {kStrix}},
}};

// v1_9: the id of each value, and the unit it must have (0: any).
struct Record {
  Field field;
  std::uint16_t id;
  std::uint8_t unit = 0;
};
inline constexpr std::uint8_t kUnitMhz = 1, kUnitCelsius = 2, kUnitWatts = 3, kUnitKib = 9, kUnitPercent = 10;
inline constexpr std::array<Record, 21> kRecords{{
    {Field::temperature_hotspot, 0, kUnitCelsius},
    {Field::temperature_memory, 1, kUnitCelsius},
    {Field::temperature_vr_soc, 2, kUnitCelsius},
    {Field::power_socket, 3, kUnitWatts},
    {Field::activity_graphics, 4, kUnitPercent},
    {Field::activity_memory, 5, kUnitPercent},
    {Field::energy, 7},
    {Field::accumulation, 9},
    {Field::residency_prochot, 10},
    {Field::residency_power, 11},
    {Field::residency_socket_heat, 12},
    {Field::residency_regulator_heat, 13},
    {Field::residency_memory_heat, 14},
    {Field::pcie_replay, 25},
    {Field::xgmi_read_kib, 29, kUnitKib},
    {Field::xgmi_write_kib, 30, kUnitKib},
    {Field::clock_graphics, 33, kUnitMhz},
    {Field::clock_soc, 34, kUnitMhz},
    {Field::clock_video, 35, kUnitMhz},
    {Field::clock_memory, 37, kUnitMhz},
    {Field::activity_jpeg, 41, kUnitPercent},
}};

}  // namespace gpulse::amdgpu
