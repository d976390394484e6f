import { readFile } from 'node:fs/promises'
import type Docker from 'dockerode'
import { type JobMount, VolumeJobError } from './port.ts'

/** A volume or a folder of the host that this process sees at `target`. */
export type OwnMount = { type: 'volume' | 'folder'; source: string; target: string; readOnly: boolean }

/** The container of this process: its image, and what is mounted in it. */
export type OwnContainer = { image: string; mounts: OwnMount[] }

/** Throws `VolumeJobError` if the engine does not show this container, as behind the engine filter. */
export async function readOwnContainer(docker: Docker): Promise<OwnContainer> {
  const id = ownContainerId(await readFile('/proc/self/mountinfo', 'utf8'))
  const noAccess = 'Full backups need the container engine: use the service `backup` of the Compose file.'
  if (id === null) throw new VolumeJobError(noAccess)
  const { Image, Mounts } = await docker
    .getContainer(id)
    .inspect()
    .catch((cause: unknown) => {
      throw new VolumeJobError(noAccess, { cause })
    })
  const mounts = Mounts.map(({ Type, Name, Source, Destination, RW }): OwnMount => {
    const isVolume = Type === 'volume' && Name !== undefined
    return {
      type: isVolume ? 'volume' : 'folder',
      source: isVolume ? Name : Source,
      target: Destination,
      readOnly: !RW,
    }
  })
  return { image: Image, mounts }
}

/** The engine mounts a file of its own folder for the container at `/etc/hostname`. */
export function ownContainerId(mountinfo: string): string | null {
  for (const line of mountinfo.split('\n')) {
    const [, , , source = '', target] = line.split(' ')
    if (target === '/etc/hostname')
      return /\/([0-9a-f]{64})\/(?:userdata\/)?hostname$/.exec(source)?.[1] ?? null
  }
  return null
}

/**
 * Replaces folders of this container, which the engine does not know, by the mounts that hold them. A folder inside a
 * mount becomes a link in the job: the engine would follow a planted link to anywhere on the host. `links` is a script.
 */
export function throughOwnMounts(
  mounts: readonly JobMount[],
  own: readonly OwnMount[],
): { mounts: JobMount[]; links: string } {
  const links: string[] = []
  const placed = mounts.map((mount, index): JobMount => {
    if (mount.type === 'volume') return mount
    const holder = own
      .filter(({ target }) => mount.source === target || mount.source.startsWith(`${target}/`))
      .toSorted((a, b) => b.target.length - a.target.length)[0]
    if (!holder)
      throw new VolumeJobError(
        `${mount.source} is not mounted in this container and would be lost with it. Use a folder below /backups.`,
      )
    const inside = mount.source.slice(holder.target.length)
    const target = inside === '' ? mount.target : `/mounted/${index}`
    if (inside !== '') links.push(`ln -s ${quote(`${target}${inside}`)} ${quote(mount.target)}\n`)
    const readOnly = mount.readOnly || holder.readOnly
    return holder.type === 'volume'
      ? { type: 'volume', volume: holder.source, target, readOnly }
      : { type: 'folder', source: holder.source, target, readOnly }
  })
  return { mounts: placed, links: links.join('') }
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
