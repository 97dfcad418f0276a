/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpulse: what the GPUs of this machine are doing, from inside a program.
 *
 * A monitor samples in the background: it takes the samples of the machine's agent (`gpulse serve`) where there is one,
 * and reads the drivers on a thread of its own where there is none. Looking at the newest sample takes no lock, calls
 * no driver and waits for nobody, so that it may stand in a training loop.
 *
 *     gpulse_monitor *monitor;
 *     if (gpulse_open(NULL, &monitor) != GPULSE_OK) { puts(gpulse_last_error()); return 1; }
 *     int32_t power = gpulse_metric("power_draw_watts");
 *     gpulse_sample *sample;
 *     if (gpulse_wait(monitor, 0, 5.0, &sample) == GPULSE_OK) {
 *       double watts = gpulse_value(sample, power, 0);          // of the first device
 *       if (isnan(watts)) puts(gpulse_reason(watts));            // "not supported", "asleep", ...
 *       gpulse_release(sample);
 *     }
 *     gpulse_close(monitor);
 *
 * A reading is a number or a reason: what cannot be told is a NaN that carries the reason, never 0.
 *
 * Metrics have keys (`gpulse explain --all` lists them): "power_draw_watts" is of a device, "host.cpu_percent" of the
 * machine, "process.gpu_memory_bytes" of a process on a device. Keys stay; the numbers that stand for them are those of
 * the library that is loaded, so look them up when the program starts.
 *
 * Threads: every function may be called from any thread, unless its comment says otherwise. A sample never changes.
 * Fork: a monitor and its regions do not live on in a forked child. Functions that are given one there answer
 * GPULSE_FORKED, NULL, -1 or "" and do nothing else; the child may open its own monitor. Samples, tables, findings and
 * views stay good. A lease is the parent's alone, unless it was taken with pass_on: a child that frees it takes nothing
 * away.
 * Signals: none is delivered to the threads of the library. Exit: a monitor that was never closed ends before the
 * program's destructors run.
 * Strings are UTF-8 without control characters, and live as long as what they were asked of.
 * NULL: what frees or ends takes it and does nothing; everything else answers GPULSE_INVALID, NULL, -1, NaN, 0 or "".
 *
 * The interface only grows. A struct begins with its size, which the caller sets (`x.size = sizeof x`): a newer library
 * fills what an older caller knows of, and an older library zeroes what it does not know.
 */
#ifndef GPULSE_H
#define GPULSE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPULSE_ABI 1
#if defined(__GNUC__)
#define GPULSE_API __attribute__((visibility("default")))
#else
#define GPULSE_API
#endif

typedef struct gpulse_monitor gpulse_monitor; /* samples in the background */
typedef struct gpulse_sample gpulse_sample;   /* what the machine looked like at one moment */
typedef struct gpulse_region gpulse_region;   /* a stretch of a program: what it took */
typedef struct gpulse_table gpulse_table;     /* readings of the past, in columns */
typedef struct gpulse_findings gpulse_findings; /* why the devices are not busy, the worst first */
typedef struct gpulse_view gpulse_view;       /* which devices a process gets to see */
typedef struct gpulse_lease gpulse_lease;     /* devices that are this process's own */

typedef enum gpulse_status {
  GPULSE_OK = 0,
  GPULSE_FAILED = 1,    /* gpulse_last_error() says why */
  GPULSE_INVALID = 2,   /* an argument makes no sense: an unknown metric, a device that is not there */
  GPULSE_CLOSED = 3,    /* the monitor's samples have come to an end */
  GPULSE_FORKED = 4,    /* the monitor belongs to the process that this one was forked from */
  GPULSE_TIMEOUT = 5,   /* nothing within the given time */
  GPULSE_NO_GPU = 6,    /* there is no GPU, or none that can be had */
} gpulse_status;

/* The ABI of the loaded library: at least GPULSE_ABI of this header. */
GPULSE_API uint32_t gpulse_abi(void);
GPULSE_API const char *gpulse_version(void);
/* One sentence about the last failure on this thread; empty when there was none. Until the next call on this thread. */
GPULSE_API const char *gpulse_last_error(void);

/* ---- Metrics ---- */

