// One stream for all tabs of a browser, which has only six connections to one host: a shared worker has it open and hands
// on what comes. It runs for as long as a tab does, and has the stream for as long as a tab wants it.

import { Stream } from "./stream";

const ports = new Map<MessagePort, string[]>();
const stream = new Stream((message) => {
  for (const port of ports.keys()) port.postMessage(message);
});

const scope = self as unknown as { onconnect: (event: MessageEvent) => void };
scope.onconnect = (event) => {
  const port = event.ports[0];
  if (!port) return;
  port.onmessage = ({ data }: MessageEvent<{ wants?: string[]; base?: string; bye?: boolean }>) => {
    if (data.bye) {
      ports.delete(port);
      if (!ports.size) stream.close();
      return;
    }
    if (data.wants && data.base) {
      ports.set(port, data.wants);
      stream.want([...new Set([...ports.values()].flat())], data.base);
      // A tab that comes later has to be told what the others were told already.
      for (const message of stream.greeting()) port.postMessage(message);
    }
  };
};
