/** Processes of a platform of any release, started from its folder at a given time. */
import { type ChildProcess, type ForkOptions, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

export type Running = {
  child: ChildProcess
  /** Everything that it wrote to its output and error streams. */
  output(): string
  end(signal: NodeJS.Signals): Promise<void>
}

type Start = {
  /** Folder of the release. */
  root: string
  /** Time at which the process believes to start. */
  at: Date
  env: Record<string, string>
}

const clock = join(import.meta.dirname, 'shifted-clock.ts')

/** Starts a program of the platform; resolves when it reports that it is ready, and rejects with its reason. */
export async function startProcess(file: string, { root, at, env }: Start): Promise<Running> {
  const options: ForkOptions = {
    cwd: root,
    env: { ...basicEnvironment(), ...env, ROOST_TEST_CLOCK: at.toISOString() },
    execArgv: ['--import', pathToFileURL(clock).href],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  }
  const child = fork(join(root, file), [], options)
  const running = runningOf(child)
  await new Promise<void>((resolve, reject) => {
    child.on('message', (message: { type?: string; reason?: string }) => {
      if (message.type === 'ready') resolve()
      if (message.type === 'fatal') reject(new Error(message.reason))
    })
    child.once('exit', (code) =>
      reject(new Error(`${file} ended with ${code}:\n${running.output().slice(-4000)}`)),
    )
  })
  return running
}

type StartAgent = Start & {
  /** Folder of the agent: its workspace and the state of its program. */
  folder: string
  name: string
  key: string
  linkUrl: string
}

/** Starts the agent program of a release with its runtime for tests, as the entry of a container does. */
export async function startAgentProgram({ root, at, env, ...agent }: StartAgent): Promise<Running> {
  const isRoot = process.getuid?.() === 0
  const [home, scratch, volume] = ['home', 'scratch', 'volume'].map((name) => join(agent.folder, name)) as [
    string,
    string,
    string,
  ]
  for (const folder of [home, scratch, volume, join(volume, 'homes')]) {
    await mkdir(folder, { recursive: true })
    if (isRoot) await chown(folder, 1000, 1000)
  }
  await chmod(agent.folder, 0o755)
  // As `/tmp`.
  await chmod(scratch, 0o1777)
  // Programs that separate principals have a user of their own; without it and its volume they end at their start.
  const isSeparate = existsSync(join(root, 'agent/src/principals'))
  const rights = isSeparate ? '+setuid,+setgid,+chown' : '+setuid,+setgid'
  const user = ['/usr/bin/setpriv', `--reuid=${isSeparate ? 900 : 1000}`, '--regid=1000', '--clear-groups']
  const prefix = isRoot ? [...user, `--inh-caps=${rights}`, `--ambient-caps=${rights}`] : []
  const program = join(root, 'agent/src/test/program.ts')
  const [command = '', ...args] = [
    ...prefix,
    ...[process.execPath, '--import', pathToFileURL(clock).href, program],
  ]
  const child = spawn(command, args, {
    env: {
      ...basicEnvironment(),
      LANG: 'C.UTF-8',
      AGENT_NAME: agent.name,
      ROOST_LINK_URL: agent.linkUrl,
      ROOST_AGENT_KEY: agent.key,
      ROOST_HOME: home,
      ROOST_SCRATCH: scratch,
      ROOST_VOLUME: volume,
      ROOST_TEMPLATE: join(agent.folder, 'template'),
      TMPDIR: join(home, '.tmp'),
      ...env,
      ROOST_TEST_CLOCK: at.toISOString(),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return runningOf(child)
}

function basicEnvironment(): Record<string, string> {
  return { PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin` }
}

function runningOf(child: ChildProcess): Running {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (output += text))
  return {
    child,
    output: () => output,
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill(signal)
      await ended
    },
  }
}