typedef enum gpulse_scope { GPULSE_DEVICE = 0, GPULSE_PROCESS = 1, GPULSE_HOST = 2 } gpulse_scope;
typedef enum gpulse_kind {
  GPULSE_GAUGE = 0,   /* goes up and down */
  GPULSE_COUNTER = 1, /* only grows */
  GPULSE_STATE = 2,   /* one of its words */
  GPULSE_SET = 3,     /* any of its words: a bit for each */
  GPULSE_TEXT = 4,    /* gpulse_text() has it, gpulse_value() does not */
} gpulse_kind;

typedef struct gpulse_metric_info {
  size_t size;
  const char *key;   /* "power_draw_watts", "host.cpu_percent", "process.user" */
  gpulse_scope scope;
  gpulse_kind kind;
  const char *unit;  /* "watts", "bytes", "percent", ... ; "" where there is none */
  const char *label; /* a few capitals for a column */
  const char *help;  /* one line */
} gpulse_metric_info;

/* The metric's number, by its key or by nvidia-smi's name for it; -1: there is none of that name. */
GPULSE_API int32_t gpulse_metric(const char *key);
/* Metrics are numbered from 0; some numbers stand for none (GPULSE_INVALID). */
GPULSE_API int32_t gpulse_metric_count(void);
GPULSE_API gpulse_status gpulse_describe(int32_t metric, gpulse_metric_info *info);
/* Why a value is not there: "not supported", "no permission", "asleep", ...; empty for a number. Lives until the next
 * call of it on this thread. */
GPULSE_API const char *gpulse_reason(double value);
/* The words of a state or set, with commas: "P0", "power cap, sw thermal"; empty for other metrics. Writes at most
 * `room` bytes with the final zero, and returns how long the whole text is. */
GPULSE_API size_t gpulse_words(int32_t metric, double value, char *text, size_t room);
/* A value with its unit, as a person reads it: "85 %", "1.1 GiB", "690.7 W", "P0"; the reason of one that is not there;
 * empty for a metric of the kind text. Written and returned as above. */
GPULSE_API size_t gpulse_format(int32_t metric, double value, char *text, size_t room);

/* ---- Monitor ---- */

enum {
  GPULSE_NO_AGENT = 1u,   /* read the drivers, also where an agent runs */
  GPULSE_ONLY_AGENT = 2u, /* fail where no agent runs: for helper processes that should not read the drivers too */
  GPULSE_FINDINGS = 4u,   /* watch for findings from the start, not from the first question on */
};

typedef struct gpulse_options {
  size_t size;
  double interval;     /* seconds between samples, 0.01 to 86400: 1 */
  double history;      /* seconds of the past that are kept, 0 to 604800: 900; never more than 64 MiB */
  const char *metrics; /* keys with commas, "default" (what a status page shows; so is NULL), "all". Regions add theirs */
  uint32_t flags;      /* GPULSE_NO_AGENT, ... */
} gpulse_options;

/* Fills in the size and the defaults. */
GPULSE_API void gpulse_options_init(gpulse_options *options);

/* Starts to sample. Returns at once: the first sample comes when the drivers have answered. NULL: the defaults. */
GPULSE_API gpulse_status gpulse_open(const gpulse_options *options, gpulse_monitor **monitor);
/* Ends the sampling, flushes the sinks and frees the monitor. Samples, tables and regions of it that are still
 * held stay good; descriptors of gpulse_subscribe() are closed. A gpulse_wait() or gpulse_refresh() that goes on ends
 * with GPULSE_CLOSED; otherwise nobody may use the monitor meanwhile. */
GPULSE_API void gpulse_close(gpulse_monitor *monitor);
/* One sample without a monitor: at once with an agent, else in about a tenth of a second, because rates need two
 * looks. */
GPULSE_API gpulse_status gpulse_look(const gpulse_options *options, gpulse_sample **sample);

/* The newest sample, to be released. NULL: there is none yet, or none can be taken any more; gpulse_wait() with a
 * timeout of 0 tells why. An old sample is never kept as the newest when no more come. */
GPULSE_API gpulse_sample *gpulse_latest(const gpulse_monitor *monitor);
/* Waits for a sample whose number is greater, for so many seconds; less than 0 or NaN: not at all. */
GPULSE_API gpulse_status gpulse_wait(const gpulse_monitor *monitor, uint64_t number, double timeout,
                                     gpulse_sample **sample);
/* Asks for a sample taken from now on, out of turn, and waits for it. Where an agent samples, it is the agent's next.
 */
