import { type Command, readArguments, UsageError } from './command.ts'
import { repository } from './machine/repository.ts'
import { createStopRequest } from './platform/stop-request.ts'
import { duration } from './terminal/duration.ts'
import { createProgress, type Progress } from './terminal/progress.ts'
import { missingForCluster } from './testing/cluster.ts'
import { runFuzz } from './testing/fuzz.ts'
import { coverageLines } from './testing/outcome.ts'
import { prepareTestMachine } from './testing/prepare.ts'
import { planQuick } from './testing/quick.ts'
import {
  runStatic,
  runStaticQuietly,
  runTests,
  type StageOptions,
  type StaticStage,
  startLimitMs,
  staticStages,
  type TestsRun,
} from './testing/stages.ts'
import { clusterTests, findTestFiles, isClusterTest, isReleaseTest } from './testing/test-files.ts'
import { listProblems, readUnstableList, unlisted, unstableListPath } from './testing/unstable.ts'

export const test: Command = {
  name: 'test',
  summary: 'Set up what tests need, then run the checks and tests of this repository.',
  usage: [
    'roost test [PATH or part of a path]… [--name PATTERN] [--no-setup]',
    'roost test --quick',
    'roost test --fuzz',
    'roost test --runtime NAME [PATH]…',
    'roost test --release',
    'roost test --cluster [PATH]…',
    '',
    'PATH            run only these test files, or those of a folder; skip the static checks',
    '--name PATTERN  run only tests whose name matches',
    '--no-setup      install and start nothing; skip tests that need what is missing',
    '--quick         check only what changed since the last commit: import laws, formatting, types and',
    '                the nearest unit tests, on SQLite, without any setup',
    '--fuzz          run only the fuzz test of the API, for minutes instead of seconds, with a new seed;',
    '                ROOST_FUZZ_SEED repeats a run, ROOST_FUZZ_ROUNDS sets its length (60)',
    '--runtime NAME  run the acceptance tests of agents, chat, tasks, files and the terminal with this OCI',
    '                runtime, such as runsc (gVisor, installed when missing), and print what works',
    '--release       run only the tests that precede a release: the images with Docker Compose, and upgrades from',
    '                earlier versions; without this option they run only by their path',
    '--cluster       run only the tests on a Kubernetes cluster, which this command builds and starts here; skip',
    '                them with the reason where none can run; ROOST_CLUSTER_CACHE selects the folder of the build',
  ],
  async run(args) {
    const { values, positionals } = readArguments({
      args,
      options: {
        name: { type: 'string', multiple: true, default: [] },
        'no-setup': { type: 'boolean', default: false },
        quick: { type: 'boolean', default: false },
        fuzz: { type: 'boolean', default: false },
        runtime: { type: 'string' },
        release: { type: 'boolean', default: false },
        cluster: { type: 'boolean', default: false },
      },
      allowPositionals: true,
    })
    const { runtime, cluster, release } = values
    const isChosen = positionals.length > 0 || values.name.length > 0 || runtime !== undefined || cluster
    const isPart = isChosen || release
    const isFixed = values.quick || values.fuzz || values['no-setup']
    if (release && (isChosen || isFixed)) throw new UsageError('--release takes no path and no other option.')
    if (runtime !== undefined && (isFixed || cluster))
      throw new UsageError('--runtime takes only paths and --name.')
    if (cluster && isFixed) throw new UsageError('--cluster takes only paths and --name.')
    if (values.quick) {
      if (isPart || values['no-setup'] || values.fuzz)
        throw new UsageError('--quick takes no path and no other option.')
      return runQuick()
    }
    if (values.fuzz) {
      if (isPart || values['no-setup']) throw new UsageError('--fuzz takes no path and no other option.')
      const stop = createStopRequest()
      const isGreen = await runFuzz(stop).finally(() => stop.dispose())
      return stop.signal.aborted ? 130 : isGreen ? 0 : 1
    }
    const paths = positionals.length > 0 ? positionals : runtime ? runtimeTests : []
    const found = findTestFiles(repository.root, paths, process.cwd())
    const files = found.filter(
      (path) => isClusterTest(path) === cluster && (isChosen || isReleaseTest(path) === release),
    )
    if (files.length === 0) throw new UsageError(noFilesMessage({ positionals, found, cluster }))

    const stop = createStopRequest()
    const { signal } = stop
    const progress = createProgress()
    const missing = cluster ? await missingForCluster(signal) : null
    if (missing !== null) {
      stop.dispose()
      progress.line(`The tests on a cluster are skipped. ${missing}`)
      return 0
    }
    const startedAt = Date.now()
    const machine = values['no-setup']
      ? { env: {}, missing: [], stop: async () => {} }
      : await prepareTestMachine(progress, signal, { runtime, cluster }).catch((error: unknown) => {
          if (signal.aborted) return null
          throw error
        })
    if (!machine) return 130
    try {
      const times = [`setting up ${duration(Date.now() - startedAt)}`]
      for (const missing of machine.missing) progress.line(`Missing, so some tests are skipped: ${missing}`)
      const stage: StageOptions = { env: { ...process.env, ...machine.env, NODE_ENV: 'test' }, signal }
      const failed = await runStages(isPart ? [] : staticStages(), { stage, progress, times })
      const from = Date.now()
      progress.line(`\n— node --test (${files.length} files)`)
      const tests = await runTests(files, values.name, {
        ...stage,
        measuresCoverage: !isPart,
        startUntil: isPart ? undefined : from + startLimitMs,
        // Each file has a cluster of its own, and mostly waits for it.
        concurrency: cluster ? 2 : undefined,
      })
      times.push(`node --test ${duration(Date.now() - from)}`)
      if (!tests.isGreen) failed.push('node --test')
      if (!isPart) failed.push(...(await unstableProblems(tests, progress)))
      for (const line of summary({ times, failed, tests, isStopped: signal.aborted })) progress.line(line)
      return signal.aborted ? 130 : failed.length > 0 ? 1 : 0
    } finally {
      await machine.stop()
      stop.dispose()
    }
  },
}

