import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Id, Timestamp } from '../kit/primitives.ts'
import { workspaceAccess, workspaceAgentPath, workspaceTag } from './workspace.ts'

const tag = 'Voice'
const path = (end: string) => `/api/agents/{name}/voice${end}`

export const voicePromptLength = 4000
export const voiceTicketSeconds = 60
export const voiceLongestSeconds = 1800
/** Base64 of about four seconds of speech; clients send frames of at most a tenth of a second. */
export const voiceFrameLimit = 256 * 1024

/** Close codes of a call's socket, in addition to those of the protocol. */
export const voiceCloseCodes = {
  ended: 1000,
  /** The platform is stopping: call again. */
  stopping: 1001,
  /** A frame above the limit, or too many invalid frames. */
  refused: 1008,
  failed: 1011,
  badTicket: 4001,
  notYours: 4003,
  unknown: 4004,
} as const

/** Voices of the model. */
export const voiceNames = [
  ...['Achernar', 'Achird', 'Algenib', 'Algieba', 'Alnilam', 'Aoede', 'Autonoe', 'Callirrhoe', 'Charon'],
  ...['Despina', 'Enceladus', 'Erinome', 'Fenrir', 'Gacrux', 'Iapetus', 'Kore', 'Laomedeia', 'Leda', 'Orus'],
  ...['Puck', 'Pulcherrima', 'Rasalgethi', 'Sadachbia', 'Sadaltager', 'Schedar', 'Sulafat', 'Umbriel'],
  ...['Vindemiatrix', 'Zephyr', 'Zubenelgenubi'],
] as const
export const defaultVoice = 'Kore'

const VoiceName = z
  .string()
  .refine((name) => voiceNames.some((known) => known === name), 'must be one of `available_voices`')

const base64 = /^[A-Za-z0-9+/]+={0,2}$/

/** Messages from a client: speech, and the end of it. Audio is PCM, 16 kHz, mono, 16 bit, in base64. */
export const VoiceClientMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('audio'),
    data: z.string().max(voiceFrameLimit).regex(base64, 'must be base64'),
  }),
  z.object({ type: z.literal('end') }),
])
export type VoiceClientMessage = z.output<typeof VoiceClientMessage>

export const voiceStates = ['connecting', 'listening', 'speaking', 'ended'] as const
export type VoiceState = (typeof voiceStates)[number]

/** Why a call ended. */
export const voiceEndReasons = [
  'stopped',
  'disconnected',
  'time_limit',
  'replaced',
  'not_answered',
  'access_lost',
  'agent_deleted',
  'conversation_gone',
  'provider_lost',
  'provider_refused',
  'slow_client',
  'bad_frames',
  'platform_stopping',
] as const
export type VoiceEndReason = (typeof voiceEndReasons)[number]

/**
 * Messages to a client. `audio` is PCM, 24 kHz, mono, 16 bit, in base64. `transcript` has the whole line so far, until
 * `final`. On `interrupted`, the client drops audio that it has not played. `error` is the reply to an invalid frame.
 */
export type VoiceServerMessage =
  | { type: 'audio'; data: string }
  | { type: 'transcript'; role: 'user' | 'assistant'; text: string; final: boolean }
  | { type: 'status'; state: VoiceState; reason?: VoiceEndReason }
  | { type: 'interrupted' }
  | { type: 'tool_call'; id: string; name: string; args: Record<string, unknown> }
  | { type: 'tool_result'; id: string; name: string; ok: boolean }
  | { type: 'task'; task_id: string; state: string; label: string }
  | { type: 'error'; error: string; detail: string }

const started = {
  voice_session_id: Id,
  websocket_url: z.string().describe('Path and ticket; the ticket is valid once, for 60 seconds.'),
  max_duration_seconds: z.number().int(),
}

const startFails = [
  'agent_not_found',
  'session_not_found',
  'conflict',
  'turn_in_progress',
  'agent_not_running',
  'rate_limited',
  'not_configured',
  'ephemeral_unavailable',
] as const

