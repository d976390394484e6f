import type { TestEvent } from 'node:test/reporters'
import type { FileOutcome, Outcome } from './outcome.ts'

type RunnerCounts = Record<string, number>
type EventData = {
  entryFile?: string
  file?: string
  duration_ms?: number
  counts?: RunnerCounts
  success?: boolean
}

/** Reporter for `node --test`: writes one JSON line with the outcome of the whole run and of each file. */
export default async function* outcomeReporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files = new Map<string, FileOutcome>()
  for await (const event of source) {
    if (event.type !== 'test:fail' && event.type !== 'test:summary') continue
    const data = event.data as EventData
    // `file` may be a module that several test files share; `entryFile` is the test file itself.
    const path = data.entryFile ?? data.file
    // Each file has its own summary unless it broke off; the summary without a file is the total.
    if (event.type === 'test:summary' && path === undefined) {
      const outcome: Outcome = { counts: countsOf(data.counts), files: [...files.values()] }
      yield `${JSON.stringify(outcome)}\n`
    } else if (path !== undefined) {
      const recorded = files.get(path) ?? { path, counts: null, seconds: 0, isGreen: true }
      const isGreen = recorded.isGreen && event.type === 'test:summary' && data.success === true
      const counts = data.counts ? countsOf(data.counts) : recorded.counts
      files.set(path, { path, counts, seconds: (data.duration_ms ?? 0) / 1000, isGreen })
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
