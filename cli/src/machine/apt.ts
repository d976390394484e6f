import { access, readFile, rm, writeFile } from 'node:fs/promises'
import { hasProgram, run } from './run.ts'

export type Apt = {
  /** Installs packages of the distribution. Throws `AptError` with apt's own last words. */
  install(packages: string[], options?: InstallOptions): Promise<void>
}
export type InstallOptions = {
  onProgress?: (text: string, weight?: 'passing') => void
  signal?: AbortSignal
  /** Keeps the services of the packages from being started. */
  withoutServices?: boolean
}

export class AptError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'AptError'
  }
}

const policyFile = '/usr/sbin/policy-rc.d'
const policyMark = 'made by roost, for the time of one installation'

/** Null where packages cannot be installed: not root, or not Debian or one of its kin. */
export async function openApt(): Promise<Apt | null> {
  if (process.getuid?.() !== 0 || !(await hasProgram('apt-get'))) return null
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' }
  // Somebody else's apt (unattended upgrades, say) is waited for.
  const common = ['-q', '-o', 'DPkg::Lock::Timeout=300', '-o', 'Dpkg::Use-Pty=0']
  let isUpdated = false

  return {
    async install(packages, { onProgress = () => {}, signal, withoutServices = false } = {}) {
      if (!isUpdated) {
        // An install that was interrupted before is finished first: apt-get refuses any other until then.
        await run('dpkg', ['--configure', '-a'], { env, signal })
        onProgress('reading the package lists', 'passing')
        // Another vendor's broken list must not be in the way: what matters is whether the install works.
        await run('apt-get', ['update', ...common], { env, signal })
        isUpdated = true
      }
      onProgress('downloading packages', 'passing')
      const allow = withoutServices ? await refuseServices() : async () => {}
      try {
        const args = ['install', '-y', '--no-install-recommends', ...common, ...packages]
        const onLine = (line: string) => {
          const doing = /^(Unpacking|Setting up) (\S+)/.exec(line)
          if (doing) onProgress(`${doing[1]?.toLowerCase()} ${doing[2]}`, 'passing')
        }
        const { code, lastLines } = await run('apt-get', args, { env, signal, onLine })
        if (code !== 0)
          throw new AptError(`apt-get install ${packages.join(' ')} failed:\n${lastLines.join('\n')}`)
      } finally {
        await allow()
      }
    },
  }
}

/** The distribution's own switch for "install, but start nothing"; a policy that is there is left alone. */
async function refuseServices(): Promise<() => Promise<void>> {
  const isThere = await access(policyFile).then(
    () => true,
    () => false,
  )
  if (isThere && !(await readFile(policyFile, 'utf8').catch(() => '')).includes(policyMark))
    return async () => {}
  await writeFile(policyFile, `#!/bin/sh\n# ${policyMark}\nexit 101\n`, { mode: 0o755 })
  return () => rm(policyFile, { force: true })
}
