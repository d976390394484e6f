import { randomBytes } from 'node:crypto'
import { type Command, readArguments, readPort } from './command.ts'
import { openApt } from './machine/apt.ts'
import { planEngine } from './machine/engine.ts'
import { takeUpLock } from './machine/lock.ts'
import { enginePlanWords, prepareEngine } from './machine/prepare-engine.ts'
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
import { ProcessFailed } from './platform/kept-process.ts'
import { nextSteps } from './platform/next-steps.ts'
import { startPlatform } from './platform/platform.ts'
import { runStep } from './platform/run-step.ts'
import { createStopRequest } from './platform/stop-request.ts'
import { consents } from './terminal/ask.ts'
import { createProgress, type Progress } from './terminal/progress.ts'

export const up: Command = {
  name: 'up',
  summary: 'Set up what is missing, start Roost and say what to do next.',
  usage: [
    'roost up [--yes] [--demo] [--port N] [--host ADDRESS] [--data-dir FOLDER] [--verbose]',
    '',
    '--yes              install what is missing without asking; so does a missing terminal',
    '--demo             answer with the scripted model server instead of a provider, when no key is set',
    '--port N           public port (ROOST_PORT, 8000)',
    '--host ADDRESS     address to listen at (ROOST_HOST, 127.0.0.1)',
    '--data-dir FOLDER  where everything is kept (ROOST_DATA_DIR, ./data)',
    '--verbose          print the log of the platform here as well',
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
      },
    })
    const env = platformEnvironment({
      shell: process.env,
      dotenv: await readDotenv(repository.dotenv),
      options: {
        ROOST_PORT: values.port && String(readPort('--port', values.port)),
        ROOST_HOST: values.host,
        ROOST_DATA_DIR: values['data-dir'],
      },
      cwd: process.cwd(),
      root: repository.root,
    })
    const lock = await takeUpLock(env.ROOST_DATA_DIR, publicListener(env))
    if ('heldBy' in lock) {
      const where = lock.heldBy?.url ? `at ${lock.heldBy.url}` : 'and is still starting'
      const who = lock.heldBy ? ` (process ${lock.heldBy.pid})` : ''
      console.log(`Roost is already running ${where}${who}.`)
      return 0
    }
    const progress = createProgress()
    const stop = createStopRequest()
    try {
      return await bringUp({ env, values, progress, stop, onReady: lock.ready })
    } catch (error) {
      if (stop.signal.aborted) {
        progress.line('Stopped before it was ready. Run it again to go on.')
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

type BringUp = {
  env: NodeJS.ProcessEnv & { ROOST_DATA_DIR: string }
  values: { yes: boolean; demo: boolean; verbose: boolean }
  progress: Progress
  stop: ReturnType<typeof createStopRequest>
  onReady: (url: string) => Promise<void>
}

/** From a machine as it is to a platform that runs; ends when that is stopped. */
async function bringUp({ env, values, progress, stop, onReady }: BringUp): Promise<number> {
  const { signal } = stop
  const apt = await openApt()
  const url = env.ROOST_CONTAINERS_URL ?? null
  const plan = await planEngine({ url, apt, env })
  const need = enginePlanWords(plan)
  progress.line(`Roost ${await readVersion()}, data in ${env.ROOST_DATA_DIR}`)
  if (need) progress.line(`Needed first: ${need}.`)
  if (need && !(await consents('Go on?', values.yes))) {
    progress.line('Nothing was changed.')
    return 1
  }
  const engine = await prepareEngine(plan, { url, apt, progress, signal })
  if (!engine.isUsable) throw new ProcessFailed(`Agents have nothing to run in: ${engine.why}.`, 1)
  if (engine.notice) progress.line(engine.notice)

  const keys = providersWithKey(env)
  const isDemo = values.demo && keys.length === 0
  const platformEnv: NodeJS.ProcessEnv = {
    ...env,
    ROOST_SUPERVISED: 'true',
    ...(engine.containersUrl ? { ROOST_CONTAINERS_URL: engine.containersUrl } : {}),
  }
  const step = (title: string, file: string, weight?: 'passing') =>
    progress.step(title, (say) => {
      const onProgress = (text: string) => say(text, weight)
      return runStep({ file, env: platformEnv, cwd: repository.root, onProgress, signal })
    })
  await step('Preparing the agent images', repository.images)
  await step('Preparing the database', repository.migrate, 'passing')
  await progress.step('Building the pages', (say) =>
    buildPages({ signal, onWait: () => say('waiting for another roost that builds them') }),
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

/** Where answers come from, in plain words, unless the platform has said so itself. */
function modelNotices(keys: string[], wantsDemo: boolean, said: string[]): string[] {
  if (wantsDemo && keys.length === 0)
    return ['--demo: the answers of agents are scripted, no model is asked.']
  if (wantsDemo) return [`--demo does nothing here, because a provider key is set (${keys.join(', ')}).`]
  if (keys.length > 0 || said.some((notice) => notice.includes('API_KEY'))) return []
  return [
    'no model provider key is set, so agents cannot answer yet. Put ANTHROPIC_API_KEY=… (or GEMINI_API_KEY, OPENAI_API_KEY) into the file .env and start again, or try `./roost up --demo`.',
  ]
}
