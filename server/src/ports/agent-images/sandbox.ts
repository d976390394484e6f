import { createHash } from 'node:crypto'
import { chmod, mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentImageError, type AgentImages, type AgentRuntime } from './port.ts'
import { run } from './run.ts'
import { type RuntimePackage, readRuntimePackages } from './runtimes.ts'
import { alone } from './single-flight.ts'
import { contentVersion, readAgentSource } from './source.ts'

export type SandboxImagesOptions = {
  dataDir: string
  root: string
  env: Record<string, string | undefined>
}

/**
 * Without an engine, an agent's "image" is a folder with its runtime's CLI, installed with npm:
 * `<data>/runtimes/<name>-<version>`. All other programs are the host's. The version includes the agent
 * program, so that its changes restart agents.
 */
export async function createSandboxAgentImages(options: SandboxImagesOptions): Promise<AgentImages> {
  const { dataDir, root, env } = options
  const runtimePackages = await readRuntimePackages(root)
  const source = contentVersion(await readAgentSource(root), {})
  const folder = (runtime: AgentRuntime): string => {
    const { version } = runtimePackages[runtime]
    return join(dataDir, 'runtimes', `${runtime}-${version}`)
  }
  const isReady = (runtime: AgentRuntime): Promise<boolean> =>
    stat(join(folder(runtime), 'bin', runtimePackages[runtime].command)).then(
      () => true,
      () => false,
    )

  return {
    tagFor(runtime) {
      const cli = runtimePackages[runtime]
      const version = createHash('sha256').update(`${source} ${cli.package}@${cli.version}`).digest('hex')
      return { image: folder(runtime), version: version.slice(0, 12) }
    },
    isReady,
    async ensure(runtime, onProgress, signal) {
      if (await isReady(runtime)) return
      const report = (text: string) => onProgress(`Runtime ${runtime}: ${text}`)
      const install = async () => {
        if (await isReady(runtime)) return
        report(`installing ${runtimePackages[runtime].package} ${runtimePackages[runtime].version}`)
        await installCli(runtimePackages[runtime], folder(runtime), env, signal)
      }
      const onWait = () => report('waiting for another process that installs it')
      await alone(`runtimes ${dataDir}`, install, { onWait, signal }).catch((error: unknown) => {
        if (signal?.aborted) throw new AgentImageError('cancelled', `Installing ${runtime} was cancelled.`)
        if (error instanceof AgentImageError) throw error
        const reason = error instanceof Error ? error.message : String(error)
        throw new AgentImageError('build_failed', `The runtime ${runtime} cannot be installed: ${reason}`, {
          cause: error,
        })
      })
    },
  }
}

/** Installs into a temporary folder first, so that a partial installation is never used. */
async function installCli(
  cli: RuntimePackage,
  folder: string,
  env: Record<string, string | undefined>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const partial = `${folder}.half`
  await rm(partial, { recursive: true, force: true })
  await mkdir(partial, { recursive: true })
  await chmod(partial, 0o755)
  await run(
    [
      // Makes files readable for agents' users, whatever root's umask is.
      ...(['/bin/sh', '-c', 'umask 022 && exec "$@"', 'sh'] as const),
      // `--global` with a separate prefix creates the layout of an image: bin/ and lib/node_modules/.
      'npm',
      'install',
      '--global',
      '--prefix',
      partial,
      '--no-audit',
      '--no-fund',
      '--ignore-scripts=false',
      `--allow-scripts=${cli.package}`,
      `${cli.package}@${cli.version}`,
    ],
    { env, signal },
  )
  await rm(folder, { recursive: true, force: true })
  await rename(partial, folder)
}
