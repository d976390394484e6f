import type { AgentsArea } from '../agents/area.ts'
import type { Loop } from '../background/loops.ts'
import type { Idempotency, WorkStates } from '../foundation/idempotency/index.ts'
import type { Outbox } from '../foundation/outbox/index.ts'
import type { RateLimits } from '../foundation/rate-limits/index.ts'
import type { SweepDeps } from '../foundation/settings/index.ts'
import type { Vault } from '../foundation/vault/index.ts'
import type { Route } from '../http/route.ts'
import type { SocketRoute } from '../http/sockets.ts'
import type { IdentityArea } from '../identity/area.ts'
import { addressesOf } from '../identity/users/index.ts'
import type { Clock } from '../kit/clock.ts'
import type { Db } from '../ports/database/port.ts'
import type { Log } from '../ports/log.ts'
import type { RunRecords, RunsArea } from '../runs/area.ts'
import { type CallsDeps, callRoutes, callSocketRoutes, createCalls } from './calls/index.ts'
import { type CanvasFeature, canvasRoutes, createCanvas } from './canvas/index.ts'
import {
  type Chat,
  type ChatDeps,
  chatRoutes,
  chatShareRoutes,
  createChat,
  createChatShares,
  visitorRetention,
  visitorRetentionKey,
} from './chat/index.ts'
import { createPaid, type PaidDeps, paidRoutes } from './paid/index.ts'
import { createPublicChat, type PublicChatDeps, publicRoutes } from './public/index.ts'
import { createSlackConversations, type SlackDeps, slackRoutes } from './slack/index.ts'
import { createVoice, type VoiceDeps, voiceRoutes, voiceSocketRoutes } from './voice/index.ts'
import {
  createWorkspaceChat,
  type WorkspaceChat,
  type WorkspaceChatDeps,
  workspaceChatRoutes,
} from './workspace-chat/index.ts'

export type ConversationsAreaDeps = Pick<ChatDeps, 'agentName'> &
  Pick<WorkspaceChatDeps, 'mail' | 'isExchangeEntitled' | 'baseUrl' | 'asks' | 'rateReport'> & {
    accessRevocation: PublicChatDeps['accessRevocation']
    db: Db
    clock: Clock
    log: Log
    limits: RateLimits
    vault: Vault
    events: Pick<Outbox, 'append' | 'signal' | 'on'>
    idempotency: Pick<Idempotency, 'enter'>
    works: Pick<WorkStates, 'register'>
    identity: Pick<
      IdentityArea,
      | 'users'
      | 'allowList'
      | 'changes'
      | 'codes'
      | 'devices'
      | 'onSuspended'
      | 'identify'
      | 'sessions'
      | 'keys'
    >
    ephemeral: VoiceDeps['ephemeral']
    voice: Pick<VoiceDeps, 'voice' | 'voiceKey'>
    calls: Pick<CallsDeps, 'telephony' | 'isOn'>
    agents: Pick<
      AgentsArea,
      | 'hooks'
      | 'lifecycle'
      | 'agentRecords'
      | 'agentAccess'
      | 'agentManagement'
      | 'avatars'
      | 'workspace'
      | 'principals'
    >
    records: RunRecords
    runs: Pick<RunsArea, 'dispatch' | 'playbooks'>
    slack: Pick<SlackDeps, 'platform' | 'settings'>
    publicLinks: Pick<PublicChatDeps, 'vault' | 'publicUrl' | 'isOn'>
    /** How long conversations of strangers are kept, and the alerts about it. */
    retention: Pick<SweepDeps, 'settings' | 'alerts'>
    payments: PaidDeps['payments']
  }

export type ConversationsArea = {
  chat: Chat
  workspaceChat: WorkspaceChat
  canvases: CanvasFeature['canvases']
  routes: Route[]
  /** WebSocket paths of the public listener. */
  socketRoutes: SocketRoute[]
  loops: Loop[]
  open(): Promise<void>
  /** Waits for outgoing messages; call it before the database closes. */
  close(): Promise<void>
}

