import type Docker from 'dockerode'

/** Older images to keep, so that switching branches needs no build. */
const keptImages = 3

/** Deletes images of older builds of the runtime, unless a container uses them. */
export async function removeOlder(docker: Docker, repository: string, runtime: string): Promise<void> {
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
