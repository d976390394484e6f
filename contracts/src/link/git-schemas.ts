import { z } from 'zod'
import {
  type GitEndAnswer,
  type GitLogAnswer,
  type GitLookAnswer,
  type GitResetAnswer,
  gitConflicts,
  maxPreserved,
} from './git.ts'

const Short = z.string().max(2000)
const Sha = z.string().max(64)
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
  z.object({ outcome: z.literal('done'), commit_sha: Sha.nullable(), files_changed: z.number().int() }),
  z.object({ outcome: z.literal('conflict'), conflict: z.enum(gitConflicts), message: Short }),
  z.object({ outcome: z.literal('refused'), message: Short }),
  z.object({ outcome: z.literal('failed'), message: Short }),
])

/** What an agent says of its repository is somebody else's text: bounded, and of this shape. */
export const GitLookReply: z.ZodType<GitLookAnswer> = z.object({ state: State, failed: Short.nullable() })
export const GitLogReply: z.ZodType<GitLogAnswer> = z.object({ commits: z.array(Commit).max(100) })
export const GitEndReply: z.ZodType<GitEndAnswer> = z.object({ end: End, state: State })
export const GitResetReply: z.ZodType<GitResetAnswer> = z.object({
  end: End,
  state: State,
  snapshot_dir: z.string().max(200).nullable(),
  files_preserved: z.array(z.string().max(5000)).max(maxPreserved),
})
