"""The five numbers that everybody prints first."""

import gpulse

for gpu in gpulse.visible_devices():
    print("Name:", gpu.name)
    print("Memory:", gpu.memory_used_bytes, "of", gpu.memory_total_bytes)
    print("Temperature:", gpu.temperature_gpu_celsius)
    print("Power:", gpu.power_draw_watts)
    print("Fan:", gpu.fan_speed_percent if gpu.fan_speed_percent is not None else gpu.reason("fan_speed_percent"))
