/** A host beyond this machine, which packets reach only by being forwarded. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'

const run = promisify(execFile)
const port = 9000
const program = `
  require('node:net')
    .createServer((socket) => { console.log('hit'); socket.on('error', () => {}); socket.end('beyond') })
    .listen(${port}, '0.0.0.0', () => console.log('up'))`

export type HostBeyond = {
  address: string
  port: number
  connections(): number
  [Symbol.asyncDispose](): Promise<void>
}

/** A network namespace behind a pair of interfaces; null for whoever may not make one. */
export async function startHostBeyond(): Promise<HostBeyond | null> {
  if (process.geteuid?.() !== 0) return null
  const id = process.pid % 50_000
  const [space, near, far] = [`roost-beyond-${id}`, `rb${id}a`, `rb${id}b`]
  const net = `198.18.${id % 250}`
  const at = 4 * (id % 60)
  const ip = (...args: string[]) => run('ip', args)
  const inside = (...args: string[]) => ip('netns', 'exec', space, 'ip', ...args)
  const remove = () => ip('netns', 'del', space).catch(() => {})
  try {
    await ip('netns', 'add', space)
    await ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far)
    await ip('link', 'set', far, 'netns', space)
    await ip('addr', 'add', `${net}.${at + 1}/30`, 'dev', near)
    await ip('link', 'set', near, 'up')
    await inside('addr', 'add', `${net}.${at + 2}/30`, 'dev', far)
    await inside('link', 'set', far, 'up')
    await inside('route', 'add', 'default', 'via', `${net}.${at + 1}`)
  } catch {
    await remove()
    return null
  }
  const child = spawn('ip', ['netns', 'exec', space, process.execPath, '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  while (!said.includes('up')) await once(child.stdout, 'data')
  return {
    address: `${net}.${at + 2}`,
    port,
    connections: () => said.split('hit').length - 1,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      await remove()
    },
  }
}
