import type { Loop } from '../../background/loops.ts'
import { secondsLater, timestamp } from '../../kit/clock.ts'
import type { RunHooks } from '../../runs/executions/index.ts'
import { outcomeMessage } from '../chat/index.ts'
import { type Channels, type ChannelsDeps, createChannels } from './channels.ts'
import { type Connection, type ConnectionDeps, createConnection } from './connection.ts'
import { createOutgoing, type OutgoingDeps } from './outgoing.ts'
import { createReceive, type ReceiveDeps } from './receive.ts'
import { slackStore } from './store.ts'

export type SlackDeps = ConnectionDeps &
  Omit<ChannelsDeps, 'connection'> &
  Omit<OutgoingDeps, 'connection'> &
  Omit<ReceiveDeps, 'connection' | 'outgoing'> & { hooks: Pick<RunHooks, 'onEnded'> }

export type Slack = {
  connection: Connection
  channels: Channels
  receive: ReturnType<typeof createReceive>
  loops: Loop[]
  /** Resolves when the sends started by commits have been attempted. */
  idle(): Promise<void>
  close(): Promise<void>
}

/** Slack repeats an event for up to a day. */
const eventRetentionSeconds = 36 * 3600

export function createSlackConversations(deps: SlackDeps): Slack {
  const { db, clock, hooks } = deps
  const connection = createConnection(deps)
  const outgoing = createOutgoing({ ...deps, connection })

  hooks.onEnded(async (tx, row) => {
    if (row.triggered_by !== 'slack' || row.session_id === null) return
    const thread = await slackStore(tx).threadOf(row.session_id)
    if (!thread) return
    const answer =
      row.status === 'success' ? row.response?.trim() || 'There is nothing to say to that.' : null
    await outgoing.enqueue(tx, {
      agentId: row.agent_id,
      channelId: thread.channel_id,
      threadTs: thread.thread_ts,
      executionId: row.id,
      markdown: answer ?? outcomeMessage(row.error_code),
    })
  })

  return {
    connection,
    channels: createChannels({ ...deps, connection }),
    receive: createReceive({ ...deps, connection, outgoing }),
    loops: [
      { name: 'slack.posts', everySeconds: 5, deadlineSeconds: 120, run: outgoing.flush },
      {
        name: 'slack.forget',
        everySeconds: 3600,
        run: () => slackStore(db).removeOld(timestamp(secondsLater(clock.now(), -eventRetentionSeconds))),
      },
    ],
    idle: outgoing.idle,
    close: outgoing.close,
  }
}
