#!/usr/bin/env python3
"""Runs a command in a pseudo-terminal and draws what it shows: the pictures of the documentation are real output.

    tools/terminal_picture.py 100x12 docs/pictures/demo.png build/gpulse --demo

Needs pyte and Pillow, and the DejaVu Sans Mono font.
"""

import fcntl
import os
import pty
import struct
import sys
import termios

import pyte
from PIL import Image, ImageDraw, ImageFont

FONTS = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono"
SIZE = 18
BACKGROUND, FOREGROUND = "#16181d", "#d7dae0"
COLOURS = {
    "black": "#3b4048", "red": "#f0616d", "green": "#7fc77f", "brown": "#e0b64c", "yellow": "#e0b64c",
    "blue": "#6aa5f0", "magenta": "#c586e0", "cyan": "#56c2c9", "white": "#e8eaee",
    "brightblack": "#767d89", "brightred": "#f0616d", "brightgreen": "#7fc77f", "brightbrown": "#e0b64c",
    "brightyellow": "#e0b64c", "brightblue": "#6aa5f0", "brightmagenta": "#c586e0", "brightcyan": "#56c2c9",
}


class DimScreen(pyte.Screen):
    """pyte knows no faint text; it is kept as a grey foreground."""

    def select_graphic_rendition(self, *attributes: int, **kwargs: bool) -> None:
        super().select_graphic_rendition(*[90 if a == 2 else a for a in attributes], **kwargs)


def output_of(command: list[str], columns: int, rows: int) -> bytes:
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS=str(columns), LINES=str(rows), LC_ALL="C.UTF-8")
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    data = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        data += piece
    os.waitpid(pid, 0)
    return data


def colour(name: str, default: str) -> str:
    if name == "default":
        return default
    return COLOURS.get(name, f"#{name}" if len(name) == 6 else default)


def draw(screen: pyte.Screen, path: str) -> None:
    plain = ImageFont.truetype(f"{FONTS}.ttf", SIZE)
    bold = ImageFont.truetype(f"{FONTS}-Bold.ttf", SIZE)
    width, height, margin = round(plain.getlength("M")), SIZE + 6, 14
    last = max((y for y in range(screen.lines) if screen.display[y].strip()), default=0)
    image = Image.new("RGB", (screen.columns * width + 2 * margin, (last + 1) * height + 2 * margin), BACKGROUND)
    pen = ImageDraw.Draw(image)
    for y in range(last + 1):
        for x in range(screen.columns):
            cell = screen.buffer[y][x]
            front, back = colour(cell.fg, FOREGROUND), colour(cell.bg, BACKGROUND)
            if cell.reverse:
                front, back = back, front
            at = (margin + x * width, margin + y * height)
            if back != BACKGROUND:
                pen.rectangle([at, (at[0] + width, at[1] + height)], fill=back)
            if cell.data.strip():
                pen.text(at, cell.data, font=bold if cell.bold else plain, fill=front)
    image.save(path, optimize=True)


def main() -> None:
    size, path, *command = sys.argv[1:]
    columns, rows = (int(part) for part in size.split("x"))
    screen = DimScreen(columns, rows)
    pyte.ByteStream(screen).feed(output_of(command, columns, rows))
    draw(screen, path)


if __name__ == "__main__":
    main()
