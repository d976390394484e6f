import { Fault } from '../../kit/fault.ts'
import type { TreeEntry } from '../../ports/git/port.ts'

/** Of one template, unpacked. */
export const contentBounds = {
  entries: 5_000,
  bytes: 100 * 1024 * 1024,
  pathCharacters: 1_000,
  segmentBytes: 255,
}

/** What of a repository's tree becomes a workspace. */
export type ContentPlan = {
  /** Parents before what lies in them. */
  folders: string[]
  files: { path: string; sha: string; executable: boolean }[]
  /** The blob holds where it leads. */
  links: { path: string; sha: string }[]
  /** Of all blobs together. */
  bytes: number
  /** Paths of submodules, whose content is in other repositories. */
  leftOut: string[]
}

/** Owned by the platform in every workspace: whoever writes a template must not bring them along. */
const platformPaths = [/^\.ssh(\/|$)/i, /^\.roost\/(keys|state|parts|packs)(\/|$)/i, /^\.roost-initialized$/i]

/**
 * Takes in a tree that anybody may have made, or refuses it with the path at fault. Throws
 * `template_unresolvable`.
 */
export function planContent(entries: readonly TreeEntry[]): ContentPlan {
  if (entries.length > contentBounds.entries) {
    throw refused(`it holds more than ${contentBounds.entries} files and folders`)
  }
  const plan: ContentPlan = { folders: [], files: [], links: [], bytes: 0, leftOut: [] }
  const seen = new Map<string, TreeEntry['kind']>()
  for (const entry of entries) {
    const { path, kind, sha } = entry
    refuseName(path)
    if (seen.has(path)) throw refused(`${shown(path)} is there twice`)
    seen.set(path, kind)
    plan.bytes += entry.size
    if (kind === 'submodule') plan.leftOut.push(path)
    else if (kind === 'link') plan.links.push({ path, sha })
    else if (kind === 'folder') plan.folders.push(path)
    else plan.files.push({ path, sha, executable: kind === 'executable' })
  }
  for (const path of seen.keys()) {
    if (parentsOf(path).some((parent) => seen.get(parent) !== 'folder')) {
      throw refused(`${shown(path)} lies in something that is no folder`)
    }
  }
  plan.folders.sort()
  if (plan.bytes > contentBounds.bytes) throw refused('its files are together larger than 100 MiB')
  return plan
}

/**
 * Refuses a link that leads out of the workspace, also by way of another link. Throws
 * `template_unresolvable`.
 */
export function refuseLinkOut(plan: ContentPlan, path: string, target: string): void {
  const out = refused(`the link ${shown(path)} leads out of the workspace`)
  if (target === '' || target.startsWith('/') || target.includes('\0')) throw out
  const links = new Set(plan.links.map((link) => link.path))
  const walked = path.split('/').slice(0, -1)
  const steps = target.split('/').filter((step) => step !== '' && step !== '.')
  for (const [index, step] of steps.entries()) {
    if (step === '..') {
      if (walked.length === 0) throw out
      walked.pop()
      continue
    }
    walked.push(step)
    // Behind another link, ".." would lead elsewhere than it seems.
    if (index < steps.length - 1 && links.has(walked.join('/'))) throw out
  }
}

function refuseName(path: string): void {
  const segments = path.split('/')
  const isHostile =
    path.length > contentBounds.pathCharacters ||
    // The last stands for bytes that are no text.
    /[\x00-\x1f\x7f\\\ufffd]/.test(path) ||
    segments.some(
      (segment) =>
        segment === '' ||
        segment === '.' ||
        segment === '..' ||
        // Also in the spellings that other file systems take for it.
        /^(\.git|git~1)[ .]*$/i.test(
          segment.replaceAll(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, ''),
        ) ||
        Buffer.byteLength(segment) > contentBounds.segmentBytes,
    )
  if (isHostile) throw refused(`${shown(path)} is not a name that a file may have`)
  if (platformPaths.some((pattern) => pattern.test(path))) {
    throw refused(`${shown(path)} belongs to the platform in every workspace`)
  }
}

function parentsOf(path: string): string[] {
  const segments = path.split('/')
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join('/'))
}

function shown(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path)
}

function refused(what: string): Fault {
  return new Fault('template_unresolvable', `The repository cannot become a workspace: ${what}.`)
}