/** Wires the features through which people talk with agents. */
export function createConversationsArea(deps: ConversationsAreaDeps): ConversationsArea {
  const { records, runs, works, agents, identity } = deps
  const chat = createChat({ ...deps, ...records, dispatch: runs.dispatch })
  works.register(chat.workState)
  const chatShares = createChatShares({
    ...deps,
    users: identity.users,
    agentRecords: agents.agentRecords,
    principals: agents.principals,
    sessions: chat.sessions,
  })
  // After chat: chat stores the message of a finished turn before other hooks run.
  const workspaceChat = createWorkspaceChat({
    ...deps,
    ...records,
    ...identity,
    agentRecords: agents.agentRecords,
    agentAccess: agents.agentAccess,
    workspace: agents.workspace,
    dispatch: runs.dispatch,
    playbooks: runs.playbooks,
    descriptionOf: agents.agentManagement.descriptionOf,
    isVoiceOn: () => deps.voice.voiceKey() !== null,
  })
  works.register(workspaceChat.workState)
  identity.onSuspended(async (tx, account) => {
    for (const email of addressesOf(account)) await workspaceChat.principals.closeAllOf(tx, email)
  })
  // After chat too, for the same reason.
  const voice = createVoice({
    ...deps,
    ...records,
    ...deps.voice,
    principals: workspaceChat.principals,
    roster: workspaceChat.roster,
    sessions: identity.sessions,
    keys: identity.keys,
    agentRecords: agents.agentRecords,
    agentAccess: agents.agentAccess,
    dispatch: runs.dispatch,
    executions: records.executions,
    markHeard: workspaceChat.conversations.markHeard,
  })
  const calls = createCalls({
    ...deps,
    ...deps.voice,
    ...deps.calls,
    hooks: records.hooks,
    settle: records.executions.settle,
    executions: records.executions,
    dispatch: runs.dispatch,
    voiceOf: voice.settings.of,
  })
  works.register(calls.workState)
  agents.lifecycle.hooks.onStopping((tx, agent) => calls.agentStopped(tx, agent.id))
  const canvas = createCanvas({
    ...deps,
    identify: identity.identify,
    agentRecords: agents.agentRecords,
    agentAccess: agents.agentAccess,
    workspace: workspaceChat,
  })
  const publicChat = createPublicChat({
    ...deps,
    ...records,
    ...deps.publicLinks,
    accessEnded: agents.hooks.accessEnded,
    descriptionOf: agents.agentManagement.descriptionOf,
    pictureOf: agents.avatars.of,
    retentionDays: () => Number(deps.retention.settings.value(visitorRetentionKey)),
    codes: identity.codes,
    devices: identity.devices,
    agentRecords: agents.agentRecords,
    dispatch: runs.dispatch,
  })
  const paid = createPaid({
    ...deps,
    ...records,
    agentRecords: agents.agentRecords,
    dispatch: runs.dispatch,
  })
  const slack = createSlackConversations({
    ...deps,
    ...records,
    ...deps.slack,
    accessEnded: agents.hooks.accessEnded,
    agentRecords: agents.agentRecords,
    dispatch: runs.dispatch,
  })
  agents.hooks.onForked(async (tx, { source, fork }) => {
    await voice.settings.copy(tx, source.id, fork.id)
    return {}
  })
  // Before the hooks that delete the conversations these rows refer to.
  agents.hooks.onDeleting((tx, { agent }) => calls.agentDeleted(tx, agent.id))
  agents.hooks.onDeleting((tx, { agent }) => voice.agentDeleted(tx, agent.id))
  agents.hooks.onDeleting((tx, { agent }) => publicChat.agentDeleted(tx, agent.id))
  agents.hooks.onDeleting((tx, { agent }) => workspaceChat.agentDeleted(tx, agent.id))
  agents.hooks.onDeleting((tx, { agent }) => chat.agentDeleted(tx, agent.id))
  return {
    chat,
    workspaceChat,
    canvases: canvas.canvases,
    routes: [
      ...chatRoutes(chat),
      ...chatShareRoutes(chatShares),
      ...workspaceChatRoutes(workspaceChat),
      ...voiceRoutes(voice, { sessions: chat.sessions, workspaceChat, agentRecords: agents.agentRecords }),
      ...callRoutes(calls),
      ...canvasRoutes(canvas),
      ...publicRoutes(publicChat),
      ...paidRoutes(paid, deps.limits),
      ...slackRoutes(slack),
    ],
    socketRoutes: [...voiceSocketRoutes(voice), ...callSocketRoutes(calls)],
    open: voice.open,
    loops: [
      visitorRetention({ ...deps, ...deps.retention }),
      ...workspaceChat.loops,
      ...voice.loops,
      ...calls.loops,
      ...publicChat.loops,
      ...paid.loops,
      ...slack.loops,
    ],
    async close() {
      await calls.close()
      await voice.close()
      await slack.close()
      await workspaceChat.settled()
      await publicChat.close()
    },
  }
}