GPULSE_API gpulse_status gpulse_refresh(gpulse_monitor *monitor, double timeout, gpulse_sample **sample);
/* A file descriptor (an eventfd) that becomes readable with every new sample, for an event loop; -1: none could be
 * made. It is given back by gpulse_unsubscribe, which closes it. */
GPULSE_API int gpulse_subscribe(gpulse_monitor *monitor);
GPULSE_API void gpulse_unsubscribe(gpulse_monitor *monitor, int descriptor);

/* The step of the training that goes on: samples taken from now on carry it, until the next call. Negative: none. One
 * store to memory. */
GPULSE_API void gpulse_set_step(gpulse_monitor *monitor, int64_t step);

enum { GPULSE_REFUSE = 0, GPULSE_APPEND = 1, GPULSE_OVERWRITE = 2 };
typedef struct gpulse_sink_options {
  size_t size;
  const char *format; /* "tensorboard", "csv", "jsonl", "prometheus" */
  const char *path;   /* TensorBoard's log directory; else a file */
  const char *fields; /* keys with commas, "host." before those of the machine; NULL: what matters most */
  const char *uuids;  /* devices, with commas; NULL: all */
  const char *run;    /* TensorBoard's run directory; NULL: "gpu". One that is there is left alone: "gpu_1", ... */
  int32_t existing;   /* what to do with a file that is there: GPULSE_REFUSE, ... */
  int32_t steps;      /* 1: training steps will be set, and what comes before the first is left out; 0: as it turns
                         out within the first minute */
} gpulse_sink_options;
/* Every further sample is written there too, by the monitor's thread, with what the monitor reads: name the fields
 * among its metrics. Waits for the reader of a FIFO. What goes wrong later is told by gpulse_sink_error(), and keeps
 * neither samples nor other sinks from coming. */
GPULSE_API gpulse_status gpulse_add_sink(gpulse_monitor *monitor, const gpulse_sink_options *options);
/* What last went wrong with a sink; empty: nothing. Until the next call on this thread. */
GPULSE_API const char *gpulse_sink_error(const gpulse_monitor *monitor);

typedef struct gpulse_stats {
  size_t size;
  uint64_t samples;         /* taken so far */
  uint64_t missed;          /* turns that were missed, because a driver or the machine was too slow */
  double processor_seconds; /* what threads of monitors in this process have used, calls to the drivers included */
  double driver_seconds;    /* of the calls to the drivers, by the clock; 0 where the agent makes them */
  uint64_t driver_calls;
  int32_t from_agent;       /* 1: the newest sample is the agent's */
  double interval;
} gpulse_stats;
GPULSE_API gpulse_status gpulse_get_stats(const gpulse_monitor *monitor, gpulse_stats *stats);

/* ---- Sample ---- */

GPULSE_API void gpulse_retain(const gpulse_sample *sample);
GPULSE_API void gpulse_release(const gpulse_sample *sample);

typedef struct gpulse_sample_info {
  size_t size;
  uint64_t number;   /* 1, 2, 3, ... of its monitor; 0 of gpulse_look() */
  int64_t time;      /* nanoseconds since 1970, UTC */
  int64_t monotonic; /* nanoseconds of CLOCK_MONOTONIC */
  int64_t step;      /* as set by gpulse_set_step(); -1: not set */
  uint32_t devices;
  uint32_t processes;
  int32_t from_agent;
  const char *hostname;
  const char *absence; /* why there is no device: "no GPU found", or what the driver says; empty where there are some */
} gpulse_sample_info;
GPULSE_API gpulse_status gpulse_get_info(const gpulse_sample *sample, gpulse_sample_info *info);

typedef struct gpulse_device_info {
  size_t size;
  uint32_t index;      /* the GPU's number, as nvidia-smi counts */
  int32_t instance;    /* a MIG instance's number on its GPU; -1: it is a whole GPU */
  const char *id;      /* "0", "0:1" */
  const char *uuid;    /* stands for the device, also after a restart */
  const char *name;
  const char *vendor;  /* "nvidia", "amd", "intel", ... */
  const char *pci;     /* "0000:00:06.0", "" where there is none */
  const char *driver;  /* version */
  const char *parent;  /* uuid of the GPU that this is an instance of, else "" */
  const char *state;   /* "ok", "asleep", "lost", "not responding" */
} gpulse_device_info;
/* Devices are addressed by their position in the sample. */
GPULSE_API gpulse_status gpulse_get_device(const gpulse_sample *sample, uint32_t device, gpulse_device_info *info);
/* The position of a device, by number ("0", "0:1"), UUID or its beginning, or PCI address; -1: none, or several. */
GPULSE_API int32_t gpulse_find_device(const gpulse_sample *sample, const char *selector);

