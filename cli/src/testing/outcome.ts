import { basename, dirname, relative, sep } from 'node:path'

export type Counts = { passed: number; failed: number; skipped: number }
/** The outcome of one test file; `counts` is null when it broke off before its summary. */
export type FileOutcome = { path: string; counts: Counts | null; seconds: number; isGreen: boolean }
export type Outcome = { counts: Counts; files: FileOutcome[] }

/** With more failed files than this, none runs again. */
const maxRepeatedFiles = 6

/**
 * Returns the failed files to run a second time, alone: a few may have failed because of load. Empty when none or
 * too many failed.
 */
export function secondRun({ files }: Outcome): string[] {
  const failed = files.filter(({ isGreen }) => !isGreen).map(({ path }) => path)
  return failed.length <= maxRepeatedFiles ? failed : []
}

/** Totals after a second run, whose results replace the first results of the same files. */
export function afterSecondRun(first: Outcome, second: Outcome): Counts {
  const again = new Set(second.files.map(({ path }) => path))
  const replaced = first.files.filter(({ path }) => again.has(path)).map(({ counts }) => counts)
  const total = (field: keyof Counts) =>
    first.counts[field] + second.counts[field] - replaced.reduce((all, one) => all + (one?.[field] ?? 0), 0)
  // A file that broke off has no counts of its own, but every file that failed first ran again.
  return { passed: total('passed'), failed: second.counts.failed, skipped: total('skipped') }
}

/** Formats the slowest files as one line. */
export function slowest({ files }: Outcome, root: string, count = 12): string {
  return [...files]
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, count)
    .map(({ path, seconds }) => `${shortName(path, root)} ${seconds.toFixed(0)} s`)
    .join(', ')
}

export function shortName(path: string, root: string): string {
  const folder = relative(root, dirname(path)).split(sep).at(-1)
  return `${folder}/${basename(path, '.test.ts')}`
}
