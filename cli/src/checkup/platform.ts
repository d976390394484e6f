import { createServer } from 'node:net'
import { publicListener } from '../platform/environment.ts'
import { type Finding, fail, ok, warn } from './finding.ts'
import { adviceForSilent, childOf, type Seen } from './seen.ts'

/** The processes of this installation and the ports that they hold or need. */
export async function checkPlatform(env: NodeJS.ProcessEnv, seen: Seen): Promise<Finding[]> {
  const ports = [
    { name: 'public port', ...(seen.state === 'down' ? publicListener(env) : seen.running) },
    { name: 'internal port', host: '127.0.0.1', port: Number(env.ROOST_INTERNAL_PORT ?? 8001) },
  ]
  const findings: Finding[] = []
  for (const { name, host, port } of ports) {
    // What is no port is a wrong configuration, and named there.
    if (Number.isInteger(port) && port > 0 && port < 65_536) {
      findings.push(await checkPort(name, host, port, seen.state))
    }
  }
  return [...(await checkProcesses(seen)), ...findings]
}

async function checkProcesses(seen: Seen): Promise<Finding[]> {
  const about = 'platform'
  switch (seen.state) {
    case 'down':
      return [ok(about, 'does not run; ./roost up starts it')]
    case 'starting':
      return [warn(about, `is starting (process ${seen.running.pid})`, 'ask again in a moment')]
    case 'silent': {
      const { running, url, why, apiPid } = seen
      const words = `runs (process ${running.pid}) but does not answer at ${url}: ${why}`
      return [fail(about, words, adviceForSilent(apiPid)), await checkScheduler(running)]
    }
    case 'answers':
      return [checkHealth(seen), await checkScheduler(seen.running)]
  }
}

async function checkPort(
  name: string,
  host: string,
  port: number,
  platform: Seen['state'],
): Promise<Finding> {
  const refusal = await tryPort(host, port)
  const isReady = platform === 'answers' || platform === 'silent'
  if (refusal === null) {
    return isReady
      ? fail(
          name,
          `${host}:${port} is free although Roost runs`,
          'look at the log of the API in the data folder',
        )
      : ok(name, `${host}:${port} is free`)
  }
  if (refusal === 'EADDRINUSE' && platform !== 'down')
    return ok(name, `${host}:${port} is held by the running Roost`)
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

function checkHealth({ url, status, health }: Extract<Seen, { state: 'answers' }>): Finding {
  const about = 'platform'
  if (status !== 200) {
    const words = `answers ${status}: ${health.detail ?? 'unhealthy'}`
    return fail(about, words, 'look at logs/api.log in the data folder')
  }
  const { migrations } = health
  const applied = migrations ? `, ${migrations.applied} of ${migrations.expected} migrations applied` : ''
  return ok(about, `healthy at ${url}${applied}`)
}

async function checkScheduler({ pid }: { pid: number }): Promise<Finding> {
  const about = 'scheduler'
  const child = await childOf(pid, 'server/src/start/scheduler.ts')
  return child
    ? ok(about, `runs (process ${child})`)
    : fail(about, 'does not run', 'look at logs/scheduler.log in the data folder')
}
