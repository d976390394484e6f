/** A host outside this machine that packets reach only by forwarding. */
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

/** A network namespace behind a veth pair; null without the permission to create one. */
export async function startHostBeyond(): Promise<HostBeyond | null> {
  if (process.geteuid?.() !== 0) return null
  const id = process.pid % 50_000
  const [namespace, near, far] = [`roost-beyond-${id}`, `rb${id}a`, `rb${id}b`]
  // Assigned to a retired protocol (RFC 7450): public, so that the packet filter does not close it, but unused.
  const net = '192.52.193'
  const at = 4 * (id % 60)
  const ip = (...args: string[]) => run('ip', args)
  const inside = (...args: string[]) => ip('netns', 'exec', namespace, 'ip', ...args)
  const remove = () => ip('netns', 'del', namespace).catch(() => {})
  try {
    await ip('netns', 'add', namespace)
    await ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far)
    await ip('link', 'set', far, 'netns', namespace)
    await ip('addr', 'add', `${net}.${at + 1}/30`, 'dev', near)
    await ip('link', 'set', near, 'up')
    await inside('addr', 'add', `${net}.${at + 2}/30`, 'dev', far)
    await inside('link', 'set', far, 'up')
    await inside('route', 'add', 'default', 'via', `${net}.${at + 1}`)
  } catch {
    await remove()
    return null
  }
  const child = spawn('ip', ['netns', 'exec', namespace, process.execPath, '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  while (!output.includes('up')) await once(child.stdout, 'data')
  return {
    address: `${net}.${at + 2}`,
    port,
    connections: () => output.split('hit').length - 1,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      await remove()
    },
  }
}
