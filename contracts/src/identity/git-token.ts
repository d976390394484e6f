import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'

const tag = 'Account'
const human = { who: 'any', gate: 'human' } as const

/**
 * A person's token at the git host; it is never returned. `username`: its account there, null until the host has
 * reported it. `has_global`: the platform has a token for everyone.
 */
export const GitTokenStatus = z.object({
  configured: z.boolean(),
  username: z.string().nullable(),
  has_global: z.boolean(),
})

export const SetGitToken = z.object({
  pat: z
    .string()
    .trim()
    .min(1)
    .max(512)
    .regex(/^[\x21-\x7e]+$/, 'must be printable characters without spaces'),
})

export const getGitToken = endpoint({
  id: 'getGitToken',
  method: 'GET',
  path: '/api/users/me/github-pat',
  summary: 'Check whether your account has a token for the git host',
  tag,
  access: human,
  returns: GitTokenStatus,
})

export const putGitToken = endpoint({
  id: 'putGitToken',
  method: 'PUT',
  path: '/api/users/me/github-pat',
  summary: 'Store your token for the git host',
  tag,
  access: human,
  body: SetGitToken,
  bodyLimit: 16 * 1024,
  returns: GitTokenStatus,
  fails: ['human_only'],
  audit: { type: 'credentials', action: 'put_git_token' },
})

export const deleteGitToken = endpoint({
  id: 'deleteGitToken',
  method: 'DELETE',
  path: '/api/users/me/github-pat',
  summary: 'Delete your token for the git host',
  tag,
  access: human,
  returns: GitTokenStatus,
  fails: ['human_only'],
  audit: { type: 'credentials', action: 'delete_git_token' },
})
