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
  gpulse smi nvlink -s                their NVLinks (see nvlink -h)
  gpulse smi mig -lgip                how they can be split into instances, and are (see mig -h)
  gpulse smi compute-policy -l        how programs share them
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
    -p2p, --p2pstatus X   who may use whose memory directly: r reading, w writing, n over NVLink, a atomically,
                          p over PCIe
    -c, --cpu N           the GPUs near processor N
    -i, --id WHICH        for the following:
    -n, --nearest_gpus L  the GPUs that one reaches by way of L: 0 its own board, 1 one PCIe switch, 2 several,
                          3 the same host bridge, 4 another host bridge, 5 another processor
    -p, --gpu_path        how two GPUs reach each other
    -C, -M, -gnid         the memory node of the host near one, and the one that it is itself
    -h, --help            this

)";
}

std::string nvlink_help() {
  return R"(
    gpulse smi nvlink: the NVLinks of each GPU.

    -s, --status          up or not, and how fast
    -c, --capabilities    what each can do
    -p, --pcibusid        the device at the other end
    -R, --remotelinkinfo  that, and the number of the link there
    -e, --errorcounters   errors since the driver was loaded
    -gt, --getthroughput X  what has passed over each: d data, r with what the protocol adds
    -i, --id WHICH        these GPUs: number, UUID or PCI address, several with commas
    -l, --link N          this link only
    -h, --help            this

)";
}

std::string mig_help() {
  return R"(
    gpulse smi mig: how GPUs can be split into instances, and how they are.

    -lgip, --list-gpu-instance-profiles    the kinds of GPU instances, and how many more there is room for
    -lgipp, --list-gpu-instance-possible-placements  where they may lie
    -lgi, --list-gpu-instances             those that there are (for root)
    -lcip, --list-compute-instance-profiles  the kinds of compute instances in each of them (for root)
    -lci, --list-compute-instances         those that there are (for root)
    -i, --id WHICH        these GPUs: number, UUID or PCI address, several with commas
    -gi, --gpu-instance-id N  these GPU instances, several with commas
    -h, --help            this

)";
}

std::string compute_policy_help() {
  return R"(
    gpulse smi compute-policy: how programs share a GPU.

    -l, --list            the time slice that each gets
    -i, --id WHICH        these GPUs: number, UUID or PCI address, several with commas
    -h, --help            this

)";
}

}  // namespace gpulse::cli
