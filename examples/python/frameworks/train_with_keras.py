"""Keras: what each epoch took of the GPU, in the history and in what other callbacks write.

    KERAS_BACKEND=torch python train_with_keras.py log.csv
"""

import sys
import time

import keras
import numpy

from gpulse.integrations.keras import GpulseCallback

BATCH = 16


class Slow(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch: int, logs: object = None) -> None:
        time.sleep(0.05)  # so that there is something to see


model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
history = model.fit(
    numpy.random.rand(800, 8),
    numpy.random.rand(800, 1),
    batch_size=BATCH,
    epochs=int(sys.argv[2]) if len(sys.argv) > 2 else 2,
    callbacks=[Slow(), GpulseCallback(batch_size=BATCH), keras.callbacks.CSVLogger(sys.argv[1])],
    verbose=0,
)
for name, values in history.history.items():
    print(name, [round(value, 2) for value in values])
