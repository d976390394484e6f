import { access, readFile, rm, writeFile } from 'node:fs/promises'
import { hasProgram, run } from './run.ts'

export type Apt = {
  /** Installs packages of the distribution. Throws `AptError` with apt's last lines of output. */
  install(packages: string[], options?: InstallOptions): Promise<void>
}
export type InstallOptions = {
  onProgress?: (text: string, weight?: 'transient') => void
  signal?: AbortSignal
  /** Prevents the packages from starting their services. */
  withoutServices?: boolean
}

export class AptError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'AptError'
  }
}

const policyFile = '/usr/sbin/policy-rc.d'
const policyMark = 'created by roost for the duration of one installation'

/** Returns null where packages cannot be installed: without root or without apt-get. */
export async function openApt(): Promise<Apt | null> {
  if (process.getuid?.() !== 0 || !(await hasProgram('apt-get'))) return null
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' }
  // The lock timeout waits for another apt process, such as unattended upgrades.
  const common = ['-q', '-o', 'DPkg::Lock::Timeout=300', '-o', 'Dpkg::Use-Pty=0']
  let isUpdated = false

  return {
    async install(packages, { onProgress = () => {}, signal, withoutServices = false } = {}) {
      if (!isUpdated) {
        // Finishes an interrupted installation first, because apt-get refuses any other until then.
        await run('dpkg', ['--configure', '-a'], { env, signal })
        onProgress('reading the package lists', 'transient')
        // Ignores the exit code: a broken package list of another vendor must not prevent the installation.
        await run('apt-get', ['update', ...common], { env, signal })
        isUpdated = true
      }
      onProgress('downloading packages', 'transient')
      const restoreServices = withoutServices ? await disableServices() : async () => {}
      try {
        const args = ['install', '-y', '--no-install-recommends', ...common, ...packages]
        const onLine = (line: string) => {
          const action = /^(Unpacking|Setting up) (\S+)/.exec(line)
          if (action) onProgress(`${action[1]?.toLowerCase()} ${action[2]}`, 'transient')
        }
        const { code, lastLines } = await run('apt-get', args, { env, signal, onLine })
        if (code !== 0)
          throw new AptError(`apt-get install ${packages.join(' ')} failed:\n${lastLines.join('\n')}`)
      } finally {
        await restoreServices()
      }
    },
  }
}

/** Prevents service starts with Debian's `policy-rc.d`; an existing policy of another owner is left unchanged. */
async function disableServices(): Promise<() => Promise<void>> {
  const exists = await access(policyFile).then(
    () => true,
    () => false,
  )
  if (exists && !(await readFile(policyFile, 'utf8').catch(() => '')).includes(policyMark))
    return async () => {}
  await writeFile(policyFile, `#!/bin/sh\n# ${policyMark}\nexit 101\n`, { mode: 0o755 })
  return () => rm(policyFile, { force: true })
}
