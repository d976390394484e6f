import { planEngine } from '../machine/engine.ts'
import { repository } from '../machine/repository.ts'
import { hasProgram, run } from '../machine/run.ts'
import { exitConfig } from '../platform/messages.ts'
import { type Finding, fail, ok, warn } from './finding.ts'
import { checkRuntimes } from './runtimes.ts'

/** Checks the container engine or the sandbox, and the agent images. */
export async function checkEngine(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const about = 'container engine'
  const url = env.ROOST_CONTAINERS_URL ?? null
  const plan = await planEngine({ url, apt: null, env })
  switch (plan.type) {
    case 'ready':
      return [ok(about, plan.description), await checkRuntimes(env), ...(await checkImages(env))]
    case 'start':
      return [fail(about, 'installed but not running', 'run ./roost up to start it')]
    case 'install':
      return [fail(about, 'not installed', 'run ./roost up to install it')]
    case 'impossible':
      return [
        fail(about, plan.reason, 'run ./roost up as root on Debian or Ubuntu to install what is missing'),
      ]
    case 'sandbox': {
      const isConfigured = url?.startsWith('sandbox:') ?? false
      const findings: Finding[] = isConfigured
        ? [ok(about, 'agents run in sandboxes, as set by ROOST_CONTAINERS_URL')]
        : [
            warn(
              about,
              `${plan.reason}; agents run in sandboxes instead`,
              'start or install Docker for stronger isolation',
            ),
          ]
      return [
        ...findings,
        await checkBubblewrap(),
        await checkRuntimes({ ...env, ROOST_CONTAINERS_URL: 'sandbox:' }),
        ...(await checkImages({ ...env, ROOST_CONTAINERS_URL: 'sandbox:' })),
      ]
    }
  }
}

async function checkBubblewrap(): Promise<Finding> {
  const about = 'bubblewrap'
  if (!(await hasProgram('bwrap'))) return fail(about, 'not installed', 'apt-get install bubblewrap')
  const args = ['--ro-bind', '/', '/', '--unshare-pid', '--unshare-net', '--', 'true']
  const { code, lastLines } = await run('bwrap', args, { timeoutMs: 10_000 })
  return code === 0
    ? ok(about, 'can create sandboxes')
    : fail(
        about,
        `cannot create a sandbox: ${lastLines.join(' ')}`,
        'allow user namespaces, or run Roost as root',
      )
}

/** Runs the platform's own check, which also validates the whole configuration. */
async function checkImages(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const { code, stdout, lastLines } = await run(process.execPath, [repository.images, '--check'], {
    env,
    cwd: repository.root,
    timeoutMs: 60_000,
  })
  if (code === exitConfig) {
    return [
      fail('configuration', lastLines.join('\n'), 'correct the variables in the environment or in .env'),
    ]
  }
  const config = ok('configuration', 'all variables are valid')
  if (code !== 0) return [config, fail('agent images', lastLines.join('\n'), 'run ./roost up for details')]
  const missing = stdout
    .trim()
    .split('\n')
    .flatMap((line) => (line.endsWith(' missing') ? [line.split(' ')[0] ?? line] : []))
  return [
    config,
    missing.length === 0
      ? ok('agent images', 'built from the current source, for every runtime')
      : warn('agent images', `missing or stale for ${missing.join(', ')}`, 'run ./roost up to build them'),
  ]
}
