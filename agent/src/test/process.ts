import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chownSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeTestHome, type TestHome } from './home.ts'
import { startTestPlatform, type TestPlatform } from './platform.ts'

/** The program as its own process, as in a container. */
export type TestProgram = {
  platform: TestPlatform
  place: TestHome
  /** Unix user of the first other person. */
  firstUid: number
  /** `script` is relative to `src/`. As root, it is started the way the container's entry starts it. */
  start(script: string, variables?: Record<string, string>): ChildProcess
  /** Fills the program's compile cache, as the image does. */
  warm(): void
  end(program: ChildProcess, signal: NodeJS.Signals): Promise<unknown>
  hello(count: number): Promise<TestPlatform['hellos'][number]>
  [Symbol.asyncDispose](): Promise<void>
}

/** The command prefix of the container's entry. */
export const asProgram = [
  '/usr/bin/setpriv',
  '--reuid=900',
  '--regid=1000',
  '--clear-groups',
  '--inh-caps=+setuid,+setgid,+chown',
  '--ambient-caps=+setuid,+setgid,+chown',
]

export async function prepareProgram(): Promise<TestProgram> {
  const platform = await startTestPlatform()
  const place = makeTestHome()
  const programs: ChildProcess[] = []
  const isRoot = process.getuid?.() === 0
  const cache = join(place.root, 'compile-cache')
  const volume = join(place.root, 'volume')
  // The end of a user's last turn kills all its processes. Here that would include those of containers, whose users
  // are numbered from 20,001.
  const lastUid = randomInt(30_000, 50_000)
  const homes = join(volume, 'homes')
  const folders = [cache, volume, homes, join(homes, String(lastUid))]
  for (const folder of folders) mkdirSync(folder)
  if (isRoot) for (const folder of [place.home, place.scratch, ...folders]) chownSync(folder, 1000, 1000)
  const env = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    LANG: 'C.UTF-8',
    NODE_COMPILE_CACHE: cache,
    AGENT_NAME: 'tester',
    ROOST_LINK_URL: platform.url,
    ROOST_AGENT_KEY: platform.key,
    ROOST_HOME: place.home,
    ROOST_VOLUME: volume,
    ROOST_SCRATCH: place.scratch,
    ROOST_TEMPLATE: join(place.root, 'template'),
    TMPDIR: join(place.home, '.tmp'),
  }
  const end = async (program: ChildProcess, signal: NodeJS.Signals) => {
    const ended = new Promise((done) => program.once('exit', (code) => done(code)))
    program.kill(signal)
    return await ended
  }
  return {
    platform,
    place,
    firstUid: lastUid + 1,
    start(script, variables = {}) {
      const prefix = isRoot ? asProgram : []
      const path = fileURLToPath(new URL(`../${script}`, import.meta.url))
      const [command = '', ...args] = [...prefix, process.execPath, path]
      const program = spawn(command, args, { env: { ...env, ...variables }, stdio: 'ignore' })
      programs.push(program)
      return program
    },
    warm() {
      if (isRoot) chownSync(cache, 900, 1000)
      const script = fileURLToPath(new URL('../../../images/agent/warm.ts', import.meta.url))
      // Without capabilities it stays one user, which writes the cache at its exit.
      const prefix = isRoot ? asProgram.filter((each) => !each.includes('-caps=')) : []
      const [command = '', ...args] = [...prefix, process.execPath, script]
      const { status } = spawnSync(command, args, { env, stdio: 'inherit' })
      if (status !== 0) throw new Error('the compile cache was not filled')
    },
    end,
    hello: (count) => platform.until(() => platform.hellos[count - 1], `hello ${count}`),
    async [Symbol.asyncDispose]() {
      for (const program of programs)
        if (program.exitCode === null && program.signalCode === null) await end(program, 'SIGKILL')
      await platform.close()
      place[Symbol.dispose]()
    },
  }
}
