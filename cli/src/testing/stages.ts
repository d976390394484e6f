import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join, relative, sep } from 'node:path'
import { repository } from '../machine/repository.ts'
import { endProcess, run } from '../machine/run.ts'
import {
  afterSecondRun,
  type Counts,
  type FileCoverage,
  joined,
  type Outcome,
  secondRun,
  timeLines,
} from './outcome.ts'
import { runsAlone } from './test-files.ts'

export type StageOptions = { env: NodeJS.ProcessEnv; signal: AbortSignal }

/** A check that prints its own problems; exit code 0 means that there are none. */
export type StaticStage = { name: string; file: string; args: string[] }

export const tool = (path: string) => join(repository.root, 'node_modules', path)

/** Returns the stages in running order; the problems that are quickest to fix come first. */
export function staticStages(): StaticStage[] {
  const checks = ['laws', 'docs', 'language', 'reference', 'coverage'].map(checkStage)
  return [
    {
      name: 'biome ci',
      file: process.execPath,
      args: [tool('@biomejs/biome/bin/biome'), 'ci', '--diagnostic-level=error', '.'],
    },
    ...typeChecks(),
    ...checks.filter(({ args }) => args.every((path) => existsSync(join(repository.root, path)))),
  ]
}

export function checkStage(name: string): StaticStage {
  return { name: `checks/${name}.ts`, file: process.execPath, args: [join('checks', `${name}.ts`)] }
}

/** The server, the web UI and the browser tests have different global types. */
function typeChecks(): StaticStage[] {
  return ['tsconfig.json', 'web/tsconfig.json', 'checks/browser/tsconfig.json'].map((project) => ({
    name: `tsc --noEmit -p ${project}`,
    file: process.execPath,
    args: [tool('typescript/bin/tsc'), '--noEmit', '-p', project],
  }))
}

export async function runStatic(stage: StaticStage, options: StageOptions): Promise<boolean> {
  return (await runInherited(stage.file, stage.args, options)) === 0
}

/** Like `runStatic`, and returns the output instead of printing it: for a stage beside other output. */
export async function runStaticQuietly(
  { file, args }: StaticStage,
  { env, signal }: StageOptions,
): Promise<{ isGreen: boolean; lines: string[] }> {
  if (signal.aborted) return { isGreen: false, lines: [] }
  const lines: string[] = []
  const onLine = (line: string) => void lines.push(line)
  const { code } = await run(file, args, { cwd: repository.root, env, signal, onLine })
  return { isGreen: code === 0, lines }
}

/** Limit per test; `watchdog.ts` has the limit per file. */
const testTimeoutMs = 8 * 60_000
/** Limit for all files together. It ends the run early enough to report which files have finished. */
const totalTimeoutMs = 83 * 60_000
/** In a full run, files that have not started after this time are left out and named: a busy machine is no failure. */
export const startLimitMs = 50 * 60_000

export type TestsRun = {
  isGreen: boolean
  /** Null when the runner broke off before its summary. */
  counts: Counts | null
  /** Files that failed in the first run and passed in the second, alone; paths below the repository. */
  unstable: string[]
  /** Lines about the areas and files that took longest. */
  times: string[]
  /** Branches of the source files of the server and the agent; empty unless measured. */
  coverage: FileCoverage[]
  /** Files that did not start before the deadline; paths below the repository. */
  leftOut: string[]
}

/**
 * Runs all files; if only a few fail, they run again, one at a time. A file that passes only then is unstable; the
 * caller decides what follows.
 */
export async function runTests(files: string[], names: string[], options: TestsOptions): Promise<TestsRun> {
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(totalTimeoutMs)])
  const first = await runInGroups(files, names, { ...options, signal })
  const { outcome } = first
  if (!outcome) return { isGreen: false, counts: null, unstable: [], times: [], coverage: [], leftOut: [] }
  const base = {
    counts: outcome.counts,
    unstable: [],
    times: timeLines(outcome, repository.root),
    coverage: outcome.coverage,
    leftOut: first.leftOut.map((path) => relative(repository.root, path)),
  }
  const repeated = first.isGreen || signal.aborted ? [] : secondRun(outcome)
  if (repeated.length === 0) return { ...base, isGreen: first.isGreen }
  const second = await runFiles(repeated, names, {
    ...options,
    signal,
    concurrency: 1,
    measuresCoverage: false,
    startUntil: undefined,
  })
  if (!second.outcome) return { ...base, isGreen: false }
  const passedAgain = new Map(second.outcome.files.map(({ path, isGreen }) => [path, isGreen]))
  return {
    ...base,
    isGreen: second.isGreen,
    counts: afterSecondRun(outcome, second.outcome),
    unstable: repeated.filter((path) => passedAgain.get(path)).map((path) => relative(repository.root, path)),
  }
}

/** Files that run together, with options of their own. */
type Group = { files: string[]; concurrency?: number; measuresCoverage?: boolean }

