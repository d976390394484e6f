import type { Executor } from '../../ports/database/port.ts'
import type { ChatPicturesTable, ChatTables } from './tables.ts'

export type PictureRow = ChatPicturesTable

/** The SQL of pictures in conversations. */
export function pictureStore(executor: Executor) {
  const db = executor.withTables<ChatTables>()
  return {
    async add(sessionId: string, picture: PictureRow): Promise<void> {
      await db.insertInto('chat_pictures').values(picture).execute()
      await db
        .insertInto('chat_session_pictures')
        .values({ session_id: sessionId, picture_id: picture.id })
        .execute()
    },

    /** Returns null unless the conversation shows this picture. */
    async find(
      sessionId: string,
      pictureId: string,
    ): Promise<Pick<PictureRow, 'mimetype' | 'data_base64'> | null> {
      const row = await db
        .selectFrom('chat_session_pictures')
        .innerJoin('chat_pictures', 'chat_pictures.id', 'chat_session_pictures.picture_id')
        .select(['chat_pictures.mimetype', 'chat_pictures.data_base64'])
        .where('chat_session_pictures.session_id', '=', sessionId)
        .where('chat_session_pictures.picture_id', '=', pictureId)
        .executeTakeFirst()
      return row ?? null
    },

    async idsOf(sessionId: string): Promise<string[]> {
      const rows = await db
        .selectFrom('chat_session_pictures')
        .select('picture_id')
        .where('session_id', '=', sessionId)
        .execute()
      return rows.map(({ picture_id }) => picture_id)
    },

    /** Shows pictures of one conversation in another one. Others are ignored. */
    async link(from: string, to: string, ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return
      await db
        .insertInto('chat_session_pictures')
        .columns(['session_id', 'picture_id'])
        .expression((e) =>
          e
            .selectFrom('chat_session_pictures')
            .select((s) => [s.cast<string>(s.val(to), 'text').as('session_id'), 'picture_id'])
            .where('session_id', '=', from)
            .where('picture_id', 'in', [...ids]),
        )
        .execute()
    },

    /** Ids and sizes of one holder's pictures with an agent, newest first. */
    async sizesOf(agentId: string, holderId: string): Promise<{ id: string; size: number }[]> {
      return db
        .selectFrom('chat_pictures')
        .select(['id', 'size'])
        .where('agent_id', '=', agentId)
        .where('holder_id', '=', holderId)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute()
    },

    async remove(ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return
      await db
        .deleteFrom('chat_pictures')
        .where('id', 'in', [...ids])
        .execute()
    },

    /** Deletes those that no conversation shows any more. */
    async removeUnused(ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return
      await db
        .deleteFrom('chat_pictures')
        .where('id', 'in', [...ids])
        .where((e) =>
          e.not(
            e.exists(
              e
                .selectFrom('chat_session_pictures')
                .select('session_id')
                .whereRef('chat_session_pictures.picture_id', '=', 'chat_pictures.id'),
            ),
          ),
        )
        .execute()
    },

    async removeOfAgent(agentId: string): Promise<void> {
      await db.deleteFrom('chat_pictures').where('agent_id', '=', agentId).execute()
    },
  }
}
