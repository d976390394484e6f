/**
 * Machines with their own network interfaces and host names, as namespaces on one private switch. Their addresses exist
 * only there, so tests can run concurrently, and ports and loopback addresses of two machines differ. Needs root.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { promisify } from 'node:util'

const exec = promisify(execFile)

export type Output = { code: number | null; text: string }

export type Running = {
  /** The first match in the output so far or later. Rejects when the program ends without it. */
  until(pattern: RegExp): Promise<RegExpExecArray>
  /** Ends the program and waits for it. */
  end(signal?: NodeJS.Signals): Promise<Output>
  readonly ended: Promise<Output>
}

export type Machine = {
  /** Runs a program to its end. */
  run(file: string, args: readonly string[], options?: RunOptions): Promise<Output>
  start(file: string, args: readonly string[], options?: RunOptions): Running
}
export type RunOptions = { cwd?: string; env?: NodeJS.ProcessEnv }

export type Machines = AsyncDisposable & { add(name: string, address: string): Promise<Machine> }

export const canMakeMachines = process.geteuid?.() === 0

/** A switch; `add` connects machines to it. Programs that still run at the end are asked to stop. */
export async function startSwitch(): Promise<Machines> {
  const mark = randomBytes(3).toString('hex')
  const spaces: string[] = []
  const running = new Set<Running>()
  const ip = (...args: string[]) => exec('ip', args)
  const addSpace = async (name: string) => {
    const space = `roost-${mark}-${name}`
    await ip('netns', 'add', space)
    spaces.push(space)
    await ip('-n', space, 'link', 'set', 'lo', 'up')
    return space
  }
  const close = async () => {
    await Promise.all([...running].map((each) => each.end()))
    for (const space of spaces) await ip('netns', 'del', space).catch(() => {})
  }
  try {
    const middle = await addSpace('switch')
    await ip('-n', middle, 'link', 'add', 'bridge', 'type', 'bridge')
    await ip('-n', middle, 'link', 'set', 'bridge', 'up')
    return {
      async add(name, address) {
        const space = await addSpace(name)
        const port = `to-${name}`
        await ip('-n', middle, 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space)
        await ip('-n', middle, 'link', 'set', port, 'master', 'bridge', 'up')
        await ip('-n', space, 'addr', 'add', `${address}/24`, 'dev', 'eth0')
        await ip('-n', space, 'link', 'set', 'eth0', 'up')
        return machineIn(space, name, running)
      },
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function machineIn(space: string, name: string, all: Set<Running>): Machine {
  const start: Machine['start'] = (file, args, options = {}) => {
    const named = ['unshare', '--uts', 'sh', '-c', 'hostname "$0"; exec "$@"', name]
    const child = spawn('ip', ['netns', 'exec', space, ...named, file, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...options,
    })
    const running = follow(child)
    all.add(running)
    void running.ended.finally(() => all.delete(running))
    return running
  }
  return { start, run: (file, args, options) => start(file, args, options).ended }
}

function follow(child: ChildProcess): Running {
  let text = ''
  let more = Promise.withResolvers<void>()
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (part: string) => {
      text += part
      more.resolve()
      more = Promise.withResolvers()
    })
  let isOver = false
  const ended = once(child, 'close').then(([code]): Output => {
    isOver = true
    more.resolve()
    return { code: code as number | null, text }
  })
  return {
    ended,
    async until(pattern) {
      for (;;) {
        const found = pattern.exec(text)
        if (found) return found
        if (isOver) throw new Error(`It ended without ${pattern}:\n${text}`)
        await more.promise
      }
    },
    async end(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}
