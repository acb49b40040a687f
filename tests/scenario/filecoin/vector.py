"""vector: a directory of bellperson's vectors (tests/fixtures/filecoin/README.md) for a script."""
import hashlib
import lzma
import os
import shutil
import struct

R = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
CARRIED = ("abc.bin", "density.bin", "h.bin", "msm.bin", "r1cs.bin", "witness.bin", "public.bin")


class Vector:
    """Its files, those in .xz unpacked, lie in `work`; names are as in the directory."""

    def __init__(self, directory, work):
        self.directory, self.work = directory, work
        os.makedirs(work, exist_ok=True)
        self.info = dict(line.split(None, 1) for line in open(self.file("info.txt")) if " " in line)
        self.name = self.info["name"].strip()
        for name in CARRIED:
            self._unpack(name)
        self._write_wtns()

    def file(self, name):
        return os.path.join(self.directory, name)

    def has(self, name):
        return os.path.exists(self.file(name))

    def path(self, name):
        """Unpacked, or made here."""
        return os.path.join(self.work, name)

    def own(self, ending):
        return self.file(self.name + ending)

    def _unpack(self, name):
        if self.has(name):
            shutil.copyfile(self.file(name), self.path(name))
        elif self.has(name + ".xz"):
            with lzma.open(self.file(name + ".xz")) as packed, open(self.path(name), "wb") as out:
                shutil.copyfileobj(packed, out, 1 << 20)

    def _write_wtns(self):
        """witness.bin as a .wtns: the inputs are the first wires, the aux variables the rest."""
        with open(self.path("witness.bin"), "rb") as f, open(self.path("w.wtns"), "wb") as out:
            inputs, aux = struct.unpack("<2Q", f.read(16))
            n = inputs + aux
            out.write(b"wtns" + struct.pack("<IIIQI", 2, 2, 1, 40, 32) + R.to_bytes(32, "little"))
            out.write(struct.pack("<IIQ", n, 2, 32 * n))
            shutil.copyfileobj(f, out, 1 << 20)

    def rs(self, zero=False):
        """r and s as MILLRACE_TEST_RS has them."""
        return "0,0" if zero else f"{int(self.info['r'], 16)},{int(self.info['s'], 16)}"

    def publics(self):
        data = open(self.path("public.bin"), "rb").read()
        return [str(int.from_bytes(data[i : i + 32], "little")) for i in range(0, len(data), 32)]

    def sums(self):
        """{file: SHA-256} of what the directory names by its digest alone."""
        if not self.has("SHA256SUMS"):
            return {}
        return {name: digest for digest, name in (line.split() for line in open(self.file("SHA256SUMS")))}


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        while piece := f.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def same(path, expected):
    with open(path, "rb") as a, open(expected, "rb") as b:
        while True:
            x, y = a.read(1 << 20), b.read(1 << 20)
            if x != y:
                return False
            if not x:
                return True
