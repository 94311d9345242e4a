"""What is packed inside a file: archives, compressed and encoded texts, opened in memory and never without a bound."""

from __future__ import annotations

import base64
import binascii
import bz2
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator

#: Bytes of one member, of all members together, and members that are looked at.
_MEMBER = 4 << 20
_TOTAL = 64 << 20
_MEMBERS = 2000
_BASE64 = re.compile(rb"\s*+(?:[A-Za-z0-9+/_-]{4}|\s++)*[A-Za-z0-9+/_-]{2,4}={0,2}\s*+")
_BASE64_LEAST = 60


def contents(data: bytes) -> list[tuple[str, bytes]]:
    """(name, content) of what a file packs, the name "" for a compressed or encoded stream; nothing for other files."""
    try:
        return list(_bounded(data))
    except (OSError, EOFError, ValueError, KeyError, RuntimeError, NotImplementedError, MemoryError):
        return []
    except (zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, binascii.Error):
        return []


def _bounded(data: bytes) -> Iterator[tuple[str, bytes]]:
    if data[:4] == b"PK\x03\x04":
        yield from _zip(data)
        return
    stream = _unpacked(data)
    if stream is None:
        if data[257:262] != b"ustar":
            return
        stream = data
    if stream[257:262] == b"ustar":
        yield from _tar(stream)
    elif stream is not data:
        yield "", stream


def _unpacked(data: bytes) -> bytes | None:
    """A compressed or encoded stream's content, None for any other file."""
    if data[:2] == b"\x1f\x8b":
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, _TOTAL)
    if data[:3] == b"BZh":
        return bz2.BZ2Decompressor().decompress(data, _TOTAL)
    if data[:6] == b"\xfd7zXZ\x00":
        return lzma.LZMADecompressor().decompress(data, _TOTAL)
    if len(data) >= _BASE64_LEAST and len(data) <= _MEMBER and _BASE64.fullmatch(data):
        inner = base64.b64decode(
            b"".join(data.split()).replace(b"-", b"+").replace(b"_", b"/"), validate=True
        )
        return _unpacked(inner) or inner
    return None


def _zip(data: bytes) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        left = _TOTAL
        for info in archive.infolist()[:_MEMBERS]:
            if info.is_dir() or left <= 0:
                continue
            with archive.open(info) as member:
                content = member.read(min(_MEMBER, left))
            left -= len(content)
            yield info.filename, content


def _tar(stream: bytes) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(stream), mode="r:") as archive:
        for number, info in enumerate(archive):
            if number >= _MEMBERS:
                return
            member = archive.extractfile(info) if info.isreg() else None
            if member is not None:
                yield info.name, member.read(_MEMBER)
