import type { Executor } from '../../ports/database/port.ts'
import type { Attachment } from './request.ts'

/** Files of runs that have not ended; deleted in the transaction that ends the run. */
export type ExecutionAttachmentsTable = {
  execution_id: string
  position: number
  name: string
  mimetype: string
  size: number
  data_base64: string
}

export type DispatchTables = { execution_attachments: ExecutionAttachmentsTable }

export function attachmentStore(executor: Executor) {
  const db = executor.withTables<DispatchTables>()
  return {
    async add(executionId: string, attachments: readonly Attachment[]): Promise<void> {
      for (const [position, attachment] of attachments.entries()) {
        await db
          .insertInto('execution_attachments')
          .values({ execution_id: executionId, position, ...attachment })
          .execute()
      }
    },
    async of(executionId: string): Promise<Attachment[]> {
      return db
        .selectFrom('execution_attachments')
        .select(['name', 'mimetype', 'size', 'data_base64'])
        .where('execution_id', '=', executionId)
        .orderBy('position')
        .execute()
    },
    async at(executionId: string, position: number): Promise<Attachment | null> {
      const row = await db
        .selectFrom('execution_attachments')
        .select(['name', 'mimetype', 'size', 'data_base64'])
        .where('execution_id', '=', executionId)
        .where('position', '=', position)
        .executeTakeFirst()
      return row ?? null
    },
    async remove(executionId: string): Promise<void> {
      await db.deleteFrom('execution_attachments').where('execution_id', '=', executionId).execute()
    },
  }
}
