import { join } from 'node:path'
import type Docker from 'dockerode'
import {
  type AgentImage,
  AgentImageError,
  type AgentImages,
  type AgentRuntime,
  agentRuntimes,
} from '../port.ts'
import { type RuntimePackage, readRuntimePackages } from '../runtimes.ts'
import { alone } from '../single-flight.ts'
import { contentVersion, readAgentSource, type SourceFile } from '../source.ts'
import { ensureBase, hasImage } from './base.ts'
import { buildImage } from './build.ts'

export const repository = 'roost-agent'

export type DockerImagesOptions = {
  docker: Docker
  /** The source repository that images are built from. */
  root: string
  /** Environment of the process: proxies for the build, settings of npm and apt. */
  env: Record<string, string | undefined>
}

/** Builds images through the engine's API; needs no other tool. Reads the source once, now. */
export async function createDockerAgentImages(options: DockerImagesOptions): Promise<AgentImages> {
  const { docker, root, env } = options
  const files = await readAgentSource(root)
  const zod = zodVersion(files)
  const packages = await readRuntimePackages(root)
  const recipes = new Map(
    agentRuntimes.map((runtime) => [runtime, recipeOf(runtime, packages[runtime], files, zod)]),
  )

  const recipe = (runtime: AgentRuntime): Recipe => {
    const found = recipes.get(runtime)
    if (!found)
      throw new AgentImageError('not_found', `The runtime ${JSON.stringify(runtime)} does not exist.`)
    return found
  }

  return {
    tagFor: (runtime) => recipe(runtime).image,
    isReady: (runtime) => hasImage(docker, recipe(runtime).image.image),

    async ensure(runtime, onProgress, signal) {
      const { image, parameters } = recipe(runtime)
      if (await hasImage(docker, image.image)) return
      const report = (text: string) => onProgress(`Agent image for ${runtime}: ${text}`)
      const build = async () => {
        if (await hasImage(docker, image.image)) return
        const base = await ensureBase({ docker, onProgress, signal, env })
        await buildImage({
          docker,
          tag: image.image,
          dockerfile: 'images/agent/Dockerfile',
          subject: 'agent',
          files,
          arguments: { BASE_IMAGE: base, ...parameters, ...proxies(env) },
          labels: {
            'roost.platform': 'agent-image',
            'roost.runtime': runtime,
            'roost.image-version': image.version,
          },
          onProgress: report,
          signal,
        })
        await removeOlder(docker, repository, runtime)
      }
      const onWait = () => report('waiting for another process that builds it')
      await alone('agent-images', build, { onWait, signal }).catch((error: unknown) => {
        if (!signal?.aborted) throw error
        throw new AgentImageError('cancelled', 'Building the agent image was cancelled.', { cause: error })
      })
    },
  }
}

type Recipe = { image: AgentImage; parameters: Record<string, string> }

function recipeOf(runtime: AgentRuntime, cli: RuntimePackage, files: SourceFile[], zod: string): Recipe {
  const parameters = {
    CLI_PACKAGE: cli.package,
    CLI_VERSION: cli.version,
    CLI_COMMAND: cli.command,
    ZOD_VERSION: zod,
  }
  const version = contentVersion(files, parameters)
  return { image: { image: `${repository}:${runtime}-${version}`, version }, parameters }
}

function zodVersion(files: SourceFile[]): string {
  const path = join('contracts', 'package.json')
  const text = files.find((file) => file.path === path)?.content.toString('utf8') ?? '{}'
  const version = /"zod":\s*"([^"]+)"/.exec(text)?.[1]
  if (!version) throw new AgentImageError('build_failed', `${path} names no version of zod.`)
  return version
}

/** Proxy variables, which the engine passes to a build without storing them in the image. */
export function proxies(env: Record<string, string | undefined>): Record<string, string> {
  const names = ['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])))
}

/** Older images to keep, so that switching branches needs no build. */
const keptImages = 3

/** Deletes images of older builds of the runtime, unless a container uses them. */
async function removeOlder(docker: Docker, repository: string, runtime: string): Promise<void> {
  const filters = JSON.stringify({ reference: [`${repository}:${runtime}-*`] })
  const images = await docker.listImages({ filters }).catch(() => [])
  const older = images.sort((a, b) => b.Created - a.Created).slice(keptImages)
  for (const tag of older.flatMap((image) => image.RepoTags ?? [])) {
    // Without force the engine keeps an image that a container uses.
    await docker
      .getImage(tag)
      .remove()
      .catch(() => {})
  }
}
