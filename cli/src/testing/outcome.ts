import { basename, dirname, relative, sep } from 'node:path'

export type Counts = { passed: number; failed: number; skipped: number }
/** Of one test file; `counts` is null when it broke off before its sum. */
export type FileOutcome = { path: string; counts: Counts | null; seconds: number; isGreen: boolean }
export type Outcome = { counts: Counts; files: FileOutcome[] }

/** More files than this are no accident: what fails is told at once and not run again. */
const mostAccidents = 6

/**
 * The files that are worth a second run, alone on the machine: few enough to have failed by what else it was
 * doing. Empty when there are none, or too many.
 */
export function secondRun({ files }: Outcome): string[] {
  const failed = files.filter(({ isGreen }) => !isGreen).map(({ path }) => path)
  return failed.length <= mostAccidents ? failed : []
}

/** The sum after some files ran again: what they said the first time does not count. */
export function afterSecondRun(first: Outcome, second: Outcome): Counts {
  const again = new Set(second.files.map(({ path }) => path))
  const replaced = first.files.filter(({ path }) => again.has(path)).map(({ counts }) => counts)
  const sum = (field: keyof Counts) =>
    first.counts[field] + second.counts[field] - replaced.reduce((all, one) => all + (one?.[field] ?? 0), 0)
  // A file that broke off has no sum of its own; all that failed the first time ran again.
  return { passed: sum('passed'), failed: second.counts.failed, skipped: sum('skipped') }
}

/** The files that took longest, as one line. */
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