type Selection = { positionals: string[]; found: string[]; cluster: boolean }

function noFilesMessage({ positionals, found, cluster }: Selection): string {
  if (found.length > 0 && !cluster) return `The tests in ${clusterTests} run with --cluster.`
  if (cluster) return `No test file in ${clusterTests} matches ${positionals.join(' ')}.`
  return `No test file matches ${positionals.join(' ')}.`
}

/** The acceptance tests that `--runtime` runs: files and the terminal are in `workspace`. */
const runtimeTests = ['agents', 'chat', 'tasks', 'workspace', 'container-runtime'].map(
  (area) => `checks/acceptance/${area}.test.ts`,
)

/** Runs the stages in order and returns the names of those that failed. */
async function runStages(
  stages: readonly StaticStage[],
  { stage, progress, times }: { stage: StageOptions; progress: Progress; times: string[] },
): Promise<string[]> {
  const failed: string[] = []
  for (const check of stages) {
    const from = Date.now()
    progress.line(`\n— ${check.name}`)
    if (!(await runStatic(check, stage))) failed.push(check.name)
    times.push(`${check.name} ${duration(Date.now() - from)}`)
  }
  return failed
}

/** Runs the stages in order, without printing. */
async function runQuietly(stages: readonly StaticStage[], stage: StageOptions) {
  const results = []
  for (const check of stages) {
    const from = Date.now()
    const result = await runStaticQuietly(check, stage)
    results.push({ name: check.name, ...result, time: duration(Date.now() - from) })
  }
  return results
}

const noTests = { passed: 0, failed: 0, skipped: 0 }

async function runQuick(): Promise<number> {
  const stop = createStopRequest()
  const { signal } = stop
  const progress = createProgress()
  const times: string[] = []
  try {
    const plan = await planQuick()
    progress.line(`Changed: ${plan.changed.join(', ')}`)
    const stage: StageOptions = { env: { ...process.env, NODE_ENV: 'test' }, signal }
    // Beside the tests: each of the two alone leaves processors idle.
    const checks = runQuietly(plan.stages, stage)
    const from = Date.now()
    progress.line(`\n— node --test (${plan.tests.length} files)`)
    const tests: TestsRun =
      plan.tests.length === 0
        ? { isGreen: true, counts: noTests, unstable: [], times: [], coverage: [], leftOut: [] }
        : await runTests(plan.tests, [], stage)
    const failed: string[] = []
    for (const { name, isGreen, lines, time } of await checks) {
      for (const line of [`\n— ${name}`, ...lines]) progress.line(line)
      if (!isGreen) failed.push(name)
      times.push(`${name} ${time}`)
    }
    times.push(`node --test ${duration(Date.now() - from)}`)
    if (!tests.isGreen) failed.push('node --test')
    for (const line of summary({ times, failed, tests, isStopped: signal.aborted })) progress.line(line)
    if (plan.skippedTests > 0) {
      progress.line(`${plan.skippedTests} more test files depend on this change: run ./roost test.`)
    }
    return signal.aborted ? 130 : failed.length > 0 ? 1 : 0
  } finally {
    stop.dispose()
  }
}

/** Names the unstable files that are not listed. Fails a full run when the list itself has a problem. */
async function unstableProblems({ unstable }: TestsRun, progress: Progress): Promise<string[]> {
  const list = await readUnstableList(repository.root)
  for (const file of unlisted(unstable, list))
    progress.line(`${file} passed only in its second run: fix it, or list it in ${unstableListPath}`)
  const problems = listProblems(list, new Date())
  for (const problem of problems) progress.line(problem)
  return problems.length > 0 ? [unstableListPath] : []
}

type Ending = { times: string[]; failed: string[]; tests: TestsRun; isStopped: boolean }

/** The closing lines. Programs parse the counts, so these have a line of their own. */
function summary({ times, failed, tests, isStopped }: Ending): string[] {
  const lines = ['', `Times: ${times.join(', ')}`]
  lines.push(...tests.times)
  lines.push(...coverageLines(tests.coverage, repository.root))
  if (tests.unstable.length > 0) lines.push(`Passed only in the second run: ${tests.unstable.join(', ')}`)
  if (tests.leftOut.length > 0) {
    const limit = duration(startLimitMs)
    lines.push(`Left out, because they had not started after ${limit}: ${tests.leftOut.join(', ')}`)
  }
  if (isStopped) lines.push('Stopped before the end.')
  else if (failed.length > 0) lines.push(`Failed: ${failed.join(', ')}`)
  if (tests.counts) {
    const { passed, failed: broken, skipped } = tests.counts
    lines.push(`${passed} passed, ${broken} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  }
  return lines
}
