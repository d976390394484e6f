import { Fault } from '../../kit/fault.ts'
import type { TreeEntry } from '../../ports/git/port.ts'

/** Limits for the content of one template. */
export const contentBounds = {
  entries: 5_000,
  bytes: 100 * 1024 * 1024,
  pathCharacters: 1_000,
  segmentBytes: 255,
}

/** The parts of a repository's tree that become a workspace. */
export type ContentPlan = {
  /** Parents before their content. */
  folders: string[]
  files: { path: string; sha: string; executable: boolean }[]
  /** The blob contains the link target. */
  links: { path: string; sha: string }[]
  /** Sum of all blobs. */
  bytes: number
  /** Paths of submodules, whose content is in other repositories. */
  leftOut: string[]
}

/** Platform-owned paths in every workspace; templates must not contain them. */
const platformPaths = [/^\.ssh(\/|$)/i, /^\.roost\/(keys|state|parts|packs)(\/|$)/i, /^\.roost-initialized$/i]

/** Accepts an untrusted tree, or throws `template_unresolvable` that names the offending path. */
export function planContent(entries: readonly TreeEntry[]): ContentPlan {
  if (entries.length > contentBounds.entries) {
    throw unusable(`it contains more than ${contentBounds.entries} files and folders`)
  }
  const plan: ContentPlan = { folders: [], files: [], links: [], bytes: 0, leftOut: [] }
  const kinds = new Map<string, TreeEntry['kind']>()
  for (const entry of entries) {
    const { path, kind, sha } = entry
    rejectName(path)
    if (kinds.has(path)) throw unusable(`${quoted(path)} is listed twice`)
    kinds.set(path, kind)
    plan.bytes += entry.size
    if (kind === 'submodule') plan.leftOut.push(path)
    else if (kind === 'link') plan.links.push({ path, sha })
    else if (kind === 'folder') plan.folders.push(path)
    else plan.files.push({ path, sha, executable: kind === 'executable' })
  }
  for (const path of kinds.keys()) {
    if (parentsOf(path).some((parent) => kinds.get(parent) !== 'folder')) {
      throw unusable(`${quoted(path)} is inside something that is not a folder`)
    }
  }
  plan.folders.sort()
  if (plan.bytes > contentBounds.bytes) throw unusable('its files are together larger than 100 MiB')
  return plan
}

/** In characters: the longest path of Linux. */
const maxLinkTarget = 4096

/** Rejects a link that leaves the workspace, even through another link. Throws `template_unresolvable`. */
export function rejectEscapingLink(plan: ContentPlan, path: string, target: string): void {
  const fault = unusable(`the link ${quoted(path)} points outside the workspace`)
  if (target === '' || target.startsWith('/') || target.includes('\0')) throw fault
  if (target.length > maxLinkTarget) throw unusable(`the target of the link ${quoted(path)} is too long`)
  const links = new Set(plan.links.map((link) => link.path))
  const walked = path.split('/').slice(0, -1)
  const steps = target.split('/').filter((step) => step !== '' && step !== '.')
  for (const [index, step] of steps.entries()) {
    if (step === '..') {
      if (walked.length === 0) throw fault
      walked.pop()
      continue
    }
    walked.push(step)
    // Behind another link, ".." would resolve to a different folder.
    if (index < steps.length - 1 && links.has(walked.join('/'))) throw fault
  }
}

function rejectName(path: string): void {
  const segments = path.split('/')
  const isInvalid =
    path.length > contentBounds.pathCharacters ||
    // `\ufffd` stands for bytes that are not valid UTF-8.
    /[\x00-\x1f\x7f\\\ufffd]/.test(path) ||
    segments.some(
      (segment) =>
        segment === '' ||
        segment === '.' ||
        segment === '..' ||
        // Includes spellings that other file systems treat as `.git`.
        /^(\.git|git~1)[ .]*$/i.test(
          segment.replaceAll(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, ''),
        ) ||
        Buffer.byteLength(segment) > contentBounds.segmentBytes,
    )
  if (isInvalid) throw unusable(`${quoted(path)} is not a valid file name`)
  if (platformPaths.some((pattern) => pattern.test(path))) {
    throw unusable(`${quoted(path)} is reserved for the platform in every workspace`)
  }
}

function parentsOf(path: string): string[] {
  const segments = path.split('/')
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join('/'))
}

function quoted(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path)
}

function unusable(reason: string): Fault {
  return new Fault('template_unresolvable', `The repository cannot become a workspace: ${reason}.`)
}
