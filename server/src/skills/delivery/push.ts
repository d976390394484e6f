import { fileChunkBytes, maxSkillBytes } from '@roost/contracts/link/messages'
import type { SkillInstallAnswer } from '@roost/contracts/link/skills'
import { newId } from '../../kit/ids.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Git } from '../../ports/git/port.ts'
import type { Library, LibrarySkill, Package } from '../library/index.ts'

export type PushDeps = {
  git: Pick<Git, 'fetch' | 'read'>
  library: Pick<Library, 'package'>
  link: Pick<AgentLink, 'call'>
  gitToken(): string | null
}

/** The reason why a skill is not delivered; callers see its message. */
export class NotDeliverable extends Error {}

/** Reads a skill from git's objects and sends it to an agent. Returns warnings about omitted files. */
export function createPush({ git, library, link, gitToken }: PushDeps) {
  async function blobsOf(skill: LibrarySkill, packed: Package) {
    const shas = packed.files.map(({ sha }) => sha)
    const read = () => git.read(skill.source.url, shas, { maxBytes: maxSkillBytes })
    const first = await read()
    if (first.ok || first.fault !== 'missing') return first
    // The objects are missing if another process synced the source, or the cache was pruned.
    const ref = { kind: 'commit', name: skill.commit } as const
    const fetched = await git.fetch(skill.source.url, ref, { token: gitToken() })
    return fetched.ok ? read() : fetched
  }

  async function load(skill: LibrarySkill): Promise<{ packed: Package; bytes: Buffer }> {
    const packed = await library.package(skill)
    if (!packed) throw new NotDeliverable('The library has changed meanwhile; it is delivered again.')
    if (packed.has_too_many) throw new NotDeliverable('The skill has more than 200 files.')
    if (skill.size_bytes > maxSkillBytes) throw new NotDeliverable('The skill is larger than 10 MiB.')
    const blobs = await blobsOf(skill, packed)
    if (!blobs.ok) throw new NotDeliverable(blobs.message)
    const parts = packed.files.map(({ sha }) => blobs.value.get(sha) ?? Buffer.alloc(0))
    return { packed, bytes: Buffer.concat(parts) }
  }

  return async function push(
    agentId: string,
    skill: LibrarySkill,
  ): Promise<{ outcome: 'injected' | 'conflict'; warnings: string[] }> {
    const { packed, bytes } = await load(skill)
    const { name, version, commit, source } = skill
    const files = packed.files.map(({ path, size, executable }) => ({ path, size, executable }))
    const manifest = { name, version, commit, source_id: source.id, source_name: source.name, files }
    const upload_id = newId()
    let outcome: SkillInstallAnswer['outcome'] = null
    for (let offset = 0; outcome === null; offset += fileChunkBytes) {
      const isLast = offset + fileChunkBytes >= bytes.length
      const answer = await link.call(agentId, 'skills.install', {
        upload_id,
        offset,
        data_base64: bytes.toString('base64', offset, offset + fileChunkBytes),
        manifest: isLast ? manifest : null,
      })
      outcome = answer.outcome
      if (isLast && outcome === null) throw new NotDeliverable('The agent did not take the skill.')
    }
    return { outcome, warnings: packed.warnings }
  }
}
