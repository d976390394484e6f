import { Fault } from '../../kit/fault.ts'
import type { Tx } from '../../ports/database/port.ts'
import { branchStore } from './branch-store.ts'
import { pictureStore } from './picture-store.ts'
import { branchTitle, storedFiles } from './rules.ts'
import { chatStore, type SessionRow } from './store.ts'

/**
 * Fills a new session with the messages of `source` up to a message. The runtime has no session for it, so the first
 * turn sends the messages along. Throws `session_not_found` and `not_found`.
 */
export async function fillBranch(
  tx: Tx,
  source: SessionRow,
  { messageId, blank }: { messageId: string; blank: SessionRow },
): Promise<SessionRow> {
  const store = chatStore(tx)
  // Locked, so that nobody deletes the pictures before the branch refers to them.
  if (!(await store.hold(source.id))) throw new Fault('session_not_found')
  const last = await store.message(messageId)
  if (last?.session_id !== source.id) throw new Fault('not_found', 'There is no such message.')
  const branch = { ...blank, title: branchTitle(source.title) }
  if (!(await store.insertSession(branch))) throw new Error('Inserting a session without a key conflicted.')
  const copied = branchStore(tx)
  const forgotten = await copied.copyMessages(source, { branchId: branch.id, last })
  const copies = await copied.filesOf(branch.id)
  const pictures = copies
    .flatMap(({ files }) => storedFiles(files) ?? [])
    .flatMap(({ picture_id }) => picture_id ?? [])
  await pictureStore(tx).link(source.id, branch.id, pictures)
  const filled = await store.update(branch.id, {
    message_count: copies.length,
    last_message_at: last.timestamp,
    remembers_from: forgotten,
  })
  return filled ?? branch
}