typedef struct gpulse_process_info {
  size_t size;
  uint32_t pid;
  uint32_t device;  /* position in the sample; UINT32_MAX: not in it */
  const char *type; /* "compute", "graphics", "compute+graphics", "mps" */
  int32_t is_self;  /* 1: it is the process that asks */
} gpulse_process_info;
/* A process that is on several devices is listed with each of them. */
GPULSE_API gpulse_status gpulse_get_process(const gpulse_sample *sample, uint32_t process, gpulse_process_info *info);

/* A reading: a number, or a NaN with the reason why there is none, also for a metric that the monitor was not opened
 * with. `entity`: the position of the device or process; of no meaning for a metric of the host. */
GPULSE_API double gpulse_value(const gpulse_sample *sample, int32_t metric, uint32_t entity);
/* Several of one device, process or the host. */
GPULSE_API void gpulse_values(const gpulse_sample *sample, uint32_t entity, const int32_t *metrics, size_t count,
                              double *values);
/* A metric of the kind text: "process.user", "serial". NULL: not there, or not among the metrics of the monitor. */
GPULSE_API const char *gpulse_text(const gpulse_sample *sample, int32_t metric, uint32_t entity);
/* All of it as `gpulse --json` prints it. NULL: out of memory. Lives as long as the sample. */
GPULSE_API const char *gpulse_json(const gpulse_sample *sample);

/* ---- Regions: what a stretch of a program took ---- */

/* `name` is copied. Regions may nest and overlap, and begin and end on different threads. It costs about as much as an
 * allocation: the monitor's thread does the work when its next samples come. NULL: in a forked child. */
GPULSE_API gpulse_region *gpulse_region_begin(gpulse_monitor *monitor, const char *name);
/* Only the first call counts. */
GPULSE_API void gpulse_region_end(gpulse_region *region);
/* At any time, also before its end and after its monitor was closed. */
GPULSE_API void gpulse_region_free(gpulse_region *region);

typedef struct gpulse_region_use {
  size_t size;
  double seconds;             /* by the clock */
  uint32_t samples;           /* taken within the region: with none, what follows is of the samples around it */
  int32_t settled;            /* 1: samples from after the end are in; before that, figures may still get better */
  double memory_begin;        /* bytes of the device in use, by the samples around */
  double memory_end;
  double memory_peak;         /* the most that a sample saw */
  double process_memory_begin;/* of this process alone; NaN where the driver does not tell */
  double process_memory_end;
  double process_memory_peak;
  double memory_total;
  double utilization;         /* percent, mean */
  double true_activity;       /* percent, mean: how much of the device worked (sm_active_percent) */
  double energy;              /* joules: the best guess; NaN where the bounds are too far apart for one */
  double energy_min;          /* it took at least, ... */
  double energy_max;          /* ... and at most so much; NaN where the device does not count. The counter is read once
                                 a second, so a short region has little more than these bounds */
} gpulse_region_use;
/* What the region took of the device with this UUID, so far or until its end. What cannot be told is NaN. */
GPULSE_API gpulse_status gpulse_region_get(const gpulse_region *region, const char *uuid, gpulse_region_use *use);

/* ---- Findings: why the devices are not busy, and what to do ---- */

/* Problems and notes that last: they begin and end only when several judgements agree, so that they do not flicker. The
 * monitor's thread judges the last half minute every five seconds; this only fetches what it has found. It begins with
 * the first call, which makes the monitor read what the rules need besides its own metrics, or with GPULSE_FINDINGS.
 * The first findings come 15 seconds later, or at once where an agent runs. Who never asks pays nothing for it. */
GPULSE_API gpulse_status gpulse_get_findings(gpulse_monitor *monitor, gpulse_findings **findings);
/* The last `seconds`, 3 to 120, judged as one: also what is well, such as "healthy" and "idle". Takes some milliseconds
 * on the calling thread. The first call begins to watch, as above; GPULSE_TIMEOUT: less than 3 seconds were seen. */
GPULSE_API gpulse_status gpulse_diagnose(gpulse_monitor *monitor, double seconds, gpulse_findings **findings);
/* The list never changes, and may outlive its monitor. */
GPULSE_API void gpulse_findings_free(gpulse_findings *findings);

