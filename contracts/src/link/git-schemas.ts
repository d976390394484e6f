import { z } from 'zod'
import {
  changedFileStatuses,
  type GitChangeAnswer,
  type GitEndAnswer,
  type GitLogAnswer,
  type GitLookAnswer,
  type GitResetAnswer,
  gitConflicts,
  maxChangedFiles,
  maxDiffBytes,
  maxPreserved,
} from './git.ts'

const Short = z.string().max(2000)
const Sha = z.string().max(64)
const FullSha = z.string().regex(/^[0-9a-f]{40,64}$/)
const Path = z.string().max(5000)
const Count = z.number().int().min(0)
const Commit = z.object({ sha: Sha, message: Short, author: Short, date: z.string().max(40) })
const State = z.object({
  is_repository: z.boolean(),
  branch: Short.nullable(),
  remote_url: Short.nullable(),
  has_credential: z.boolean(),
  last_commit: Commit.nullable(),
  changes: z.array(z.string().max(5000)).max(500),
  ahead: z.number().int().nullable(),
  behind: z.number().int().nullable(),
})
const End = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('done'),
    commit_sha: Sha.nullable(),
    files_changed: z.number().int(),
    from_sha: FullSha.optional(),
  }),
  z.object({ outcome: z.literal('conflict'), conflict: z.enum(gitConflicts), message: Short }),
  z.object({ outcome: z.literal('refused'), message: Short }),
  z.object({ outcome: z.literal('failed'), message: Short }),
])

/** An agent's description of its repository is untrusted text, so its size and shape are checked. */
export const GitLookReply: z.ZodType<GitLookAnswer> = z.object({ state: State, failed: Short.nullable() })
export const GitLogReply: z.ZodType<GitLogAnswer> = z.object({ commits: z.array(Commit).max(100) })
export const GitChangeReply: z.ZodType<GitChangeAnswer> = z.object({
  found: z.boolean(),
  files: z
    .array(
      z.object({
        path: Path,
        previous_path: Path.nullable(),
        status: z.enum(changedFileStatuses),
        additions: Count.nullable(),
        deletions: Count.nullable(),
      }),
    )
    .max(maxChangedFiles),
  total_files: Count,
  hidden_files: Count,
  diff: z.string().max(maxDiffBytes),
  truncated: z.boolean(),
})
export const GitEndReply: z.ZodType<GitEndAnswer> = z.object({ end: End, state: State })
export const GitResetReply: z.ZodType<GitResetAnswer> = z.object({
  end: End,
  state: State,
  snapshot_dir: z.string().max(200).nullable(),
  files_preserved: z.array(z.string().max(5000)).max(maxPreserved),
})
