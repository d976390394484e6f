import type { TestEvent } from 'node:test/reporters'
import type { FileOutcome, Outcome } from './outcome.ts'

type RunnerCounts = Record<string, number>
type Said = {
  entryFile?: string
  file?: string
  duration_ms?: number
  counts?: RunnerCounts
  success?: boolean
}

/** A reporter for `node --test` that writes one line: the outcome of the whole run, and of each file, as JSON. */
export default async function* outcomeReporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files = new Map<string, FileOutcome>()
  for await (const event of source) {
    if (event.type !== 'test:fail' && event.type !== 'test:summary') continue
    const said = event.data as Said
    // What a test was written in may be a file that several test files share.
    const path = said.entryFile ?? said.file
    // Each file has a summary of its own, unless it broke off; the one without a file is the sum.
    if (event.type === 'test:summary' && path === undefined) {
      const outcome: Outcome = { counts: countsOf(said.counts), files: [...files.values()] }
      yield `${JSON.stringify(outcome)}\n`
    } else if (path !== undefined) {
      const known = files.get(path) ?? { path, counts: null, seconds: 0, isGreen: true }
      const isGreen = known.isGreen && event.type === 'test:summary' && said.success === true
      const counts = said.counts ? countsOf(said.counts) : known.counts
      files.set(path, { path, counts, seconds: (said.duration_ms ?? 0) / 1000, isGreen })
    }
  }
}

function countsOf(counts: RunnerCounts = {}): Outcome['counts'] {
  return {
    passed: counts.passed ?? 0,
    failed: (counts.failed ?? 0) + (counts.cancelled ?? 0),
    skipped: (counts.skipped ?? 0) + (counts.todo ?? 0),
  }
}
