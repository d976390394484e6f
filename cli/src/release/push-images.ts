import { run } from '../machine/run.ts'
import { ReleaseError } from './error.ts'

/** The name of an image on this machine, and its whole name in the registry. */
export type PushedImage = { local: string; remote: string }

/**
 * Copies images to a registry and returns the digest of each. The engine's own credentials are used (`docker login`).
 * Throws `ReleaseError` with the engine's message.
 */
export async function pushImages(
  images: readonly PushedImage[],
  { onPush, signal }: { onPush?: (remote: string) => void; signal?: AbortSignal } = {},
): Promise<Map<string, string>> {
  const digests = new Map<string, string>()
  for (const { local, remote } of images) {
    onPush?.(remote)
    await docker(['tag', local, remote], signal)
    try {
      const output = await docker(['push', remote], signal)
      const digest = /\bdigest: (sha256:[0-9a-f]{64})\b/.exec(output)?.[1]
      if (digest === undefined) throw new ReleaseError(`${remote}: the engine names no digest`)
      digests.set(remote, digest)
    } finally {
      // Only the name goes; the image has its own.
      await run('docker', ['rmi', '--no-prune', remote])
    }
  }
  return digests
}

async function docker(args: string[], signal?: AbortSignal): Promise<string> {
  const { code, stdout, lastLines } = await run('docker', args, signal ? { signal } : {})
  if (code === 0) return stdout
  throw new ReleaseError(`docker ${args.join(' ')} failed: ${lastLines.join('\n') || 'docker is missing'}`)
}

export type ChartImages = { runtimes: ReadonlyMap<string, string>; platform: string; backup: string }

/** Returns the chart's values for images in a registry, as YAML. Each value of `images` is a digest. */
export function chartValues(registry: string, { runtimes, platform, backup }: ChartImages): string {
  const agents = [...runtimes].map(([runtime, digest]) => `${runtime}=${registry}/roost-agent@${digest}`)
  return [
    `registry: ${registry}`,
    'images:',
    `  platform: { digest: "${platform}" }`,
    `  backup: { digest: "${backup}" }`,
    `  agent: ${agents.join(',')}`,
    '',
  ].join('\n')
}