typedef struct gpulse_findings_info {
  size_t size;
  uint32_t count;
  uint32_t samples;    /* that were judged; 0: too few were seen yet to say anything, not even that all is well */
  int64_t begin;       /* of the samples that were judged, nanoseconds since 1970 */
  int64_t end;
  const char *verdict; /* the id of what counts most: the worst problem; where there is none, what the devices do */
} gpulse_findings_info;
GPULSE_API gpulse_status gpulse_get_findings_info(const gpulse_findings *findings, gpulse_findings_info *info);

typedef enum gpulse_severity {
  GPULSE_WELL = 0,    /* nothing to mend; only gpulse_diagnose() tells of it */
  GPULSE_NOTE = 1,    /* worth knowing */
  GPULSE_PROBLEM = 2, /* costs GPU time, or will end badly */
} gpulse_severity;
typedef struct gpulse_finding {
  size_t size;
  uint64_t number;   /* the same while it lasts, never used again by its monitor; 0: of gpulse_diagnose() */
  const char *id;    /* "input-cpu", "launch-bound", "hung", ...: `gpulse explain ID` has more */
  gpulse_severity severity;
  int32_t estimated; /* 1: the device does not tell what would be needed to be sure */
  double confidence; /* from 0 to 1 */
  double lost_share; /* of GPU time, from 0 to 1; NaN: it costs none, or how much cannot be told */
  int64_t since;     /* it was seen from ... */
  int64_t until;     /* ... until, nanoseconds since 1970 */
  const char *text;  /* one sentence */
  /* Lists live as long as the findings do. */
  uint32_t device_count;
  uint32_t pid_count;
  uint32_t fact_count;
  uint32_t advice_count;
  const char *const *devices; /* "0", "0:1" */
  const char *const *uuids;   /* of the same devices; "" where it is not known */
  const uint32_t *pids;       /* of the processes that it is about */
  const char *const *facts;   /* what it rests on: the key of a metric, or a name that ends in its unit, ... */
  const double *values;       /* ... and the number of each */
  const char *const *advice;  /* what to try, the first first */
} gpulse_finding;
/* The worst first. */
GPULSE_API gpulse_status gpulse_get_finding(const gpulse_findings *findings, uint32_t index, gpulse_finding *finding);

/* ---- Which devices a process gets to see ---- */

typedef struct gpulse_visible_options {
  size_t size;
  const char *program;            /* gpulse itself: asked for CUDA's order where GPUs differ; NULL: "gpulse",
                                     which is looked for in PATH */
  const char *const *environment; /* "NAME=value", the last is NULL; NULL: that of this process */
} gpulse_visible_options;
/* The devices of the sample that CUDA, HIP and Level Zero would give the process, in their order, by their own rules
 * for CUDA_VISIBLE_DEVICES and the like. Never initialises CUDA in this process. */
GPULSE_API gpulse_status gpulse_visible(const gpulse_sample *sample, const gpulse_visible_options *options,
                                        gpulse_view **view);
GPULSE_API void gpulse_view_free(gpulse_view *view);

typedef struct gpulse_view_info {
  size_t size;
  uint32_t devices;    /* how many are visible */
  uint32_t ignored;    /* entries of a variable that show no device */
  const char *method;  /* "no mask", "mask", ... : how it was found */
  const char *problem; /* why nothing is visible, or why it is not certain; else "" */
} gpulse_view_info;
GPULSE_API gpulse_status gpulse_get_view(const gpulse_view *view, gpulse_view_info *info);
/* The position in the sample of what the process calls device number `index`; -1: there is none. */
GPULSE_API int32_t gpulse_view_device(const gpulse_view *view, uint32_t index);
typedef struct gpulse_ignored {
  size_t size;
  const char *variable; /* "CUDA_VISIBLE_DEVICES"; "" where no variable is to blame */
  const char *entry;
  const char *reason;
} gpulse_ignored;
GPULSE_API gpulse_status gpulse_get_ignored(const gpulse_view *view, uint32_t index, gpulse_ignored *ignored);

/* ---- Devices for this process alone ---- */

