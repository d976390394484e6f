import type { SlackChannel } from '@roost/contracts/conversations/slack'
import type { AccessEnd } from '../../identity/access/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import type { ChatPlatform } from '../../ports/chat-platform/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type Connection, orUpstream } from './connection.ts'
import { type ChannelRow, slackStore } from './store.ts'

export type ChannelsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  platform: Pick<ChatPlatform, 'channel'>
  connection: Pick<Connection, 'botToken'>
  /** Ends what these principals have started on the agent. */
  accessEnded(tx: Tx, end: AccessEnd): Promise<void>
}

/** An agent with the name that ended runs report. */
export type SlackAgent = AccessEnd['agent']

export type Channels = {
  of(agentId: string): Promise<SlackChannel>
  /**
   * Runs that came from a channel, or from direct messages, to which the agent is no longer bound end. Throws
   * `feature_disabled` while Slack is not connected, `validation_error` for a channel that the bot has not
   * joined, `already_exists` when another agent has the channel or the direct messages, `upstream_error`.
   */
  bind(agent: SlackAgent, request: { channel_id: string; is_dm_default: boolean }): Promise<SlackChannel>
  /** Ends the runs that came from Slack. */
  unbind(agent: SlackAgent): Promise<SlackChannel>
}

/** Binds agents to Slack channels and direct messages. */
export function createChannels({ db, clock, platform, connection, accessEnded }: ChannelsDeps): Channels {
  /** Ends the runs of all Slack threads but those that `isBound` accepts by their channel. */
  async function endRuns(tx: Tx, agent: SlackAgent, isBound: (channelId: string) => boolean): Promise<void> {
    const isOf = (principal: string) => {
      const [kind, channelId = ''] = principal.split(':')
      return kind === 'slack' && !isBound(channelId)
    }
    const reason = 'The agent no longer answers in this Slack conversation.'
    await accessEnded(tx, { agent, isOf, reason, now: clock.now() })
  }

  return {
    of: async (agentId) => channelView(await slackStore(db).channelOf(agentId)),

    async bind(agent, { channel_id, is_dm_default }) {
      const token = await connection.botToken()
      if (!token) throw new Fault('feature_disabled', 'Slack is not connected to this platform.')
      const lookup = await orUpstream(platform.channel(token, channel_id))
      if (!lookup.ok) throw invalidField(['channel_id'], `is not found by the bot in Slack (${lookup.code})`)
      if (lookup.channel.isMember === false) {
        throw invalidField(['channel_id'], 'is a channel that the bot is not in: invite it there first')
      }
      const row: ChannelRow = {
        agent_id: agent.id,
        channel_id,
        channel_name: lookup.channel.name,
        dm_default: is_dm_default ? 1 : null,
        updated_at: timestamp(clock.now()),
      }
      await db.atomically(async (tx) => {
        const store = slackStore(tx)
        await store.removeChannel(agent.id)
        if (await store.insertChannel(row)) {
          const isDirect = (id: string) => id.startsWith('D')
          return endRuns(tx, agent, (id) => id === channel_id || (is_dm_default && isDirect(id)))
        }
        // The other agent stays unnamed: the caller may lack access to it.
        const isChannel = (await store.byChannel(channel_id)) !== null
        throw new Fault(
          'already_exists',
          isChannel ? 'Another agent answers in this channel.' : 'Another agent answers direct messages.',
        )
      })
      return channelView(row)
    },

    async unbind(agent) {
      await db.atomically(async (tx) => {
        await slackStore(tx).removeChannel(agent.id)
        await endRuns(tx, agent, () => false)
      })
      return channelView(null)
    },
  }
}

function channelView(row: ChannelRow | null): SlackChannel {
  return {
    bound: row !== null,
    channel_id: row?.channel_id ?? null,
    channel_name: row?.channel_name ?? null,
    is_dm_default: row?.dm_default === 1,
  }
}
