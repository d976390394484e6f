import { planEngine } from '../machine/engine.ts'
import { repository } from '../machine/repository.ts'
import { hasProgram, run } from '../machine/run.ts'
import { exitConfig } from '../platform/messages.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** What agents run in, and whether it can be used as the configuration says. */
export async function checkEngine(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const about = 'container engine'
  const url = env.ROOST_CONTAINERS_URL ?? null
  const plan = await planEngine({ url, apt: null, env })
  switch (plan.type) {
    case 'ready':
      return [ok(about, plan.words), ...(await checkImages(env))]
    case 'start':
      return [fail(about, 'installed, but it does not run', './roost up starts it')]
    case 'install':
      return [fail(about, 'there is none', './roost up installs one')]
    case 'impossible':
      return [fail(about, plan.why, './roost up, as root on Debian or Ubuntu, installs what is missing')]
    case 'sandbox': {
      const isAsked = url?.startsWith('sandbox:') ?? false
      const findings: Finding[] = isAsked
        ? [ok(about, 'agents run in sandboxes, as ROOST_CONTAINERS_URL says')]
        : [
            warn(
              about,
              `${plan.why}; agents would run in sandboxes`,
              'start or install Docker for stronger isolation',
            ),
          ]
      return [
        ...findings,
        await checkBubblewrap(),
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
    ? ok(about, 'makes sandboxes')
    : fail(
        about,
        `cannot make a sandbox: ${lastLines.join(' ')}`,
        'allow user namespaces, or run Roost as root',
      )
}

/** The platform's own program looks: it also reads the whole configuration, and refuses a wrong one by name. */
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
  const config = ok('configuration', 'every variable can be read')
  if (code !== 0) return [config, fail('agent images', lastLines.join('\n'), './roost up says more')]
  const missing = stdout
    .trim()
    .split('\n')
    .flatMap((line) => (line.endsWith(' missing') ? [line.split(' ')[0] ?? line] : []))
  return [
    config,
    missing.length === 0
      ? ok('agent images', 'made from the present source, for every runtime')
      : warn('agent images', `missing or stale for ${missing.join(', ')}`, './roost up makes them'),
  ]
}
