import type { Step } from './steps.ts'

const chunkSize = 40

/** Chunks of a few dozen steps, rendered when they come near the screen. */
export function chunksOf(steps: readonly Step[]): (readonly Step[])[] {
  const chunks: (readonly Step[])[] = []
  for (let from = 0; from < steps.length; from += chunkSize) chunks.push(steps.slice(from, from + chunkSize))
  return chunks
}

/** Whether this chunk shows a line. A line without a step belongs to the step before it. */
export function holdsLine(chunk: readonly Step[], next: readonly Step[] | undefined, line: number): boolean {
  const first = firstLine(chunk)
  const nextFirst = next ? firstLine(next) : null
  return first !== null && first <= line && (nextFirst === null || line < nextFirst)
}

function firstLine(chunk: readonly Step[]): number | null {
  return chunk.find(({ line }) => line !== null)?.line ?? null
}

/** The line in the address, e.g. 12 in `#L12`; null otherwise. */
export function lineOfHash(hash: string): number | null {
  const [, digits] = /^#L([1-9]\d{0,8})$/.exec(hash) ?? []
  return digits === undefined ? null : Number(digits)
}
