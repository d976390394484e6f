import type { SlackChannel } from '@roost/contracts/conversations/slack'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import type { ChatPlatform } from '../../ports/chat-platform/port.ts'
import type { Db } from '../../ports/database/port.ts'
import { type Connection, orUpstream } from './connection.ts'
import { type ChannelRow, slackStore } from './store.ts'

export type ChannelsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  platform: Pick<ChatPlatform, 'channel'>
  connection: Pick<Connection, 'botToken'>
}

export type Channels = {
  of(agentId: string): Promise<SlackChannel>
  /**
   * Throws `feature_disabled` while Slack is not connected, `validation_error` for a channel that the bot has not
   * joined, `already_exists` when another agent has the channel or the direct messages, `upstream_error`.
   */
  bind(agentId: string, request: { channel_id: string; is_dm_default: boolean }): Promise<SlackChannel>
  unbind(agentId: string): Promise<SlackChannel>
}

/** Binds agents to Slack channels and direct messages. */
export function createChannels({ db, clock, platform, connection }: ChannelsDeps): Channels {
  return {
    of: async (agentId) => channelView(await slackStore(db).channelOf(agentId)),

    async bind(agentId, { channel_id, is_dm_default }) {
      const token = await connection.botToken()
      if (!token) throw new Fault('feature_disabled', 'Slack is not connected to this platform.')
      const lookup = await orUpstream(platform.channel(token, channel_id))
      if (!lookup.ok) throw invalidField(['channel_id'], `is not found by the bot in Slack (${lookup.code})`)
      if (lookup.channel.isMember === false) {
        throw invalidField(['channel_id'], 'is a channel that the bot is not in: invite it there first')
      }
      const row: ChannelRow = {
        agent_id: agentId,
        channel_id,
        channel_name: lookup.channel.name,
        dm_default: is_dm_default ? 1 : null,
        updated_at: timestamp(clock.now()),
      }
      await db.atomically(async (tx) => {
        const store = slackStore(tx)
        await store.removeChannel(agentId)
        if (await store.insertChannel(row)) return
        // The other agent stays unnamed: the caller may lack access to it.
        const isChannel = (await store.byChannel(channel_id)) !== null
        throw new Fault(
          'already_exists',
          isChannel ? 'Another agent answers in this channel.' : 'Another agent answers direct messages.',
        )
      })
      return channelView(row)
    },

    async unbind(agentId) {
      await slackStore(db).removeChannel(agentId)
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
