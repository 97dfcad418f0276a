/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what each GPU does, a few times a second.
 *
 *     cc watch.c $(pkg-config --cflags --libs gpulse) -o watch
 *     ./watch [SAMPLES]
 */
#include <gpulse/gpulse.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A number with its unit, or why there is none. */
static void show(const char *label, double value, const char *unit) {
  if (isnan(value)) {
    printf("  %s %s", label, gpulse_reason(value));
  } else {
    printf("  %s %.0f %s", label, value, unit);
  }
}

int main(int argc, char **argv) {
  const long wanted = argc > 1 ? strtol(argv[1], NULL, 10) : 10;

  /* Metrics are looked up once: the rest goes by number. */
  const int32_t use = gpulse_metric("gpu_utilization_percent");
  const int32_t memory = gpulse_metric("memory_used_bytes");
  const int32_t power = gpulse_metric("power_draw_watts");
  const int32_t temperature = gpulse_metric("temperature_gpu_celsius");

  gpulse_options options;
  gpulse_options_init(&options);
  options.interval = 0.2;
  gpulse_monitor *monitor = NULL;
  if (gpulse_open(&options, &monitor) != GPULSE_OK) {
    fprintf(stderr, "watch: %s\n", gpulse_last_error());
    return 1;
  }

  int code = 0;
  uint64_t number = 0;
  for (long i = 0; i < wanted; ++i) {
    gpulse_sample *sample = NULL;
    if (gpulse_wait(monitor, number, 10.0, &sample) != GPULSE_OK) {
      fprintf(stderr, "watch: %s\n", gpulse_last_error());
      code = 1;
      break;
    }
    gpulse_sample_info info = {.size = sizeof info};
    gpulse_get_info(sample, &info);
    number = info.number;
    if (info.devices == 0) printf("%s\n", info.absence);
    for (uint32_t device = 0; device < info.devices; ++device) {
      gpulse_device_info gpu = {.size = sizeof gpu};
      gpulse_get_device(sample, device, &gpu);
      printf("%" PRIu64 " GPU %s %s:", info.number, gpu.id, gpu.name);
      show("use", gpulse_value(sample, use, device), "%");
      show("memory", gpulse_value(sample, memory, device) / (1 << 20), "MiB");
      show("power", gpulse_value(sample, power, device), "W");
      show("temperature", gpulse_value(sample, temperature, device), "C");
      putchar('\n');
    }
    gpulse_release(sample);
  }
  gpulse_close(monitor);
  return code;
}
