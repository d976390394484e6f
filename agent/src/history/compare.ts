import { encoding, type Listing } from './listing.ts'

/** Lines that only one of two listings has, in the order of the listing. */
export type Difference = { gone: string[]; came: { line: string; at: number }[] }

type Window = { lines: string[]; ends: number[] }

const chunkBytes = 64 * 1024
const firstWindow = 32

/**
 * Compares two listings without parsing what they have in common. The result does not depend on the order of the
 * lines; only the time does.
 */
export function compareListings(before: Listing, after: Listing): Difference {
  const gone: string[] = []
  const came: Difference['came'] = []
  let a = 0
  let b = 0
  let size = firstWindow
  while (a < before.length || b < after.length) {
    const same = commonLines(before, a, after, b)
    a += same
    b += same
    const left = windowOf(before, a, size)
    const right = windowOf(after, b, size)
    const met = meet(left.lines, right.lines)
    const isLast = a + lengthOf(left, a) >= before.length && b + lengthOf(right, b) >= after.length
    if (!met && !isLast) {
      size *= 4
      continue
    }
    const [i, j] = met ?? [left.lines.length, right.lines.length]
    for (const line of left.lines.slice(0, i)) gone.push(line)
    for (const [at, line] of right.lines.slice(0, j).entries())
      came.push({ line, at: at === 0 ? b : (right.ends[at - 1] ?? b) })
    a = i > 0 ? (left.ends[i - 1] ?? a) : a
    b = j > 0 ? (right.ends[j - 1] ?? b) : b
    size = firstWindow
  }
  // A file system may list unchanged entries in another order.
  const moved = new Set(came.map(({ line }) => line))
  const isSame = new Set(gone.filter((line) => moved.has(line)))
  if (isSame.size === 0) return { gone, came }
  return {
    gone: gone.filter((line) => !isSame.has(line)),
    came: came.filter(({ line }) => !isSame.has(line)),
  }
}

const lengthOf = ({ ends }: Window, start: number) => (ends.at(-1) ?? start) - start

/** Number of equal bytes from here on, up to the end of a line. */
function commonLines(before: Buffer, a: number, after: Buffer, b: number): number {
  const most = Math.min(before.length - a, after.length - b)
  let equal = 0
  for (let step = chunkBytes; step > 0; ) {
    const next = Math.min(step, most - equal)
    const isEqual =
      next > 0 && before.compare(after, b + equal, b + equal + next, a + equal, a + equal + next) === 0
    if (isEqual) equal += next
    else step >>= 1
  }
  if (equal === 0) return 0
  return Math.max(0, before.lastIndexOf(0, a + equal - 1) + 1 - a)
}

function windowOf(listing: Buffer, from: number, count: number): Window {
  const window: Window = { lines: [], ends: [] }
  for (let at = from; at < listing.length && window.lines.length < count; ) {
    const end = listing.indexOf(0, at)
    window.lines.push(listing.toString(encoding, at, end))
    window.ends.push(end + 1)
    at = end + 1
  }
  return window
}

/** Returns the positions of the first line of the second window that the first one has too. */
function meet(left: string[], right: string[]): [number, number] | null {
  const places = new Map(left.map((line, index) => [line, index]))
  for (const [j, line] of right.entries()) {
    const i = places.get(line)
    if (i !== undefined) return [i, j]
  }
  return null
}
