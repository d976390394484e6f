import * as endpoints from '@roost/contracts/conversations/voice'
import { defaultVoice, voiceLongestSeconds, voiceNames } from '@roost/contracts/conversations/voice'
import type { AgentRecords } from '../../agents/records/index.ts'
import { agentRoute, type Route } from '../../http/route.ts'
import { holderOf } from '../../runs/dispatch/index.ts'
import type { Chat } from '../chat/index.ts'
import { createBinding, type WorkspaceChat } from '../workspace-chat/index.ts'
import { personOf, workspacePersonOf } from './identity.ts'
import type { Voice } from './service.ts'

export function voiceRoutes(
  voice: Voice,
  {
    sessions,
    workspaceChat,
    agentRecords,
  }: { sessions: Chat['sessions']; workspaceChat: WorkspaceChat; agentRecords: Pick<AgentRecords, 'byId'> },
): Route[] {
  const { calls, settings } = voice
  const { withAgent } = createBinding(workspaceChat)
  const max_duration_seconds = voiceLongestSeconds
  const promptView = (prompt: string | null) => ({ voice_system_prompt: prompt })
  const nameView = (voice_name: string | null) => ({
    voice_name,
    available_voices: [...voiceNames],
    default_voice: defaultVoice,
  })

  return [
    agentRoute(endpoints.startVoice, async ({ caller, agent, body, request }) => {
      const { session_id, voice_name } = body
      const party = { caller, agent: { id: agent.id, name: agent.name } }
      const started = await calls.start(personOf(caller), agent.id, {
        voiceName: voice_name ?? null,
        session: (tx) =>
          session_id ? sessions.own(party, session_id, tx) : sessions.ensureCurrent(tx, party),
      })
      request.note({ voice_session_id: started.call.id })
      return {
        voice_session_id: started.call.id,
        websocket_url: started.websocketUrl,
        chat_session_id: started.session.id,
        max_duration_seconds,
      }
    }),

    withAgent(endpoints.startWorkspaceVoice, async ({ principal, agent, body, request }) => {
      const { portal_session_id, voice_name } = body
      const started = await calls.start(workspacePersonOf(principal), agent.id, {
        voiceName: voice_name ?? null,
        session: (tx) => workspaceChat.conversations.own(principal, agent.id, portal_session_id, tx),
      })
      request.note({ voice_session_id: started.call.id })
      return {
        voice_session_id: started.call.id,
        websocket_url: started.websocketUrl,
        portal_session_id: started.session.id,
        max_duration_seconds,
      }
    }),

    agentRoute(endpoints.stopVoice, async ({ caller, agent, body, request }) => {
      request.note({ voice_session_id: body.voice_session_id })
      return calls.stop({ agentId: agent.id, holder: holderOf(caller) }, body.voice_session_id)
    }),

    agentRoute(endpoints.getVoiceStatus, async ({ caller, agent }) => {
      const { prompt, voice_name } = await settings.of(agent.id)
      const active = await calls.active({ agentId: agent.id, holder: holderOf(caller) })
      const enabled = voice.isOn()
      return {
        enabled,
        available: enabled && (await agentRecords.byId(agent.id))?.status === 'running',
        active_session_id: active?.id ?? null,
        voice_prompt_set: prompt !== null,
        voice_name,
      }
    }),

    agentRoute(endpoints.getVoicePrompt, async ({ agent }) =>
      promptView((await settings.of(agent.id)).prompt),
    ),
    agentRoute(endpoints.putVoicePrompt, async ({ agent, body }) => {
      const prompt = body.voice_system_prompt?.trim() || null
      return promptView((await settings.put(agent.id, { prompt })).prompt)
    }),
    agentRoute(endpoints.getVoiceName, async ({ agent }) =>
      nameView((await settings.of(agent.id)).voice_name),
    ),
    agentRoute(endpoints.putVoiceName, async ({ agent, body, request }) => {
      request.note({ voice_name: body.voice_name })
      return nameView((await settings.put(agent.id, { voice_name: body.voice_name })).voice_name)
    }),
  ]
}
