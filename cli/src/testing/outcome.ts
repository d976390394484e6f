import { basename, dirname, relative, sep } from 'node:path'

export type Counts = { passed: number; failed: number; skipped: number }
/** The outcome of one test file; `counts` is null when it broke off before its summary. */
export type FileOutcome = { path: string; counts: Counts | null; seconds: number; isGreen: boolean }
/** Branches of one source file: how many it has and how many ran in any process of the run. */
export type FileCoverage = { path: string; branches: number; covered: number }
/** `coverage` is empty unless the run measured it. */
export type Outcome = { counts: Counts; files: FileOutcome[]; coverage: FileCoverage[] }

/** The outcome of runs of different files. */
export function joined(outcomes: readonly Outcome[]): Outcome {
  const total = (field: keyof Counts) => outcomes.reduce((sum, { counts }) => sum + counts[field], 0)
  return {
    counts: { passed: total('passed'), failed: total('failed'), skipped: total('skipped') },
    files: outcomes.flatMap(({ files }) => files),
    coverage: outcomes.flatMap(({ coverage }) => coverage),
  }
}

/** With more failed files than this, none runs again. */
const maxRepeatedFiles = 6

/**
 * Returns the failed files to run a second time, alone: a few may have failed because of load. Empty when none or
 * too many failed.
 */
export function secondRun({ files }: Pick<Outcome, 'files'>): string[] {
  const failed = files.filter(({ isGreen }) => !isGreen).map(({ path }) => path)
  return failed.length <= maxRepeatedFiles ? failed : []
}

type Results = Pick<Outcome, 'counts' | 'files'>

/** Totals after a second run, whose results replace the first results of the same files. */
export function afterSecondRun(first: Results, second: Results): Counts {
  const again = new Set(second.files.map(({ path }) => path))
  const replaced = first.files.filter(({ path }) => again.has(path)).map(({ counts }) => counts)
  const total = (field: keyof Counts) =>
    first.counts[field] + second.counts[field] - replaced.reduce((all, one) => all + (one?.[field] ?? 0), 0)
  // A file that broke off has no counts of its own, but every file that failed first ran again.
  return { passed: total('passed'), failed: second.counts.failed, skipped: total('skipped') }
}

/** Formats where the time went: the areas that took longest, then the files. */
export function timeLines(outcome: Pick<Outcome, 'files'>, root: string): string[] {
  const areas = new Map<string, number>()
  for (const { path, seconds } of outcome.files) {
    const area = relative(root, path).split(sep).slice(0, 2).join('/')
    areas.set(area, (areas.get(area) ?? 0) + seconds)
  }
  const longest = [...areas].toSorted(([, a], [, b]) => b - a).slice(0, 8)
  const areaTimes = longest.map(([area, seconds]) => `${area} ${(seconds / 60).toFixed(1)} min`)
  return [`Time by area: ${areaTimes.join(', ')}`, `Slowest files: ${slowest(outcome, root)}`]
}

function slowest({ files }: Pick<Outcome, 'files'>, root: string): string {
  return [...files]
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, 12)
    .map(({ path, seconds }) => `${shortName(path, root)} ${seconds.toFixed(0)} s`)
    .join(', ')
}

export function shortName(path: string, root: string): string {
  const folder = relative(root, dirname(path)).split(sep).at(-1)
  return `${folder}/${basename(path, '.test.ts')}`
}

/** Files with a lower share of covered branches are listed. */
const minPercent = 70

/** Formats the share of covered branches per package and the files below the minimum, the lowest first. */
export function coverageLines(coverage: readonly FileCoverage[], root: string): string[] {
  if (coverage.length === 0) return []
  const files = coverage.map((file) => ({ ...file, path: relative(root, file.path) }))
  const packages = [...new Set(files.map(({ path }) => path.split(sep)[0] ?? ''))].sort()
  const shares = packages.map((name) => {
    const own = files.filter(({ path }) => path.startsWith(`${name}${sep}`))
    const sum = (field: 'branches' | 'covered') => own.reduce((all, file) => all + file[field], 0)
    return `${name} ${percentOf(sum('covered'), sum('branches')).toFixed(1)} %`
  })
  const low = files
    .map(({ path, branches, covered }) => ({ path, percent: percentOf(covered, branches) }))
    .filter(({ percent }) => percent < minPercent)
    .sort((a, b) => a.percent - b.percent)
  const heading = `Files with less than ${minPercent} % of their branches covered: ${low.length}`
  return [
    `Branch coverage: ${shares.join(', ')}`,
    heading,
    ...low.map(({ path, percent }) => `  ${percent.toFixed(0).padStart(3)} %  ${path}`),
  ]
}

function percentOf(covered: number, branches: number): number {
  return branches === 0 ? 100 : (covered / branches) * 100
}
