import { createHash } from 'node:crypto'
import {
  access,
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../kit/clock.ts'
import type { Git, GitOutcome } from '../../ports/git/port.ts'
import { type ContentPlan, contentBounds, rejectEscapingLink } from './git-content.ts'

/**
 * Unpacked contents of git templates: one immutable folder per repository and commit. Agents get
 * its files at their first start.
 */
export type ContentStore = {
  /** Null if it is not unpacked here. */
  folderOf(repository: string, commit: string): Promise<string | null>
  /**
   * Unpacks the content unless already done. Throws `template_unresolvable` for a link that leaves the
   * folder.
   */
  unpack(repository: string, commit: string, plan: ContentPlan): Promise<GitOutcome<string>>
  /** Removes unused folders older than an hour. */
  sweep(inUse: readonly { repository: string; commit: string }[]): Promise<void>
}

const minAgeMs = 60 * 60_000
const readSeconds = 60

export function createContentStore(deps: {
  /** Absolute path; created if missing. */
  folder: string
  git: Pick<Git, 'read'>
  addressOf(repository: string): string
  clock: Pick<Clock, 'now'>
}): ContentStore {
  const { folder, git, addressOf, clock } = deps
  const nameOf = (repository: string, commit: string) =>
    `${createHash('sha256').update(repository.toLowerCase()).digest('hex').slice(0, 16)}-${commit}`

  async function folderOf(repository: string, commit: string): Promise<string | null> {
    const path = join(folder, nameOf(repository, commit))
    return access(path).then(
      () => path,
      () => null,
    )
  }

  return {
    folderOf,

    async unpack(repository, commit, plan) {
      const existing = await folderOf(repository, commit)
      if (existing !== null) return { ok: true, value: existing }
      const blobs = await git.read(
        addressOf(repository),
        [...plan.files, ...plan.links].map(({ sha }) => sha),
        { maxBytes: contentBounds.bytes, timeoutSeconds: readSeconds },
      )
      if (!blobs.ok) return blobs
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const parts = await mkdtemp(join(folder, 'parts-'))
      const target = join(folder, nameOf(repository, commit))
      try {
        await write(parts, plan, blobs.value)
        await chmod(parts, 0o755)
        await rename(parts, target).catch(async (error: unknown) => {
          // Another process unpacked the same content first.
          if ((await folderOf(repository, commit)) === null) throw error
        })
        return { ok: true, value: target }
      } finally {
        await rm(parts, { recursive: true, force: true })
      }
    },

    async sweep(inUse) {
      const used = new Set(inUse.map(({ repository, commit }) => nameOf(repository, commit)))
      for (const name of await readdir(folder).catch(() => [])) {
        if (used.has(name)) continue
        const status = await stat(join(folder, name)).catch(() => null)
        if (!status || clock.now().getTime() - status.ctimeMs < minAgeMs) continue
        await rm(join(folder, name), { recursive: true, force: true })
      }
    },
  }
}

/** Files first and links last, so that nothing is ever written through a link. */
async function write(root: string, plan: ContentPlan, blobs: ReadonlyMap<string, Buffer>): Promise<void> {
  const bytesOf = (sha: string) => blobs.get(sha) ?? Buffer.alloc(0)
  for (const path of plan.folders) {
    await mkdir(join(root, path))
    // The agent's user, which reads the folder, differs from this process's user.
    await chmod(join(root, path), 0o755)
  }
  for (const { path, sha, executable } of plan.files) {
    const target = join(root, path)
    await writeFile(target, bytesOf(sha), { flag: 'wx' })
    await chmod(target, executable ? 0o755 : 0o644)
  }
  for (const { path, sha } of plan.links) {
    const linkTarget = bytesOf(sha).toString('utf8')
    rejectEscapingLink(plan, path, linkTarget)
    await symlink(linkTarget, join(root, path))
  }
}
