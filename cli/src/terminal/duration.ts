/** Formats a duration for people: `0.4 s`, `12 s`, `3 min 05 s`. */
export function duration(ms: number): string {
  const seconds = ms / 1000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 60) return `${Math.round(seconds)} s`
  const rounded = Math.round(seconds)
  return `${Math.floor(rounded / 60)} min ${String(rounded % 60).padStart(2, '0')} s`
}
