import { isPortable, needsTrust } from '@roost/contracts/link/credentials'
import { archivedFolder } from '@roost/contracts/link/transfer'
import { Fault } from '../../kit/fault.ts'
import { invalidArchive, maxNameBytes, shown, type TarEntry } from '../../kit/tar.ts'

export type GateOptions = {
  withCredentials: boolean
  /** Accepts files that runs obey. */
  isTrusted: boolean
  /** 0 means unlimited. */
  quotaBytes: number
}

/** `omit`: belongs to the installation, or is a credential of an archive without credentials. */
export type Verdict = 'take' | 'omit' | 'untrusted'

export type Gate = {
  /** Throws `invalid_archive` for a hostile entry, `disk_quota_reached`. */
  judge(entry: TarEntry): { inside: string; verdict: Verdict }
}

/** Each is remembered, so their number is limited. */
const maxLinks = 100_000
/** A file system uses at least one block for an entry. */
const entryBytes = 4096

/** Decides on each entry of the workspace in its order in the archive, which anybody may have made. */
export function createGate({ withCredentials, isTrusted, quotaBytes }: GateOptions): Gate {
  /** Nothing may be written through a link, wherever it leads. */
  const links = new Set<string>()
  let used = 0

  function verdictOf(inside: string, isFolder = false): Verdict {
    if (!isPortable(inside, withCredentials)) return 'omit'
    // A folder alone has no effect: what is in it decides.
    return !isTrusted && needsTrust(isFolder ? `${inside}/any` : inside) ? 'untrusted' : 'take'
  }

  function refuseBelowLink(inside: string): void {
    for (let at = inside.indexOf('/'); at >= 0; at = inside.indexOf('/', at + 1)) {
      if (links.has(inside.slice(0, at)))
        throw invalidArchive(`"${shown(inside)}" would be written through a link.`)
    }
  }

  function noteLink(inside: string): void {
    if (links.size >= maxLinks) throw invalidArchive(`The archive has more than ${maxLinks} links.`)
    links.add(inside)
  }

  return {
    judge(entry) {
      const inside = insideOf(entry.path)
      refuseBelowLink(inside)
      if (links.has(inside))
        throw invalidArchive(`"${shown(inside)}" is in the archive twice, once as a link.`)
      let verdict = verdictOf(inside, entry.type === 'folder')
      if (entry.type === 'hardlink') {
        const target = insideOf(entry.link)
        refuseBelowLink(target)
        // Another name of a file has the same effect as the file.
        if (verdict === 'take') verdict = verdictOf(target)
        if (links.has(target)) noteLink(inside)
      } else if (entry.type === 'symlink') {
        if (entry.link === '' || entry.link.includes('\0'))
          throw invalidArchive(`"${shown(inside)}" links to nothing.`)
        noteLink(inside)
      }
      if (verdict === 'take') {
        used += Math.ceil(entry.size / entryBytes) * entryBytes + (entry.size === 0 ? entryBytes : 0)
        if (quotaBytes > 0 && used > quotaBytes) {
          throw new Fault(
            'disk_quota_reached',
            `The files of the archive need more than the disk quota of ${quotaBytes} bytes.`,
          )
        }
      }
      return { inside, verdict }
    },
  }
}

/** The path in the workspace. Throws `invalid_archive` for a path that leads anywhere else. */
function insideOf(path: string): string {
  const inside = path.slice(archivedFolder.length).replace(/\/$/, '')
  const parts = inside.split('/')
  const isPlain =
    path.startsWith(archivedFolder) &&
    path.length <= maxNameBytes &&
    !path.includes('\0') &&
    parts.every((part) => part !== '' && part !== '.' && part !== '..' && part.length <= 255)
  if (!isPlain) throw invalidArchive(`"${shown(path)}" is not a path inside the workspace.`)
  return inside
}
