import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { get } from '../machine/engine-client.ts'
import { type RunningInfo, readRunning } from '../machine/lock.ts'
import { publicListener } from '../platform/environment.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** The processes of this installation and the ports that they hold or need. */
export async function checkPlatform(env: NodeJS.ProcessEnv & { ROOST_DATA_DIR: string }): Promise<Finding[]> {
  const running = await readRunning(env.ROOST_DATA_DIR)
  const ports = [
    { name: 'public port', ...(running ?? publicListener(env)) },
    { name: 'internal port', host: '127.0.0.1', port: Number(env.ROOST_INTERNAL_PORT ?? 8001) },
  ]
  const findings: Finding[] = []
  for (const { name, host, port } of ports) {
    // What is no port is a wrong configuration, and named there.
    if (Number.isInteger(port) && port > 0 && port < 65_536) {
      findings.push(await checkPort(name, host, port, running !== null))
    }
  }
  if (!running) return [ok('platform', 'does not run; ./roost up starts it'), ...findings]
  return [await checkHealth(running), await checkScheduler(running), ...findings]
}

async function checkPort(name: string, host: string, port: number, isRunning: boolean): Promise<Finding> {
  const refusal = await tryPort(host, port)
  if (refusal === null) {
    return isRunning
      ? fail(
          name,
          `${host}:${port} is free although Roost runs`,
          'look at the log of the API in the data folder',
        )
      : ok(name, `${host}:${port} is free`)
  }
  if (isRunning && refusal === 'EADDRINUSE') return ok(name, `${host}:${port} is held by the running Roost`)
  if (refusal === 'EADDRINUSE') {
    const advice = `\`ss -ltnp 'sport = :${port}'\` shows who; stop it, or choose another port`
    return fail(name, `${host}:${port} is held by somebody else`, advice)
  }
  return fail(name, `${host}:${port} cannot be listened at (${refusal})`, 'choose an address of this machine')
}

/** Null when it can be bound; otherwise the code of the refusal. */
function tryPort(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.on('error', (error) => resolve('code' in error ? String(error.code) : error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)))
  })
}

async function checkHealth({ url, pid, host, port }: RunningInfo): Promise<Finding> {
  const about = 'platform'
  if (!url) return warn(about, `is starting (process ${pid})`, 'ask again in a moment')
  const advice = 'look at logs/api.log in the data folder'
  try {
    const answer = await get({ host, port }, '/health')
    // The health answer of our own platform; only printed.
    const body = JSON.parse(answer.body) as {
      detail?: string
      migrations?: { applied: unknown; expected: unknown }
    }
    if (answer.status !== 200)
      return fail(about, `answers ${answer.status}: ${body.detail ?? 'unhealthy'}`, advice)
    const applied = body.migrations
      ? `, ${body.migrations.applied} of ${body.migrations.expected} migrations applied`
      : ''
    return ok(about, `healthy at ${url}${applied}`)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return fail(about, `runs (process ${pid}) but does not answer at ${host}:${port}: ${why}`, advice)
  }
}

async function checkScheduler({ pid }: RunningInfo): Promise<Finding> {
  const about = 'scheduler'
  for (const child of await childrenOf(pid)) {
    const command = await readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')
    if (command.includes('server/src/start/scheduler.ts')) return ok(about, `runs (process ${child})`)
  }
  return fail(about, 'does not run', 'look at logs/scheduler.log in the data folder')
}

async function childrenOf(pid: number): Promise<string[]> {
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(
    tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(() => '')),
  )
  return lists.flatMap((list) => list.split(' ').filter((id) => id !== ''))
}