typedef struct gpulse_pick_options {
  size_t size;
  uint32_t count;        /* 1 */
  double min_free;       /* bytes of memory that must be free; NaN: see min_free_share */
  double min_free_share; /* of the memory, 0 to 1; NaN: 0.9, as good as empty */
  double max_util;       /* percent; NaN: 10 where the device tells it */
  double wait;           /* seconds to wait for a free one; 0: looks once; infinite: for ever */
  int32_t pass_on;       /* 1: children of this process and the programs that they start hold the lease too, and it
                            ends with the last of them */
  const char *program;   /* as in gpulse_visible_options */
  /* Called now and then while it waits, on the same thread; anything but 0 gives up. It must not throw. */
  int32_t (*progress)(void *context, double waited, uint32_t free);
  void *context;
} gpulse_pick_options;
GPULSE_API void gpulse_pick_options_init(gpulse_pick_options *options);
/* Takes devices that nobody uses, without a race between processes that pick: among those that are visible to this
 * process. The lease is held until it is freed or the process ends, however it ends. GPULSE_NO_GPU: none is to be had,
 * and the lease says why of each; it must be freed too. GPULSE_CLOSED: `progress` has given up. After that, and after
 * any other failure, nothing is held and `*lease` is NULL. */
GPULSE_API gpulse_status gpulse_pick(const gpulse_pick_options *options, gpulse_lease **lease);
GPULSE_API void gpulse_lease_free(gpulse_lease *lease);

typedef struct gpulse_lease_info {
  size_t size;
  uint32_t devices;
  uint32_t variables;
  uint32_t refused;
} gpulse_lease_info;
GPULSE_API gpulse_status gpulse_get_lease(const gpulse_lease *lease, gpulse_lease_info *info);
typedef struct gpulse_leased {
  size_t size;
  const char *id;     /* "3", "0:1" */
  const char *uuid;
  const char *name;
  const char *reason; /* of one that was refused: why; else "" */
} gpulse_leased;
/* In the order in which the process will see them. */
GPULSE_API gpulse_status gpulse_get_leased(const gpulse_lease *lease, uint32_t device, gpulse_leased *leased);
GPULSE_API gpulse_status gpulse_get_refused(const gpulse_lease *lease, uint32_t index, gpulse_leased *refused);
/* What to set in the environment, before CUDA is used, so that a program sees these devices: the name, and its value
 * in `*value`. NULL: there is none of that number. */
GPULSE_API const char *gpulse_lease_variable(const gpulse_lease *lease, uint32_t index, const char **value);

/* ---- The past ---- */

typedef struct gpulse_history_options {
  size_t size;
  int64_t since;       /* nanoseconds since 1970; 0: all that is kept */
  int64_t until;       /* 0: now */
  double every;        /* seconds that become one row, folded as each metric folds; 0: every sample */
  gpulse_scope scope;  /* GPULSE_DEVICE: a row per sample and device; GPULSE_HOST: a row per sample */
  const char *uuids;   /* devices, with commas; NULL: all */
} gpulse_history_options;
/* NULL options, or all zero but the size: every sample of every device. */
GPULSE_API gpulse_status gpulse_history(const gpulse_monitor *monitor, const gpulse_history_options *options,
                                        gpulse_table **table);
GPULSE_API void gpulse_table_free(gpulse_table *table);
GPULSE_API uint64_t gpulse_table_rows(const gpulse_table *table);
GPULSE_API uint32_t gpulse_table_columns(const gpulse_table *table);

typedef enum gpulse_column_type {
  GPULSE_TIME = 0,    /* int64_t: nanoseconds since 1970, UTC */
  GPULSE_INTEGER = 1, /* int64_t */
  GPULSE_NUMBER = 2,  /* double; NaN where it is not valid */
  GPULSE_STRING = 3,  /* gpulse_table_text() */
} gpulse_column_type;
typedef struct gpulse_column {
  size_t size;
  const char *name; /* "time", "monotonic", "step", "gpu", "uuid", then keys of metrics, without "host." */
  gpulse_column_type type;
  const void *values;      /* as many as rows; NULL for strings */
  const uint8_t *validity; /* bit i: whether row i has a value, the least significant first; NULL: all have */
} gpulse_column;
GPULSE_API gpulse_status gpulse_get_column(const gpulse_table *table, uint32_t column, gpulse_column *info);
GPULSE_API const char *gpulse_table_text(const gpulse_table *table, uint32_t column, uint64_t row);
/* The table as an Arrow stream of one batch, by Arrow's C stream interface (struct ArrowArrayStream). The stream keeps
 * what it needs: the table may be freed first. */
GPULSE_API gpulse_status gpulse_table_arrow(const gpulse_table *table, void *arrow_array_stream);

#ifdef __cplusplus
}
#endif

#endif