const callWords = `The socket carries JSON text messages. Client: \`{type: "audio", data}\` (base64 PCM, 16 kHz, mono, 16 bit), \`{type: "end"}\` when the microphone is off. Server: \`audio {data}\` (24 kHz), \`transcript {role, text, final}\`, \`status {state, reason?}\` (${voiceStates.join(', ')}), \`interrupted\`, \`tool_call\`, \`tool_result\`, \`task {task_id, state, label}\`, \`error {error, detail}\`. Close codes: 4001 invalid ticket, 4003 call of another person, 4004 unknown call. Spoken lines become messages of the conversation. A call ends after 30 minutes, or when a new one starts.`

export const startVoice = endpoint({
  id: 'startVoice',
  method: 'POST',
  path: path('/start'),
  summary: 'Start a voice call with the agent',
  description: callWords,
  tag,
  access: { who: 'access' },
  params: AgentParams,
  body: z.object({
    session_id: Id.nullish().describe('Default: your current conversation.'),
    voice_name: VoiceName.nullish(),
  }),
  bodyOptional: true,
  returns: z.object({ ...started, chat_session_id: Id }),
  fails: startFails,
  audit: { type: 'execution', action: 'voice_start' },
})

export const startWorkspaceVoice = endpoint({
  id: 'startWorkspaceVoice',
  method: 'POST',
  path: workspaceAgentPath('/voice/start'),
  summary: 'Start a voice call in one of your conversations',
  description: callWords,
  tag: workspaceTag,
  access: workspaceAccess,
  params: AgentParams,
  body: z.object({ portal_session_id: Id, voice_name: VoiceName.nullish() }),
  returns: z.object({ ...started, portal_session_id: Id }),
  fails: startFails,
  audit: { type: 'execution', action: 'workspace_voice_start' },
})

export const stopVoice = endpoint({
  id: 'stopVoice',
  method: 'POST',
  path: path('/stop'),
  summary: 'End a voice call and return its transcript',
  description: 'A repeated call returns the same.',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  body: z.object({ voice_session_id: Id }),
  returns: z.object({
    transcript: z.array(z.object({ role: z.enum(['user', 'assistant']), text: z.string(), at: Timestamp })),
    messages_saved: z.number().int(),
    duration_seconds: z.number().int(),
  }),
  fails: ['agent_not_found', 'session_not_found'],
  audit: { type: 'execution', action: 'voice_stop' },
})

export const getVoiceStatus = endpoint({
  id: 'getVoiceStatus',
  method: 'GET',
  path: path('/status'),
  summary: 'Voice status of the agent, with your current call',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: z.object({
    enabled: z.boolean().describe('The platform has a key for voice calls.'),
    available: z.boolean().describe('The agent can be called now.'),
    active_session_id: Id.nullable(),
    voice_prompt_set: z.boolean(),
    voice_name: z.string().nullable().describe('Null: the default voice.'),
  }),
  fails: ['agent_not_found'],
})

const VoicePrompt = z.object({ voice_system_prompt: z.string().nullable() })

export const getVoicePrompt = endpoint({
  id: 'getVoicePrompt',
  method: 'GET',
  path: path('/prompt'),
  summary: 'Get the voice instructions of the agent',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: VoicePrompt,
  fails: ['agent_not_found'],
})

export const putVoicePrompt = endpoint({
  id: 'putVoicePrompt',
  method: 'PUT',
  path: path('/prompt'),
  summary: 'Set the voice instructions of the agent; empty removes them',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  body: z.object({ voice_system_prompt: z.string().max(voicePromptLength).nullable() }),
  returns: VoicePrompt,
  fails: ['agent_not_found'],
  audit: { type: 'configuration', action: 'set_voice_prompt' },
})

const ChosenVoice = z.object({
  voice_name: z.string().nullable(),
  available_voices: z.array(z.string()),
  default_voice: z.string(),
})

export const getVoiceName = endpoint({
  id: 'getVoiceName',
  method: 'GET',
  path: path('/name'),
  summary: 'Get the voice of the agent and the available voices',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: ChosenVoice,
  fails: ['agent_not_found'],
})

export const putVoiceName = endpoint({
  id: 'putVoiceName',
  method: 'PUT',
  path: path('/name'),
  summary: 'Set the voice; null restores the default',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  body: z.object({ voice_name: VoiceName.nullable() }),
  returns: ChosenVoice,
  fails: ['agent_not_found'],
  audit: { type: 'configuration', action: 'set_voice_name' },
})
