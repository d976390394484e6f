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

/** The conversation to call. */
export type CallTarget =
  | { place: 'workspace'; agentName: string; sessionId: string }
  /** `begin` creates the conversation if it does not exist yet. */
  | { place: 'chat'; agentName: string; sessionId: string | null; begin: () => Promise<string> }

/** The path of the call's socket, with its ticket. */
export async function beginCall(api: Client, target: CallTarget): Promise<string> {
  const params = { name: target.agentName }
  if (target.place === 'workspace') {
    const body = { portal_session_id: target.sessionId }
    return (await api.call(startWorkspaceVoice, { params, body })).websocket_url
  }
  const session_id = target.sessionId ?? (await target.begin())
  return (await api.call(startVoice, { params, body: { session_id } })).websocket_url
}
