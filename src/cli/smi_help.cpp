// SPDX-License-Identifier: Apache-2.0
// What `gpulse smi -h` and its subcommands say.
#include "cli/smi_arguments.hpp"
#include "control/smi_words.hpp"

namespace gpulse::cli {

std::string smi_help() {
  return R"(gpulse smi speaks nvidia-smi's own options and formats, for the GPUs of every vendor.
Called nvidia-smi it does so without the word.

  gpulse smi                          the table of GPUs and their processes
  gpulse smi -L                       the list of GPUs          -B: those the driver leaves out
  gpulse smi -q [-d SECTIONS] [-x]    everything about them; -x: as XML; --schema=v8 … v13: as an older nvidia-smi did
  gpulse smi --query-gpu=FIELDS --format=csv[,noheader][,nounits]
             --query-compute-apps=, --query-accounted-apps=, --query-retired-pages=,
             --query-remapped-rows=, --query-supported-clocks=
             --help-query-gpu and so on list the fields
  gpulse smi dmon, pmon               a line per GPU or process and second (see dmon -h, pmon -h)
  gpulse smi topo -m                  how the GPUs reach each other (see topo -h)
  gpulse smi --parse FILE             what a saved nvidia-smi -q -x or CSV tells, as JSON; - reads the standard input
  gpulse smi --version

With the table, -q and the queries:
  -i, --id=WHICH        these GPUs: number, UUID or PCI address, several with commas
  -l, --loop[=SEC]      again every SEC seconds (5)      -lms, --loop-ms=MS
  -f, --filename=FILE   into a file

Sections of -d: MEMORY, UTILIZATION, ECC, TEMPERATURE, POWER, CLOCK, COMPUTE, PIDS, PERFORMANCE, SUPPORTED_CLOCKS,
  PAGE_RETIREMENT, ACCOUNTING, ENCODER_STATS, SUPPORTED_GPU_TARGET_TEMP, VOLTAGE, FBC_STATS, ROW_REMAPPER,
  GSP_FIRMWARE_VERSION, POWER_SMOOTHING, POWER_PROFILES

Settings, for root, one at a time, with -i for some GPUs only. They are made at once; only a reset asks, and only at a
terminal, unless --yes is given (gpulse set does the same in words, and asks):
)" + control::smi_settings_help() +
         R"(
gpulse's own: --sysroot DIR, --source NAME, --replay FILE [--columns TITLES], --demo, --wake, as everywhere.
Exit: 0 good, 2 wrong argument, 4 no permission, 6 no such GPU, 9 no driver, 15 a GPU is lost, 255 not understood.
)";
}

// nvidia-smi's recorder keeps readings in files of its own; `replay` prints them.
std::string daemon_words() {
  return "nvidia-smi daemon and nvidia-smi replay are not there. gpulse records everything by itself:\n"
         "  gpulse record -o night.gpr        until Ctrl-C; --duration, --interval\n"
         "  gpulse --replay night.gpr --watch, gpulse top --replay night.gpr, gpulse smi --replay night.gpr dmon -c "
         "1\n";
}

std::string dmon_help() {
  return R"(
    gpulse smi dmon: a line per GPU and tick.

    -i, --id WHICH        these GPUs: number, UUID or PCI address, several with commas
    -d, --delay SEC       time between two lines, 1 to 600 (1)
    -c, --count N         stop after so many
    -s, --select LETTERS  what to show (puc):
                            p  power and temperatures      u  use of processors, memory and engines
                            c  clocks                      v  held back by power or heat
                            m  memory                      e  ECC and PCIe errors
                            t  PCIe throughput
    --gpm-metrics LIST    true activity, by number: 1 graphics, 2 SM, 3 occupancy, 4 integer, 5 tensor,
                          6 FP64 tensor, 7 FP16 tensor, 9 integer tensor, 10 DRAM, 11 FP64, 12 FP32, 13 FP16,
                          20 PCIe tx, 21 PCIe rx, 30-37 NVDEC, 40-47 NVJPG, 50 OFA, 60 NVLink rx, 61 NVLink tx,
                          166-169 NVENC
    -o, --options DT      with date, with time
    -f, --filename FILE   into a file
    --format LIST         csv, noheader, nounit
    -h, --help            this

)";
}

std::string pmon_help() {
  return R"(
    gpulse smi pmon: a line per process on each GPU and tick.

    -i, --id WHICH        these GPUs: number, UUID or PCI address, several with commas
    -d, --delay SEC       time between two lines, 1 to 10 (1)
    -c, --count N         stop after so many
    -s, --select LETTERS  u  use of processors, memory and engines;  m  memory (u)
    -o, --options DT      with date, with time
    -f, --filename FILE   into a file
    -h, --help            this

)";
}

std::string topo_help() {
  return R"(
    gpulse smi topo: how the GPUs reach each other, and which processors are near.

    -m, --matrix          all of them, NVLink included
    -mp, --matrix_pci     PCIe only
    -c, --cpu N           the GPUs near processor N
    -h, --help            this

)";
}

}  // namespace gpulse::cli
