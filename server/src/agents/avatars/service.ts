import type { AvatarType } from '@roost/contracts/agents/avatar'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type Agent, agentStore } from '../records/index.ts'
import { drawAvatar } from './drawing.ts'
import { type AvatarsTable, avatarStore } from './store.ts'

export type Avatars = {
  /** `name`: what a generated picture has the initials of. */
  of(agent: Pick<Agent, 'id' | 'name'>): Promise<{ mediaType: string; bytes: Uint8Array }>
  /** Throws `unsupported_media_type`. */
  put(agent: Agent, bytes: Uint8Array): Promise<void>
  remove(agent: Agent): Promise<void>
  /** The picture that somebody set; null for the generated one. */
  stored(agentId: string): Promise<Uint8Array | null>
  /** Sets the picture of a new agent. Throws `unsupported_media_type`. */
  restore(tx: Tx, agentId: string, bytes: Uint8Array): Promise<void>
  /** Gives a new agent the picture that somebody set for another one. */
  copy(tx: Tx, from: string, to: string): Promise<void>
}

export function createAvatars(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
}): Avatars {
  const { db, clock, events } = deps

  async function change(agent: Agent, work: (tx: Tx) => Promise<void>): Promise<void> {
    await db.atomically(async (tx) => {
      if (!(await agentStore(tx).lock(agent.id))) throw new Fault('agent_not_found')
      await work(tx)
      const event = { type: 'agent.settings_changed', agent_names: [agent.name], agent_ids: [agent.id] }
      await events.append(tx, { ...event, fields: { setting: 'avatar' } }, clock.now())
    })
  }

  function rowOf(agent_id: string, bytes: Uint8Array): AvatarsTable {
    const media_type = pictureType(bytes)
    if (!media_type) throw new Fault('unsupported_media_type', 'The picture must be a PNG, JPEG or WebP.')
    const data_base64 = Buffer.from(bytes).toString('base64')
    return { agent_id, media_type, data_base64, updated_at: timestamp(clock.now()) }
  }

  return {
    async of({ id, name }) {
      const row = await avatarStore(db).of(id)
      if (row) return { mediaType: row.media_type, bytes: Buffer.from(row.data_base64, 'base64') }
      return { mediaType: 'image/svg+xml', bytes: Buffer.from(drawAvatar(id, name)) }
    },
    async put(agent, bytes) {
      const row = rowOf(agent.id, bytes)
      await change(agent, (tx) => avatarStore(tx).put(row))
    },
    async stored(agentId) {
      const row = await avatarStore(db).of(agentId)
      return row && Buffer.from(row.data_base64, 'base64')
    },
    restore: (tx, agentId, bytes) => avatarStore(tx).put(rowOf(agentId, bytes)),
    async copy(tx, from, to) {
      const row = await avatarStore(tx).of(from)
      if (row) await avatarStore(tx).put({ ...row, agent_id: to, updated_at: timestamp(clock.now()) })
    },
    remove: (agent) => change(agent, (tx) => avatarStore(tx).remove(agent.id)),
  }
}

/** The image type by the bytes alone; null for any other content. */
function pictureType(bytes: Uint8Array): AvatarType | null {
  const text = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to))
  if (text(0, 8) === '\x89PNG\r\n\x1a\n' && text(12, 16) === 'IHDR') return 'image/png'
  if (text(0, 3) === '\xff\xd8\xff') return 'image/jpeg'
  if (text(0, 4) === 'RIFF' && text(8, 12) === 'WEBP') return 'image/webp'
  return null
}
