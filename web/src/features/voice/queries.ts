import type { Client } from '@roost/contracts/client'
import {
  getVoiceName,
  getVoicePrompt,
  getVoiceStatus,
  startVoice,
  startWorkspaceVoice,
} from '@roost/contracts/conversations/voice'
import { queryOptions } from '@tanstack/react-query'

const key = (name: string, part: string) => ['agent', name, 'voice', part] as const

export const voiceStatusQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: key(name, 'status'),
    queryFn: ({ signal }) => api.call(getVoiceStatus, { params: { name }, signal }),
  })

export const voicePromptQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: key(name, 'prompt'),
    queryFn: ({ signal }) => api.call(getVoicePrompt, { params: { name }, signal }),
  })

export const voiceNameQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: key(name, 'name'),
    queryFn: ({ signal }) => api.call(getVoiceName, { params: { name }, signal }),
  })

/** Which conversation is called. */
export type CallTarget = { agentName: string; sessionId: string | null; place: 'chat' | 'workspace' }

/** The path of the call's socket, with its ticket. */
export async function beginCall(
  api: Client,
  { agentName: name, sessionId, place }: CallTarget,
): Promise<string> {
  const params = { name }
  if (place === 'workspace') {
    const body = { portal_session_id: sessionId ?? '' }
    return (await api.call(startWorkspaceVoice, { params, body })).websocket_url
  }
  return (await api.call(startVoice, { params, body: sessionId === null ? {} : { session_id: sessionId } }))
    .websocket_url
}
