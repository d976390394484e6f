import type Docker from 'dockerode'

/** Images of older versions that are kept: going back to another branch then needs no build. */
const kept = 3

/** Removes what newer builds of the same runtime have replaced, unless a container still uses it. */
export async function removeOlder(docker: Docker, repository: string, runtime: string): Promise<void> {
  const filters = JSON.stringify({ reference: [`${repository}:${runtime}-*`] })
  const images = await docker.listImages({ filters }).catch(() => [])
  const older = images.sort((a, b) => b.Created - a.Created).slice(kept)
  for (const tag of older.flatMap((image) => image.RepoTags ?? [])) {
    // Without force the engine keeps an image that any container was made from.
    await docker
      .getImage(tag)
      .remove()
      .catch(() => {})
  }
}
