import type { TestEvent } from 'node:test/reporters'
import type { FileCoverage, FileOutcome, Outcome } from './outcome.ts'

type RunnerCounts = Record<string, number>
type EventData = {
  entryFile?: string
  file?: string
  duration_ms?: number
  counts?: RunnerCounts
  success?: boolean
  summary?: { files: { path: string; totalBranchCount: number; coveredBranchCount: number }[] }
}

/** Reporter for `node --test`: writes one JSON line with the outcome of the whole run and of each file. */
export default async function* outcomeReporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files = new Map<string, FileOutcome>()
  let coverage: FileCoverage[] = []
  // Node reports the coverage after the last summary, so the line is written at the end.
  let counts: Outcome['counts'] | null = null
  for await (const event of source) {
    const data = event.data as EventData
    if (event.type === 'test:coverage') coverage = coverageOf(data.summary)
    if (event.type !== 'test:fail' && event.type !== 'test:summary') continue
    // `file` may be a module that several test files share; `entryFile` is the test file itself.
    const path = data.entryFile ?? data.file
    // Each file has its own summary unless it broke off; the summary without a file is the total.
    if (event.type === 'test:summary' && path === undefined) {
      counts = countsOf(data.counts)
    } else if (path !== undefined) {
      const recorded = files.get(path) ?? { path, counts: null, seconds: 0, isGreen: true }
      const isGreen = recorded.isGreen && event.type === 'test:summary' && data.success === true
      const fileCounts = data.counts ? countsOf(data.counts) : recorded.counts
      files.set(path, { path, counts: fileCounts, seconds: (data.duration_ms ?? 0) / 1000, isGreen })
    }
  }
  if (!counts) return
  const outcome: Outcome = { counts, files: [...files.values()], coverage }
  yield `${JSON.stringify(outcome)}\n`
}

function coverageOf(summary: EventData['summary']): FileCoverage[] {
  return (summary?.files ?? []).map(({ path, totalBranchCount, coveredBranchCount }) => {
    return { path, branches: totalBranchCount, covered: coveredBranchCount }
  })
}

function countsOf(counts: RunnerCounts = {}): Outcome['counts'] {
  return {
    passed: counts.passed ?? 0,
    failed: (counts.failed ?? 0) + (counts.cancelled ?? 0),
    skipped: (counts.skipped ?? 0) + (counts.todo ?? 0),
  }
}
