import { voiceLongestSeconds } from '@roost/contracts/conversations/voice'
import type { WebSocket } from 'ws'
import type { Loop } from '../../background/loops.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import type { Log } from '../../ports/log.ts'
import { VoiceDown, type VoicePort } from '../../ports/voice/port.ts'
import type { Executions, RunHooks } from '../../runs/executions/index.ts'
import { type AccessRevocationPort, chatStore } from '../chat/index.ts'
import type { AgentRequestsDeps } from './agent-requests.ts'
import { type Calls, type CallsDeps, createCalls } from './calls.ts'
import { type Admitted, createVoiceIdentity, type VoiceIdentityDeps } from './identity.ts'
import { startLiveCall } from './live-call.ts'
import { createLiveCalls } from './live-calls.ts'
import { askTool, contextMessages, instructionOf } from './rules.ts'
import { type CallRow, voiceStore } from './store.ts'
import { createCallTickets } from './tickets.ts'
import { createTranscript, type TranscriptDeps } from './transcript.ts'

export type VoiceDeps = VoiceIdentityDeps &
  AgentRequestsDeps &
  Omit<TranscriptDeps, 'executions'> &
  Pick<CallsDeps, 'limits' | 'voiceKey'> & {
    clock: Clock
    log: Log
    ephemeral: Pick<Ephemeral, 'put' | 'take' | 'publish' | 'subscribe'>
    executions: Pick<Executions, 'watch' | 'inFlight' | 'toolCalls'>
    hooks: RunHooks
    accessRevocation: AccessRevocationPort
    voice: VoicePort
  }

/** Why a ticket was refused. */
export type AdmissionError = 'bad_ticket' | 'not_yours' | 'unknown'

export type Voice = {
  calls: Calls
  settings: ReturnType<typeof createVoiceSettings>
  isOn(): boolean
  /** Claims the call that a ticket opens, for the first request. */
  admit(id: string, ticket: string): Promise<{ call: CallRow; admitted: Admitted } | AdmissionError>
  carry(call: CallRow, admitted: Admitted, socket: WebSocket): void
  /** Hook of agent deletion. */
  agentDeleted(tx: Tx, agentId: string): Promise<void>
  loops: Loop[]
  open(): Promise<void>
  close(): Promise<void>
}

export function createVoice(deps: VoiceDeps): Voice {
  const { db, accessRevocation, hooks, voice, voiceKey } = deps
  const tickets = createCallTickets(deps)
  const identity = createVoiceIdentity(deps)
  const transcript = createTranscript(deps)
  const liveCalls = createLiveCalls(deps)
  const calls = createCalls({ ...deps, tickets, transcript, requestEnd: liveCalls.requestEnd })
  hooks.onEnded(transcript.runEnded)
  hooks.onRemoving((tx, ids) => voiceStore(tx).removeAsks(ids))

  async function open(call: CallRow, { agent, caller }: Admitted, signal: AbortSignal) {
    const key = voiceKey()
    if (key === null) throw new VoiceDown('The platform has no key for voices any more.')
    const [{ prompt }, earlier] = await Promise.all([
      voiceStore(db).voiceOf(call.agent_id),
      chatStore(db).messages(call.session_id, contextMessages),
    ])
    return voice.open({
      key,
      model: null,
      systemInstruction: instructionOf({
        agentName: agent.label ?? agent.name,
        personName: caller.user.username,
        prompt,
        earlier,
      }),
      voiceName: call.voice_name,
      tools: [askTool],
      signal,
    })
  }

  return {
    calls,
    settings: createVoiceSettings(deps),
    isOn: () => voiceKey() !== null,

    async admit(id, text) {
      const ticket = await tickets.redeem(text)
      if (!ticket) return 'bad_ticket'
      const row = await voiceStore(db).call(id)
      if (!row) return 'unknown'
      if (row.holder_id !== ticket.holder) return 'not_yours'
      if (ticket.call !== id) return 'bad_ticket'
      const admitted = await identity.admit(ticket.identity, row.agent_id)
      if (!admitted) return 'not_yours'
      const call = await calls.connect(id)
      return call ? { call, admitted } : 'unknown'
    },

    carry(call, admitted, socket) {
      const endsInMs = voiceLongestSeconds * 1000
      const live = startLiveCall({ ...deps, transcript, open }, { call, admitted, socket, endsInMs })
      const { id, name } = admitted.agent
      const leave = accessRevocation.watch(
        {
          caller: admitted.caller,
          agent: { id, name },
          ask: admitted.ask,
          end: () => live.end('access_lost'),
        },
        admitted.epoch,
      )
      void live.done.finally(leave)
      liveCalls.add(call.id, call.agent_id, live)
    },

    async agentDeleted(tx, agentId) {
      await voiceStore(tx).removeOfAgent(agentId)
      tx.onCommitted(() => liveCalls.endCallsOfAgent(agentId))
    },

    loops: [{ name: 'voice.overdue', everySeconds: 60, run: calls.sweep }],
    open: liveCalls.open,
    close: liveCalls.close,
  }
}

/** The voice and speaking style of an agent. */
function createVoiceSettings({ db, clock }: Pick<VoiceDeps, 'db' | 'clock'>) {
  return {
    of: (agentId: string) => voiceStore(db).voiceOf(agentId),
    /** Gives a new agent the voice of another one. */
    async copy(tx: Tx, from: string, to: string) {
      await voiceStore(tx).putVoice(to, await voiceStore(tx).voiceOf(from), timestamp(clock.now()))
    },
    /** Omitted fields keep their value. */
    async put(agentId: string, patch: { prompt?: string | null; voice_name?: string | null }) {
      await voiceStore(db).putVoice(agentId, patch, timestamp(clock.now()))
      return voiceStore(db).voiceOf(agentId)
    },
  }
}
