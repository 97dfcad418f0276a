#!/usr/bin/env python3
"""Runs a command in a pseudo-terminal and draws what it shows: the pictures of the documentation are real output.

    tools/terminal_picture.py 100x12 docs/pictures/demo.png build/gpulse --demo
    tools/terminal_picture.py --after 40 --keys "Down Enter wait:2" 100x30 details.png build/gpulse top
    tools/terminal_picture.py --capture screen.txt 80x24 screen.png   # bytes of a terminal, or `tmux capture-pane -e -p`

Keys are typed after so many seconds; then the screen is drawn, and the program ended. Needs pyte and Pillow, and the DejaVu
Sans Mono font.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from pathlib import Path

import pyte
from PIL import Image, ImageDraw, ImageFont

FONTS = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono"
SIZE = 18
DARK, LIGHT = ("#16181d", "#d7dae0"), ("#fbfbfc", "#22252b")  # background, foreground
COLOURS = {
    "black": "#3b4048", "red": "#f0616d", "green": "#7fc77f", "brown": "#e0b64c", "yellow": "#e0b64c",
    "blue": "#6aa5f0", "magenta": "#c586e0", "cyan": "#56c2c9", "white": "#e8eaee",
    "brightblack": "#767d89", "brightred": "#f0616d", "brightgreen": "#7fc77f", "brightbrown": "#e0b64c",
    "brightyellow": "#e0b64c", "brightblue": "#6aa5f0", "brightmagenta": "#c586e0", "brightcyan": "#56c2c9",
}
KEYS = {
    "Up": "\x1b[A", "Down": "\x1b[B", "Right": "\x1b[C", "Left": "\x1b[D", "Enter": "\r", "Esc": "\x1b", "Tab": "\t",
    "Space": " ", "Home": "\x1b[H", "End": "\x1b[F", "PgUp": "\x1b[5~", "PgDn": "\x1b[6~", "F9": "\x1b[20~",
}
# Bits of a braille character: the dots of its left and right column from the top.
BRAILLE = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
# Ends of the lines of a box character: left, right, up, down; 2 is a heavy one.
BOX = {
    "─": (1, 1, 0, 0), "│": (0, 0, 1, 1), "┤": (1, 0, 1, 1), "├": (0, 1, 1, 1), "┬": (1, 1, 0, 1), "┴": (1, 1, 1, 0),
    "┼": (1, 1, 1, 1), "━": (2, 2, 0, 0), "╸": (2, 0, 0, 0), "╺": (0, 2, 0, 0),
    "╭": (0, 1, 0, 1), "╮": (1, 0, 0, 1), "╰": (0, 1, 1, 0), "╯": (1, 0, 1, 0),
    "┌": (0, 1, 0, 1), "┐": (1, 0, 0, 1), "└": (0, 1, 1, 0), "┘": (1, 0, 1, 0),
}


class DimScreen(pyte.Screen):
    """pyte knows no faint text; it is kept as a grey foreground."""

    def select_graphic_rendition(self, *attributes: int, **kwargs: bool) -> None:
        # Behind 38 and 48 stands a colour, where a 2 means something else.
        faint = [90 if a == 2 and not any(b in (38, 48) for b in attributes[max(0, i - 1) : i]) else a
                 for i, a in enumerate(attributes)]
        super().select_graphic_rendition(*(attributes if 38 in attributes or 48 in attributes else faint), **kwargs)


def start(command: list[str], columns: int, rows: int) -> tuple[int, int]:
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", COLUMNS=str(columns), LINES=str(rows))
        os.environ.update(LC_ALL="C.UTF-8")
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execvp(command[0], command)
    return pid, terminal


def read_for(terminal: int, seconds: float | None) -> bytes:
    """What comes within that time; without one, until the end."""
    data = b""
    end = None if seconds is None else time.monotonic() + seconds
    while end is None or time.monotonic() < end:
        left = None if end is None else max(0.0, end - time.monotonic())
        if not select.select([terminal], [], [], left)[0]:
            break
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        data += piece
    return data


def output_of(command: list[str], columns: int, rows: int, after: float | None, keys: str) -> bytes:
    pid, terminal = start(command, columns, rows)
    data = read_for(terminal, after)
    if after is not None:
        for key in keys.split():
            if key.startswith("wait:"):
                data += read_for(terminal, float(key.removeprefix("wait:")))
                continue
            os.write(terminal, KEYS.get(key, key).encode())
            data += read_for(terminal, 0.3)
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return data


def colour(name: str, default: str) -> str:
    if name == "default":
        return default
    return COLOURS.get(name, f"#{name}" if len(name) == 6 else default)


class Picture:
    def __init__(self, screen: pyte.Screen, light: bool) -> None:
        self.screen = screen
        self.background, self.foreground = LIGHT if light else DARK
        self.plain = ImageFont.truetype(f"{FONTS}.ttf", SIZE)
        self.bold = ImageFont.truetype(f"{FONTS}-Bold.ttf", SIZE)
        self.width, self.height, self.margin = round(self.plain.getlength("M")), SIZE + 6, 14
        last = max((y for y in range(screen.lines) if screen.display[y].strip()), default=0)
        self.rows = last + 1
        size = (screen.columns * self.width + 2 * self.margin, self.rows * self.height + 2 * self.margin)
        self.image = Image.new("RGB", size, self.background)
        self.pen = ImageDraw.Draw(self.image)

    def save(self, path: str) -> None:
        for y in range(self.rows):
            for x in range(self.screen.columns):
                self.cell(x, y)
        # Few colours suffice for a terminal, and the file is a third; the method keeps those that few letters have.
        self.image.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)

    def cell(self, x: int, y: int) -> None:
        cell = self.screen.buffer[y][x]
        front, back = colour(cell.fg, self.foreground), colour(cell.bg, self.background)
        if cell.reverse:
            front, back = back, front
        left, top = self.margin + x * self.width, self.margin + y * self.height
        if back != self.background:
            self.pen.rectangle([left, top, left + self.width - 1, top + self.height - 1], fill=back)
        if cell.underscore:
            self.pen.line([left, top + self.height - 3, left + self.width - 1, top + self.height - 3], fill=front)
        if not cell.data.strip():
            return
        if "\u2800" <= cell.data <= "\u28ff":
            self.braille(left, top, ord(cell.data) - 0x2800, front)
        elif "\u2581" <= cell.data <= "\u2588":
            filled = round(self.height * (ord(cell.data) - 0x2580) / 8)
            self.pen.rectangle([left, top + self.height - filled, left + self.width - 1, top + self.height - 1], fill=front)
        elif cell.data == "▐":
            self.pen.rectangle([left + self.width // 2, top, left + self.width - 1, top + self.height - 1], fill=front)
        elif cell.data in BOX:
            self.box(left, top, BOX[cell.data], front)
        else:
            self.pen.text((left, top), cell.data, font=self.bold if cell.bold else self.plain, fill=front)

    def braille(self, left: int, top: int, bits: int, fill: str) -> None:
        for column, dots in enumerate(BRAILLE):
            for row, bit in enumerate(dots):
                if bits & bit:
                    x, y = left + self.width * (2 * column + 1) / 4, top + self.height * (2 * row + 1) / 8
                    self.pen.ellipse([x - 1.6, y - 1.6, x + 1.6, y + 1.6], fill=fill)

    def box(self, left: int, top: int, ends: tuple[int, int, int, int], fill: str) -> None:
        x, y = left + self.width // 2, top + self.height // 2
        lines = ((left, y, x, y), (x, y, left + self.width - 1, y), (x, top, x, y), (x, y, x, top + self.height - 1))
        for line, weight in zip(lines, ends):
            if weight:
                self.pen.line(line, fill=fill, width=1 if weight == 1 else 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--after", type=float, help="seconds to wait before the keys (without: until the command ends)")
    parser.add_argument("--keys", default="", help='such as "Down Enter wait:2 t"')
    parser.add_argument("--light", action="store_true", help="a terminal with a light background")
    parser.add_argument("--capture", type=Path, help="draw the bytes of this file instead of running a command")
    parser.add_argument("size", help="COLUMNSxROWS")
    parser.add_argument("picture")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    columns, rows = (int(part) for part in options.size.split("x"))
    screen = DimScreen(columns, rows)
    if options.capture:
        data = options.capture.read_bytes()
        if b"\r" not in data:
            data = data.rstrip(b"\n").replace(b"\n", b"\r\n")
    else:
        data = output_of(options.command, columns, rows, options.after, options.keys)
    pyte.ByteStream(screen).feed(data)
    Picture(screen, options.light).save(options.picture)


if __name__ == "__main__":
    main()
