// SPDX-License-Identifier: Apache-2.0
// The simulator's control functions, exported beside NVML. Any thread may call them at any time.
#pragma once

#define GPULSE_SIM_API extern "C" __attribute__((visibility("default")))

// Replaces the scenario and resets counters, faults and clock; 0, or 999 with the reason in gpulse_sim_error().
GPULSE_SIM_API int gpulse_sim_load(const char *toml_text);
// The last scenario's problem, "" when there is none; valid until the next load.
GPULSE_SIM_API const char *gpulse_sim_error();
// call: a function's name or "*"; device: index, -1 all; code: an NVML code, 0 clears, -1 hangs, -2 gives NaN.
GPULSE_SIM_API void gpulse_sim_fault(const char *call, int device, int code);
// Lets calls that hang now go on; the fault itself stays.
GPULSE_SIM_API void gpulse_sim_release();
// Calls of one function, or of all with "*", since the last load or clear.
GPULSE_SIM_API unsigned long gpulse_sim_calls(const char *call);
// Drops all faults, the scenario's too, releases hung calls and zeroes the counters.
GPULSE_SIM_API void gpulse_sim_clear();
// Stands for ioctl() on /dev/nvidiactl: a request of source/nvml/kernel_module_abi.hpp and what it points to.
GPULSE_SIM_API int gpulse_sim_module(unsigned long request, void *argument);
// Stops the scenario's clock at that second; negative lets it run again.
GPULSE_SIM_API void gpulse_sim_set_time(double seconds);
