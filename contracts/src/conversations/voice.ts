import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Id, Timestamp } from '../kit/primitives.ts'
import { workspaceAccess, workspaceAgentPath, workspaceTag } from './workspace.ts'

const tag = 'Voice'
const path = (end: string) => `/api/agents/{name}/voice${end}`

export const voicePromptLength = 4000
export const voiceTicketSeconds = 60
export const voiceLongestSeconds = 1800
/** Base64 of about four seconds of speech; clients send pieces of a tenth of a second or less. */
export const voiceFrameLimit = 256 * 1024

/** With which codes the platform closes the socket of a call, besides those of the protocol. */
export const voiceCloseCodes = {
  ended: 1000,
  /** The platform stops: call again. */
  stopping: 1001,
  /** A frame above the limit, or more than a few that cannot be read. */
  refused: 1008,
  failed: 1011,
  badTicket: 4001,
  notYours: 4003,
  unknown: 4004,
} as const

/** Voices that the model speaks with. */
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

/** What a client sends: speech, and that the microphone is off. Audio is PCM, 16 kHz, mono, 16 bit, in base64. */
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

/** Why a call is over. */
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
 * What a client gets. `audio` is PCM, 24 kHz, mono, 16 bit, in base64. `transcript` carries the whole line as it is
 * known by now, until `final`. `interrupted`: sound that was not played yet is to be dropped. `error` answers a frame
 * that cannot be read.
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
  websocket_url: z.string().describe('Path and ticket; the ticket is good once, for 60 seconds.'),
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

const callWords = `The socket carries JSON text messages. Client: \`{type: "audio", data}\` (base64 PCM, 16 kHz, mono, 16 bit), \`{type: "end"}\` when the microphone is off. Server: \`audio {data}\` (24 kHz), \`transcript {role, text, final}\`, \`status {state, reason?}\` (${voiceStates.join(', ')}), \`interrupted\`, \`tool_call\`, \`tool_result\`, \`task {task_id, state, label}\`, \`error {error, detail}\`. Close codes: 4001 bad ticket, 4003 the call of somebody else, 4004 no such call. What is said becomes messages of the conversation, line by line. A call ends after 30 minutes; a new one ends the one before it.`

export const startVoice = endpoint({
  id: 'startVoice',
  method: 'POST',
  path: path('/start'),
  summary: 'Call the agent',
  description: callWords,
  tag,
  access: { who: 'access' },
  params: AgentParams,
  body: z.object({
    session_id: Id.nullish().describe('Your current conversation without it.'),
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
  summary: 'Call the agent in one of your conversations',
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
  summary: 'End a call; what was said',
  description: 'Again answers the same.',
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
  summary: 'Whether the agent can be called, and your call',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: z.object({
    enabled: z.boolean().describe('The platform has a key for voices.'),
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
  summary: 'How the agent is to speak',
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
  summary: 'Say how the agent is to speak; empty for nothing in particular',
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
  summary: 'The voice of the agent, and those to choose from',
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
  summary: 'Choose the voice; null for the default',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  body: z.object({ voice_name: VoiceName.nullable() }),
  returns: ChosenVoice,
  fails: ['agent_not_found'],
  audit: { type: 'configuration', action: 'set_voice_name' },
})
