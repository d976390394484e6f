const units = ['bytes', 'KB', 'MB', 'GB', 'TB', 'PB'] as const

/** A size with one decimal, such as `1.5 GB`; 1 KB is 1,024 bytes, as in the web UI. */
export function bytesText(bytes: number): string {
  const step = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** step
  return `${step === 0 ? value : value.toFixed(1).replace(/\.0$/, '')} ${units[step]}`
}
