// SPDX-License-Identifier: Apache-2.0
// Where the rules draw their lines, all in one place. A test moves each of them to see how far a verdict holds.
#pragma once

namespace gpulse::insight {

struct Thresholds {
  // What the GPU does
  double at_rest_percent = 0.5;         // less activity than this is none
  double busy_percent = 85;             // from here on it hardly waits
  double starved_lost_share = 0.5;      // waiting for so much of the time is a problem, not just a note
  double waiting_lost_share = 0.2;      // waiting for less is nothing to speak of
  double small_fill = 0.25;             // kernels that fill less of the GPU are small ones
  double fed_bytes_per_second = 1.5e9;  // of kernel time; less comes in where nothing but launches does
  double unfed_fill = 0.5;              // kernels that fill less of the GPU are small ones where nothing else comes in
  double launch_busy_percent = 4;       // small kernels that run for less of the time are not what fed ones wait for
  double launch_cpu_share = 0.8;        // of a core that has nothing to do but launch kernels
  double filled_busy_percent = 40;      // small kernels are a problem from here on, whatever the CPU does
  double spin_busy_percent = 70;        // busy most of the time …
  double spin_sm_percent = 5;           // … on nearly no processor …
  double spin_bytes_per_second = 10e6;  // … while nearly nothing comes in: nobody launches anything
  double video_percent = 20;            // what decodes and encodes need not compute
  double copy_bytes_per_second = 1e9;
  double copy_share = 0.4;                  // of the time
  double pageable_bytes_per_second = 12e9;  // that a core moves at most, for copies that are not pinned
  double copy_sm_percent = 50;
  // Stalls
  double stall_low = 0.25, stall_high = 0.5;  // of what it does when it works
  double stall_level_percent = 30;            // it works
  double stall_seconds = 1;                   // at least, for stalls and for the work between them
  double stall_share = 0.1, stall_most_share = 0.8;
  double stall_problem_share = 0.2;
  double stopped_seconds = 2;  // of work, and without it since
  double stopped_share = 0.8;  // of all stalled time is that since
  double young_seconds = 60;   // a job that stops once at this age is still being set up
  // Why it waits
  double cpu_full_share = 0.85;      // of a core, in the time in which the GPU waits
  double busy_processes = 0.7;       // of the job at a whole core each
  double host_full_percent = 90;     // no core is free
  double pressure_cpu_percent = 30;  // of its control group: its tasks wait for a core
  double job_cpu_percent = 30;       // what a job that waits for a core uses at least
  double read_bytes_per_second = 10e6;
  double network_bytes_per_second = 50e6;
  double disk_wait_percent = 20;
  // What it computes with
  double working_sm_percent = 50;
  double tensor_percent = 5;
  double pipe_percent = 25;       // a pipe that is busy
  double idle_pipe_percent = 10;  // one that is not
  double fp64_percent = 15;
  double dram_percent = 60;          // 80 is what a memory can do
  double dram_waiting_percent = 25;  // with all pipes idle
  double controller_percent = 85;    // where only the controller tells
  // Held back
  double thermal_share = 0.05, hardware_share = 0.05, capped_share = 0.1;
  double capped_clock_share = 0.97;
  // Memory
  double leak_fit = 0.85;
  double leak_share = 0.002;  // of all memory, within the stretch
  double full_share = 0.95;
  double headroom_share = 0.45;  // less than this in use leaves room for a batch twice as large
  double held_bytes = 256e6;     // less is what a context takes
  double held_seconds = 5;       // a shorter time says nothing
  double host_memory_share = 0.9;
  // Jobs of several GPUs
  double imbalance_percent = 25;
  double imbalance_share = 0.7;
  double waiting_sm_percent = 40;  // a kernel that waits for other GPUs takes fewer processors
  // Waiting without power
  double flat_power_share = 0.015;  // of the limit
  double working_power_share = 0.5;
};

}  // namespace gpulse::insight