async function runInGroups(files: string[], names: string[], options: TestsOptions): Promise<FilesRun> {
  const together = files.filter((path) => !runsAlone(path))
  const groups: Group[] = [
    ...(options.measuresCoverage ? measuredGroups(together) : [{ files: together }]),
    { files: files.filter(runsAlone), concurrency: 1 },
  ]
  const runs: FilesRun[] = []
  for (const { files: paths, ...own } of groups)
    if (paths.length > 0)
      runs.push(await runFiles(paths, names, { ...options, measuresCoverage: false, ...own }))
  const outcomes = runs.flatMap(({ outcome }) => outcome ?? [])
  return {
    isGreen: runs.every(({ isGreen }) => isGreen),
    outcome: outcomes.length === runs.length ? joined(outcomes) : null,
    leftOut: runs.flatMap(({ leftOut }) => leftOut),
  }
}

/**
 * Runs the quick files first, so that the deadline leaves out the fewest. Measuring takes a sixth longer, so only the
 * files of the measured packages are run with it.
 */
function measuredGroups(files: string[]): Group[] {
  const isBelow = (path: string, folders: string[]) =>
    folders.some((name) => path.startsWith(`${name}${sep}`))
  const measured = files.filter((path) => isBelow(path, measuredPackages))
  const slow = files.filter((path) => isBelow(path, ['checks']))
  const others = files.filter((path) => !measured.includes(path) && !slow.includes(path))
  return [{ files: measured, measuresCoverage: true }, { files: others }, { files: slow }]
}

export type TestsOptions = StageOptions & {
  /** Measures which branches of the server and the agent run in the tests of their packages. */
  measuresCoverage?: boolean
  /** Files that have not started at this time (in milliseconds since 1970) are left out. */
  startUntil?: number | undefined
  /** Files that run concurrently; by default one more than there are processors, at most four. */
  concurrency?: number
  /** Suppresses the report of Node's runner. */
  isQuiet?: boolean
}

const specReporter = join(import.meta.dirname, 'spec-reporter.ts')
const measuredPackages = ['server', 'agent']
const coverageArgs = [
  '--experimental-test-coverage',
  ...measuredPackages.map((name) => `--test-coverage-include=${name}/src/**/*.ts`),
  '--test-coverage-exclude=**/*.test.ts',
  '--test-coverage-exclude=**/test/**',
]

/** A null outcome means that the runner broke off before its summary. `leftOut`: absolute paths. */
type FilesRun = { isGreen: boolean; outcome: Outcome | null; leftOut: string[] }

/** Runs the files with Node's runner. */
export async function runFiles(files: string[], names: string[], options: TestsOptions): Promise<FilesRun> {
  const outcomeFile = join(repository.local, `test-outcome-${process.pid}.json`)
  const leftOutFile = join(repository.local, `tests-left-out-${process.pid}`)
  await mkdir(repository.local, { recursive: true })
  // Many tests run real engines and CLIs, which time out with many more files than processors. One more file than
  // processors uses the time in which others wait.
  const concurrency = options.concurrency ?? Math.min(4, availableParallelism() + 1)
  const args = [
    `--import=${join(import.meta.dirname, 'watchdog.ts')}`,
    '--test',
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${testTimeoutMs}`,
    ...(options.isQuiet ? [] : [`--test-reporter=${specReporter}`, '--test-reporter-destination=stdout']),
    ...(options.measuresCoverage ? coverageArgs : []),
    `--test-reporter=${join(import.meta.dirname, 'outcome-reporter.ts')}`,
    `--test-reporter-destination=${outcomeFile}`,
    ...names.map((name) => `--test-name-pattern=${name}`),
    ...files,
  ]
  try {
    // Each file is its own process; the cache shares stripped and compiled modules between them.
    const env = {
      NODE_COMPILE_CACHE: join(repository.local, 'compile-cache'),
      ...options.env,
      // Read by `watchdog.ts`.
      ROOST_TEST_START_UNTIL: options.startUntil === undefined ? '' : String(options.startUntil),
      ROOST_TEST_LEFT_OUT: leftOutFile,
    }
    const code = await runInherited(process.execPath, args, { ...options, env })
    const outcome = await readOutcome(outcomeFile)
    const leftOut = (await readFile(leftOutFile, 'utf8').catch(() => '')).split('\n').filter(Boolean)
    return { isGreen: code === 0 && outcome !== null, outcome, leftOut }
  } finally {
    for (const path of [outcomeFile, leftOutFile]) await rm(path, { force: true })
  }
}

async function readOutcome(path: string): Promise<Outcome | null> {
  const line = (await readFile(path, 'utf8').catch(() => '')).trim().split('\n').at(-1)
  // Written by the reporter beside this file.
  return line ? (JSON.parse(line) as Outcome) : null
}

async function runInherited(
  file: string,
  args: string[],
  { env, signal }: StageOptions,
): Promise<number | null> {
  if (signal.aborted) return null
  const child = spawn(file, args, { cwd: repository.root, env, stdio: ['ignore', 'inherit', 'inherit'] })
  const cancel = () => void endProcess(child, 10_000)
  signal.addEventListener('abort', cancel, { once: true })
  const code = await new Promise<number | null>((resolve) => {
    child.on('error', () => resolve(null))
    child.on('close', resolve)
  })
  signal.removeEventListener('abort', cancel)
  return code
}
