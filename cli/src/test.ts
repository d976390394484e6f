import { type Command, readArguments, UsageError } from './command.ts'
import { repository } from './machine/repository.ts'
import { createStopRequest } from './platform/stop-request.ts'
import { duration } from './terminal/duration.ts'
import { createProgress } from './terminal/progress.ts'
import { prepareTestMachine } from './testing/prepare.ts'
import { runStatic, runTests, type StageOptions, staticStages, type TestsRun } from './testing/stages.ts'
import { findTestFiles, runOrder } from './testing/test-files.ts'

export const test: Command = {
  name: 'test',
  summary: 'Set up what tests need, then run every check and test of this repository.',
  usage: [
    'roost test [PATH or part of a path]… [--name PATTERN] [--no-setup]',
    '',
    'PATH            only these test files, or those of a folder; without the checks of the code',
    '--name PATTERN  only tests whose name matches',
    '--no-setup      install and start nothing; tests that miss something are skipped',
  ],
  async run(args) {
    const { values, positionals } = readArguments({
      args,
      options: {
        name: { type: 'string', multiple: true, default: [] },
        'no-setup': { type: 'boolean', default: false },
      },
      allowPositionals: true,
    })
    const isPart = positionals.length > 0 || values.name.length > 0
    const files = runOrder(findTestFiles(repository.root, positionals, process.cwd()))
    if (files.length === 0) throw new UsageError(`No test file matches ${positionals.join(' ')}.`)

    const stop = createStopRequest()
    const { signal } = stop
    const progress = createProgress()
    const startedAt = Date.now()
    const machine = values['no-setup']
      ? { env: {}, missing: [], stop: async () => {} }
      : await prepareTestMachine(progress, signal).catch((error: unknown) => {
          if (signal.aborted) return null
          throw error
        })
    if (!machine) return 130
    try {
      const times = [`setting up ${duration(Date.now() - startedAt)}`]
      for (const what of machine.missing) progress.line(`Missing, so some tests are skipped: ${what}`)
      const stage: StageOptions = { env: { ...process.env, ...machine.env, NODE_ENV: 'test' }, signal }
      const failed: string[] = []
      for (const check of isPart ? [] : staticStages()) {
        const from = Date.now()
        progress.line(`\n— ${check.name}`)
        if (!(await runStatic(check, stage))) failed.push(check.name)
        times.push(`${check.name} ${duration(Date.now() - from)}`)
      }
      const from = Date.now()
      progress.line(`\n— node --test (${files.length} files)`)
      const tests = await runTests(files, values.name, stage)
      times.push(`node --test ${duration(Date.now() - from)}`)
      if (!tests.isGreen) failed.push('node --test')
      for (const line of summary({ times, failed, tests, isStopped: signal.aborted })) progress.line(line)
      return signal.aborted ? 130 : failed.length > 0 ? 1 : 0
    } finally {
      await machine.stop()
      stop.dispose()
    }
  },
}

type Ending = { times: string[]; failed: string[]; tests: TestsRun; isStopped: boolean }

/** The closing lines; the last one is alone on its line, for programs that read it. */
function summary({ times, failed, tests, isStopped }: Ending): string[] {
  const lines = ['', `Times: ${times.join(', ')}`]
  if (tests.slowest) lines.push(`Slowest files: ${tests.slowest}`)
  if (tests.unsteady.length > 0) lines.push(`Passed only when run again, alone: ${tests.unsteady.join(', ')}`)
  if (isStopped) lines.push('Stopped before the end.')
  else if (failed.length > 0) lines.push(`Not in order: ${failed.join(', ')}`)
  if (tests.counts) {
    const { passed, failed: broken, skipped } = tests.counts
    lines.push(`${passed} passed, ${broken} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  }
  return lines
}
