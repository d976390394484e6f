import type { Step } from './steps.ts'

const chunkSize = 40

/** The steps in pieces of a few dozen, which are built when they come near the screen. */
export function chunksOf(steps: readonly Step[]): (readonly Step[])[] {
  const chunks: (readonly Step[])[] = []
  for (let from = 0; from < steps.length; from += chunkSize) chunks.push(steps.slice(from, from + chunkSize))
  return chunks
}

/** Whether a line is shown in this chunk; a line without a step of its own belongs to the step before it. */
export function holdsLine(chunk: readonly Step[], next: readonly Step[] | undefined, line: number): boolean {
  const first = firstLine(chunk)
  const nextFirst = next ? firstLine(next) : null
  return first !== null && first <= line && (nextFirst === null || line < nextFirst)
}

function firstLine(chunk: readonly Step[]): number | null {
  return chunk.find(({ line }) => line !== null)?.line ?? null
}

/** The line that an address names, e.g. 12 of `#L12`; null for anything else. */
export function lineOfHash(hash: string): number | null {
  const [, digits] = /^#L([1-9]\d{0,8})$/.exec(hash) ?? []
  return digits === undefined ? null : Number(digits)
}
