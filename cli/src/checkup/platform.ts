import { createServer } from 'node:net'
import { publicListener } from '../platform/environment.ts'
import { isInContainer, seeLog } from './container.ts'
import { type Finding, fail, ok, warn } from './finding.ts'
import { childOf, type PlatformState, unresponsiveFinding } from './platform-state.ts'

/** Checks the processes of this installation and the ports that they use. In a container, only its own program. */
export async function checkPlatform(env: NodeJS.ProcessEnv, platform: PlatformState): Promise<Finding[]> {
  if (isInContainer(env)) return checkProcesses(platform)
  const running = platform.state === 'down' ? null : platform.running
  const ports = [
    { name: 'public port', ...(running ?? publicListener(env)) },
    { name: 'internal port', host: '127.0.0.1', port: Number(env.ROOST_INTERNAL_PORT ?? 8001) },
  ]
  const findings: Finding[] = []
  for (const { name, host, port } of ports) {
    // The configuration check reports an invalid port.
    if (Number.isInteger(port) && port > 0 && port < 65_536) {
      findings.push(await checkPort(name, host, port, platform.state))
    }
  }
  return [...(await checkProcesses(platform)), ...findings]
}

async function checkProcesses(platform: PlatformState): Promise<Finding[]> {
  const about = 'platform'
  switch (platform.state) {
    case 'down':
      return [ok(about, 'not running; start it with ./roost up')]
    case 'starting':
      return [warn(about, `starting (process ${platform.running.pid})`, 'try again in a moment')]
    case 'unresponsive': {
      const { running } = platform
      return [unresponsiveFinding(platform), ...(running ? [await checkScheduler(running)] : [])]
    }
    case 'responding': {
      const { running } = platform
      return [checkHealth(platform), ...(running ? [await checkScheduler(running)] : [])]
    }
  }
}

async function checkPort(
  name: string,
  host: string,
  port: number,
  platform: PlatformState['state'],
): Promise<Finding> {
  const code = await bindError(host, port)
  const isReady = platform === 'responding' || platform === 'unresponsive'
  if (code === null) {
    return isReady
      ? fail(name, `${host}:${port} is free although Roost runs`, 'see logs/api.log in the data folder')
      : ok(name, `${host}:${port} is free`)
  }
  if (code === 'EADDRINUSE' && platform !== 'down')
    return ok(name, `${host}:${port} is held by the running Roost`)
  if (code === 'EADDRINUSE') {
    const advice = `\`ss -ltnp 'sport = :${port}'\` shows the process; stop it, or choose another port`
    return fail(name, `${host}:${port} is held by another process`, advice)
  }
  return fail(name, `cannot listen on ${host}:${port} (${code})`, 'choose an address of this machine')
}

/** Returns null when the port can be bound, otherwise the error code. */
function bindError(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.on('error', (error) => resolve('code' in error ? String(error.code) : error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)))
  })
}

function checkHealth({ url, status, health }: Extract<PlatformState, { state: 'responding' }>): Finding {
  const about = 'platform'
  if (status !== 200) {
    const message = `answers ${status}: ${health.detail ?? 'unhealthy'}`
    return fail(about, message, seeLog())
  }
  const { migrations, problems = [] } = health
  if (problems.length > 0) {
    const message = problems.map(({ store, reason }) => `cannot write to ${store}: ${reason}`).join(' ')
    return fail(about, message, `free disk space, or ${seeLog()}`)
  }
  const applied = migrations ? `, ${migrations.applied} of ${migrations.expected} migrations applied` : ''
  return ok(about, `healthy at ${url}${applied}`)
}

async function checkScheduler({ pid }: { pid: number }): Promise<Finding> {
  const about = 'scheduler'
  const child = await childOf(pid, 'server/src/start/scheduler.ts')
  return child
    ? ok(about, `running (process ${child})`)
    : fail(about, 'not running', 'see logs/scheduler.log in the data folder')
}
