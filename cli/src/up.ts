import { randomBytes } from 'node:crypto'
import { type Command, readArguments, readPort } from './command.ts'
import { openApt } from './machine/apt.ts'
import { planEngine } from './machine/engine.ts'
import { acquireUpLock } from './machine/lock.ts'
import { describeEnginePlan, prepareEngine } from './machine/prepare-engine.ts'
import { readVersion, repository } from './machine/repository.ts'
import { hasProgram } from './machine/run.ts'
import { buildPages } from './machine/web-build.ts'
import {
  demoEnvironment,
  platformEnvironment,
  providersWithKey,
  publicListener,
  readDotenv,
} from './platform/environment.ts'
import { nextSteps } from './platform/next-steps.ts'
import { startPlatform } from './platform/platform.ts'
import { runStep } from './platform/run-step.ts'
import { createStopRequest } from './platform/stop-request.ts'
import { ProcessFailed } from './platform/supervised-process.ts'
import { consents } from './terminal/ask.ts'
import { createProgress, type Progress } from './terminal/progress.ts'

export const up: Command = {
  name: 'up',
  summary: 'Install what is missing, start Roost and print the next steps.',
  usage: [
    'roost up [--yes] [--demo] [--port N] [--host ADDRESS] [--data-dir FOLDER] [--without-backup] [--verbose]',
    '',
    '--yes              install what is missing without asking (implied without a terminal)',
    '--demo             answer from the scripted model server when no provider key is set',
    '--port N           public port (default ROOST_PORT or 8000)',
    '--host ADDRESS     address to listen on (default ROOST_HOST or 127.0.0.1)',
    '--data-dir FOLDER  folder for all data (default ROOST_DATA_DIR or ./data)',
    '--without-backup   upgrade the database without a backup before it',
    '--verbose          also print the log of the platform here',
    '',
    'Variables are read from the environment and from the file .env in the project folder.',
  ],
  async run(args) {
    const { values } = readArguments({
      args,
      options: {
        yes: { type: 'boolean', short: 'y', default: false },
        demo: { type: 'boolean', default: false },
        verbose: { type: 'boolean', short: 'v', default: false },
        port: { type: 'string' },
        host: { type: 'string' },
        'data-dir': { type: 'string' },
        'without-backup': { type: 'boolean', default: false },
      },
    })
    const env = platformEnvironment({
      shell: process.env,
      dotenv: await readDotenv(repository.dotenv),
      options: {
        ROOST_PORT: values.port && String(readPort('--port', values.port)),
        ROOST_HOST: values.host,
        ROOST_DATA_DIR: values['data-dir'],
        ROOST_UPGRADE_BACKUP: values['without-backup'] ? 'false' : undefined,
      },
      cwd: process.cwd(),
      root: repository.root,
    })
    const lock = await acquireUpLock(env.ROOST_DATA_DIR, publicListener(env))
    if ('heldBy' in lock) {
      const where = lock.heldBy?.url ? `at ${lock.heldBy.url}` : 'and is still starting'
      const who = lock.heldBy ? ` (process ${lock.heldBy.pid})` : ''
      console.log(`Roost is already running ${where}${who}.`)
      return 0
    }
    const progress = createProgress()
    const stop = createStopRequest()
    try {
      return await runPlatform({ env, values, progress, stop, onReady: lock.ready })
    } catch (error) {
      if (stop.signal.aborted) {
        progress.line('Stopped before it was ready. Run it again to continue.')
        return 130
      }
      if (!(error instanceof ProcessFailed)) throw error
      console.error(error.message)
      return error.exitCode
    } finally {
      stop.dispose()
      await lock.release()
    }
  },
}

type UpOptions = {
  env: NodeJS.ProcessEnv & { ROOST_DATA_DIR: string }
  values: { yes: boolean; demo: boolean; verbose: boolean }
  progress: Progress
  stop: ReturnType<typeof createStopRequest>
  onReady: (url: string) => Promise<void>
}

/** Prepares the machine, then runs the platform until it is stopped; returns the exit code. */
async function runPlatform({ env, values, progress, stop, onReady }: UpOptions): Promise<number> {
  const { signal } = stop
  const apt = await openApt()
  const url = env.ROOST_CONTAINERS_URL ?? null
  const plan = await planEngine({ url, apt, env })
  const required = describeEnginePlan(plan)
  progress.line(`Roost ${await readVersion()}, data in ${env.ROOST_DATA_DIR}`)
  if (required) progress.line(`Required first: ${required}.`)
  if (required && !(await consents('Continue?', values.yes))) {
    progress.line('Nothing was changed.')
    return 1
  }
  const engine = await prepareEngine(plan, { url, apt, progress, signal })
  if (!engine.isUsable) throw new ProcessFailed(`Agents cannot run: ${engine.reason}.`, 1)
  if (engine.notice) progress.line(engine.notice)

  const keys = providersWithKey(env)
  const isDemo = values.demo && keys.length === 0
  const platformEnv: NodeJS.ProcessEnv = {
    ...env,
    ROOST_SUPERVISED: 'true',
    ...(engine.containersUrl ? { ROOST_CONTAINERS_URL: engine.containersUrl } : {}),
  }
  const step = (title: string, file: string, weight?: 'transient') =>
    progress.step(title, (report) => {
      const onProgress = (text: string) => {
        // Where the backup is must stay readable.
        if (text.startsWith('backup of ')) progress.line(text)
        else report(text, weight)
      }
      return runStep({ file, env: platformEnv, cwd: repository.root, onProgress, signal })
    })
  await step('Preparing the agent images', repository.images)
  await step('Preparing the database', repository.migrate, 'transient')
  await progress.step('Building the web UI', (report) =>
    buildPages({ signal, onWait: () => report('waiting for another roost process that is building it') }),
  )

  return startPlatform({
    env: platformEnv,
    dataDir: env.ROOST_DATA_DIR,
    demoEnvironment: isDemo ? demoEnvironment : null,
    isVerbose: values.verbose,
    progress,
    stop,
    async onReady(ready) {
      await onReady(ready.url)
      const notices = [...ready.notices, ...modelNotices(keys, values.demo, ready.notices)]
      const password = randomBytes(12).toString('base64url')
      for (const line of nextSteps({ ...ready, notices }, password, await hasProgram('curl')))
        progress.line(line)
    },
  })
}

/** Explains where answers come from, unless a notice of the platform already does. */
function modelNotices(keys: string[], wantsDemo: boolean, platformNotices: string[]): string[] {
  if (wantsDemo && keys.length === 0) return ['--demo: answers are scripted; no model is called.']
  if (wantsDemo) return [`--demo has no effect, because a provider key is set (${keys.join(', ')}).`]
  if (keys.length > 0 || platformNotices.some((notice) => notice.includes('API_KEY'))) return []
  return [
    'No model provider key is set, so agents cannot answer yet. Put ANTHROPIC_API_KEY=… (or GEMINI_API_KEY, OPENAI_API_KEY) into the file .env and restart, or try `./roost up --demo`.',
  ]
}
