import { describeFault } from './fault.ts'

/** What became of one row. `code` is the platform's error code; null for a refusal by this application. */
export type RowResult =
  | { state: 'waiting' | 'running' | 'not_begun' }
  | { state: 'done'; text: string }
  | { state: 'refused'; text: string; code: string | null }

/** Results by the key of the row. */
export type BatchResults = ReadonlyMap<string, RowResult>

/** Requests at the same time: few enough to leave the platform room for others. */
export const batchConcurrency = 4

export type BatchInput<Row> = {
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** Returns what happened, as a sentence. Throws when the row is refused. */
  act: (row: Row) => Promise<string>
  /** Ends what has not begun. Requests that were sent are finished. */
  signal: AbortSignal
  onChange: (results: BatchResults) => void
}

/** Acts on each row in order. A refused row does not stop the others. */
export async function runBatch<Row>({ rows, keyOf, act, signal, onChange }: BatchInput<Row>): Promise<void> {
  let results = new Map<string, RowResult>(rows.map((row) => [keyOf(row), { state: 'waiting' }]))
  const set = (key: string, result: RowResult) => {
    results = new Map(results).set(key, result)
    onChange(results)
  }
  onChange(results)
  const waiting = [...rows]
  const work = async () => {
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
      const key = keyOf(row)
      if (signal.aborted) {
        set(key, { state: 'not_begun' })
        continue
      }
      set(key, { state: 'running' })
      set(key, await resultOf(act, row))
    }
  }
  await Promise.all(Array.from({ length: batchConcurrency }, work))
}

async function resultOf<Row>(act: (row: Row) => Promise<string>, row: Row): Promise<RowResult> {
  try {
    return { state: 'done', text: await act(row) }
  } catch (error) {
    const { sentence, code } = describeFault(error)
    return { state: 'refused', text: sentence, code: error instanceof Refusal ? null : code }
  }
}

/** A row that this application refuses, with the reason as a sentence. */
export class Refusal extends Error {}

export type BatchCounts = Record<RowResult['state'], number>

export function countResults(results: BatchResults): BatchCounts {
  const counts: BatchCounts = { waiting: 0, running: 0, not_begun: 0, done: 0, refused: 0 }
  for (const { state } of results.values()) counts[state] += 1
  return counts
}

/** The rows to deselect afterwards. The others can be tried again. */
export function keysDone(results: BatchResults): string[] {
  return [...results].filter(([, { state }]) => state === 'done').map(([key]) => key)
}
