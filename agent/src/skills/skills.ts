import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { RuntimeName } from '@roost/contracts/link/messages'
import type {
  SkillInstallAnswer,
  SkillManifest,
  SkillsListAnswer,
  SkillsRemoveAnswer,
  SkillsSettle,
  SkillsSettleAnswer,
} from '@roost/contracts/link/skills'
import { type Clock, timestamp } from '../kit/clock.ts'
import { LinkFault } from '../link/link.ts'
import { asFault, isDirectory, type Paths } from '../workspace/paths.ts'
import { closedMode, installedVersion, placeSkill, removeSkill, unpack } from './folder.ts'
import { readManifest, skillName } from './manifest.ts'
import { missingOf } from './requirements.ts'
import { createUploads } from './uploads.ts'
import { linkSkills, writeIgnoreBlock, writeInstructionBlock } from './workspace-blocks.ts'

/**
 * Manages skills in `.claude/skills` of the workspace. Folders with a manifest belong to the platform; all
 * others belong to the agent and are never changed.
 */
export type Skills = {
  list(): Promise<SkillsListAnswer>
  install(chunk: SkillChunk): Promise<SkillInstallAnswer>
  remove(names: string[]): Promise<SkillsRemoveAnswer>
  settle(skills: SkillsSettle['skills']): Promise<SkillsSettleAnswer>
}
export type SkillChunk = { uploadId: string; offset: number; bytes: Buffer; manifest: SkillManifest | null }

export type SkillsDeps = {
  paths: Paths
  runtime: RuntimeName
  clock: Clock
  /** Private folder for uploads, used for nothing else. */
  parts: string
  /** The environment of a turn, for checks of programs and variables. */
  environment(): Promise<Readonly<Record<string, string>>>
}

const skillsFolder = '.claude/skills'
/** On the workspace's volume, so that skills appear atomically, and where only the owner's files have an effect. */
const unpackedFolder = '.claude/.roost-skills'

export function createSkills({ paths, runtime, clock, parts, environment }: SkillsDeps): Skills {
  const uploads = createUploads(parts, clock)
  /** Resolved for each call: the agent may replace the folder by a link, which must stay in the workspace. */
  const root = () => paths.target(join(paths.home, skillsFolder))

  async function install(manifest: SkillManifest, bytes: Buffer): Promise<SkillInstallAnswer> {
    const size = manifest.files.reduce((sum, file) => sum + file.size, 0)
    if (size !== bytes.length)
      throw new LinkFault('invalid_message', 'The size of the files differs from the manifest.')
    const folder = join(await paths.target(join(paths.home, unpackedFolder)), randomUUID())
    try {
      await mkdir(folder, { recursive: true, mode: closedMode })
      await unpack(bytes, manifest, folder)
      const real = await root()
      await mkdir(real, { recursive: true, mode: closedMode })
      const unpacked = { folder, manifest, injectedAt: timestamp(clock) }
      const isPlaced = await placeSkill(join(real, manifest.name), unpacked)
      return { outcome: isPlaced ? 'injected' : 'conflict' }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  async function removeOne(real: string, name: string): Promise<SkillsRemoveAnswer['results'][number]> {
    const target = join(real, skillName(name))
    if (!(await isDirectory(target))) return { name, outcome: 'absent' }
    const recorded = await readManifest(target)
    if (!recorded) return { name, outcome: 'foreign' }
    try {
      await removeSkill(target, recorded)
      return { name, outcome: 'removed' }
    } catch {
      return { name, outcome: 'failed' }
    }
  }

  return {
    async list() {
      const real = await root()
      const entries = await readdir(real, { withFileTypes: true }).catch(() => [])
      const folders = entries.filter((entry) => entry.isDirectory())
      const skills = await Promise.all(
        folders.map(async ({ name }) => {
          const recorded = await readManifest(join(real, name))
          if (!recorded) return { name, managed: false, version: null }
          return { name, managed: true, version: await installedVersion(join(real, name), recorded) }
        }),
      )
      return { skills }
    },

    async install({ uploadId, offset, bytes, manifest }) {
      try {
        await uploads.append(uploadId, offset, bytes)
        if (!manifest) return { outcome: null }
        return await install(manifest, await uploads.take(uploadId))
      } catch (error) {
        await uploads.forget(uploadId)
        throw asFault(error, skillsFolder)
      }
    },

    async remove(names) {
      const real = await root()
      const results = []
      for (const name of names) results.push(await removeOne(real, name))
      return { results }
    },

    async settle(skills) {
      const names = skills.map(({ name }) => skillName(name))
      try {
        if (runtime !== 'claude-code') await linkSkills(paths, names)
        await writeIgnoreBlock(paths, names)
        await writeInstructionBlock(paths, skills)
      } catch (error) {
        throw asFault(error, skillsFolder)
      }
      const env = await environment()
      const warnings = await Promise.all(
        skills.map(async ({ name, requires }) => ({
          name,
          warnings: await missingOf(requires, env, paths.home),
        })),
      )
      return { warnings }
    },
  }
}
