/** Returns a tone in the provider's format (24 kHz, 16 bit), which tests can tell from silence. */
export function tone(milliseconds: number, samplesPerSecond = 24_000): Buffer {
  const samples = Math.round((samplesPerSecond * milliseconds) / 1000)
  const pcm = Buffer.alloc(samples * 2)
  for (let at = 0; at < samples; at += 1) {
    pcm.writeInt16LE(Math.round(8000 * Math.sin((2 * Math.PI * 440 * at) / samplesPerSecond)), at * 2)
  }
  return pcm
}

/** Returns the root mean square, from 0 to 32767. */
export function loudness(pcm: Buffer): number {
  const samples = Math.floor(pcm.length / 2)
  let sum = 0
  for (let at = 0; at < samples; at += 1) sum += pcm.readInt16LE(at * 2) ** 2
  return samples === 0 ? 0 : Math.sqrt(sum / samples)
}
