import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, megabyte } from '../kit/primitives.ts'

const tag = 'Agents'
const path = '/api/agents/{name}/avatar'
const writes = { who: 'owner', gate: 'person' } as const

export const avatarTypes = ['image/png', 'image/jpeg', 'image/webp'] as const
export type AvatarType = (typeof avatarTypes)[number]

const Avatar = z.object({ agent_name: z.string(), avatar_url: z.string() })

export const getAvatar = endpoint({
  id: 'getAvatar',
  method: 'GET',
  path,
  summary: "The agent's picture, or a generated one",
  tag,
  access: { who: 'access' },
  params: AgentParams,
  streams: ['image/svg+xml', ...avatarTypes],
  fails: ['agent_not_found'],
})

export const putAvatar = endpoint({
  id: 'putAvatar',
  method: 'PUT',
  path,
  summary: 'Set the picture: PNG, JPEG or WebP of at most 1 MiB',
  tag,
  access: writes,
  params: AgentParams,
  bodyKind: 'raw',
  accepts: ['application/octet-stream', ...avatarTypes],
  body: z.custom<Uint8Array>(),
  bodyLimit: megabyte,
  returns: Avatar,
  fails: ['agent_not_found', 'body_too_large', 'unsupported_media_type'],
  audit: { type: 'configuration', action: 'set_avatar' },
})

export const deleteAvatar = endpoint({
  id: 'deleteAvatar',
  method: 'DELETE',
  path,
  summary: 'Reset to the generated picture',
  tag,
  access: writes,
  params: AgentParams,
  returns: Avatar,
  fails: ['agent_not_found'],
  audit: { type: 'configuration', action: 'delete_avatar' },
})
