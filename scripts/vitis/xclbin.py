"""The container `.xclbin` as the Xilinx Runtime's xclbin.h lays it out, for the replaced tools of the
check: a head of 304 bytes, a header of 152, 40 bytes for each section, the sections."""

import struct
from pathlib import Path

HEADER, SECTIONS, ROW = 304, 456, 40
KINDS = {"BITSTREAM": 0, "EMBEDDED_METADATA": 2, "MEM_TOPOLOGY": 6, "CONNECTIVITY": 7, "IP_LAYOUT": 8,
         "CLOCK_FREQ_TOPOLOGY": 11, "BUILD_METADATA": 14, "USER_METADATA": 16}
MODES = {"hw": 0, "hw_emu": 4, "sw_emu": 5}


def write(path: Path, mode: int, platform: str, sections: list):
    """Writes a file of sections, each a kind and its bytes."""
    data, rows = b"", b""
    for kind, content in sections:
        data += bytes(-len(data) % 8)
        at = SECTIONS + ROW * len(sections) + len(data)
        rows += struct.pack("<I16x4xQQ", kind, at, len(content))
        data += content
    length = SECTIONS + len(rows) + len(data)
    header = bytearray(SECTIONS - HEADER)
    struct.pack_into("<Q", header, 0, length)
    struct.pack_into("<HBBH", header, 24, 0, 2, 13, mode)
    header[48:48 + len(platform)] = platform.encode()
    header[112:128] = bytes(range(16))
    struct.pack_into("<I", header, 144, len(sections))
    head = b"xclbin2\0" + struct.pack("<i", -1) + b"\xff" * 28
    path.write_bytes(head.ljust(HEADER, b"\0") + header + rows + data)


def read(path: Path):
    """Mode, platform and sections of a file."""
    data = path.read_bytes()
    if data[:8] != b"xclbin2\0":
        raise ValueError(f"{path} is no xclbin")
    (mode,) = struct.unpack_from("<H", data, HEADER + 28)
    platform = data[HEADER + 48:HEADER + 112].split(b"\0")[0].decode()
    (count,) = struct.unpack_from("<I", data, HEADER + 144)
    sections = []
    for i in range(count):
        kind, at, size = struct.unpack_from("<I16x4xQQ", data, SECTIONS + ROW * i)
        sections.append((kind, data[at:at + size]))
    return mode, platform, sections
