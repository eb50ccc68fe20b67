// Writes all of a buffer, however little the system takes at a time.

type Writer = { write(bytes: Buffer, position: number): Promise<number> };

/** Throws what `write` throws, or an `Error` when it makes no progress. */
export async function writeWhole(file: Writer, bytes: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const count = await file.write(written === 0 ? bytes : bytes.subarray(written), position + written);
    if (count <= 0) throw new Error('the file system takes no more bytes and does not say why');
    written += count;
  }
}
