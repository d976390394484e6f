import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { repository } from '../machine/repository.ts'
import { endProcess } from '../machine/run.ts'

export type Counts = { passed: number; failed: number; skipped: number }
export type StageOptions = { env: NodeJS.ProcessEnv; signal: AbortSignal }

/** A check that says in its own words what is wrong; answers whether nothing is. */
export type StaticStage = { name: string; file: string; args: string[] }

const tool = (path: string) => join(repository.root, 'node_modules', path)

/** In the order in which they are run: the quickest to fix first. */
export function staticStages(): StaticStage[] {
  const checks = ['laws', 'docs', 'reference'].map((name) => ({
    name: `checks/${name}.ts`,
    file: process.execPath,
    args: [join('checks', `${name}.ts`)],
  }))
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

/** The server's side, the pages, and what drives the pages: they differ in what there is around them. */
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

/** No test may hang for ever: a file that takes longer than this has failed. */
const fileTimeoutMs = 8 * 60_000

/** Runs the files with Node's runner, which prints its own report. Null counts: it broke off before its sum. */
export async function runTests(
  files: string[],
  names: string[],
  options: StageOptions,
): Promise<{ isGreen: boolean; counts: Counts | null }> {
  const countsFile = join(repository.local, `test-counts-${process.pid}.json`)
  await mkdir(repository.local, { recursive: true })
  const args = [
    '--test',
    // Real engines and CLIs in many tests: more at a time than processors only makes them time out.
    `--test-concurrency=${Math.max(1, Math.min(4, availableParallelism()))}`,
    `--test-timeout=${fileTimeoutMs}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${join(import.meta.dirname, 'counts-reporter.ts')}`,
    `--test-reporter-destination=${countsFile}`,
    ...names.map((name) => `--test-name-pattern=${name}`),
    ...files,
  ]
  try {
    const code = await runInherited(process.execPath, args, options)
    const counts = await readCounts(countsFile)
    return { isGreen: code === 0 && counts !== null, counts }
  } finally {
    await rm(countsFile, { force: true })
  }
}

async function readCounts(path: string): Promise<Counts | null> {
  const line = (await readFile(path, 'utf8').catch(() => '')).trim().split('\n').at(-1)
  if (!line) return null
  // Written by the reporter beside this file.
  const sum = JSON.parse(line) as Record<string, number>
  return {
    passed: sum.passed ?? 0,
    failed: (sum.failed ?? 0) + (sum.cancelled ?? 0),
    skipped: (sum.skipped ?? 0) + (sum.todo ?? 0),
  }
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
