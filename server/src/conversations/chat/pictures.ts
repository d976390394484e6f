import type { StoredFile } from '@roost/contracts/conversations/chat'
import { imageTypes } from '@roost/contracts/runs/attachments'
import { safeHeaders } from '../../agents/workspace/index.ts'
import { type StreamAnswer, streamAnswer } from '../../http/route.ts'
import { timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Executor, Tx } from '../../ports/database/port.ts'
import type { CheckedFile } from '../../runs/attachments/index.ts'
import { pictureStore } from './picture-store.ts'
import { isPerson } from './rules.ts'
import type { SessionRow } from './store.ts'

/** Stored pictures of one person with one agent; beyond that the oldest are deleted. */
export const pictureLimits = { bytes: 100 * 1024 * 1024, count: 500 } as const

type PictureSession = Pick<SessionRow, 'id' | 'agent_id' | 'holder_id' | 'kind'>

/**
 * Stores the pictures of a message of a person and returns the notes of all its files. Other files stay in the
 * workspace, and conversations of strangers show no pictures. `checkFiles` has compared type and bytes.
 */
export async function storePictures(
  tx: Tx,
  session: PictureSession,
  { files, now }: { files: readonly CheckedFile[]; now: Date },
): Promise<StoredFile[]> {
  const store = pictureStore(tx)
  const isStored = isPerson(session.holder_id) && session.kind !== 'public'
  const notes: StoredFile[] = []
  for (const { name, mimetype, size, data_base64 } of files) {
    const picture_id = isStored && isPictureType(mimetype) ? newId() : null
    notes.push({ name, mimetype, size, picture_id })
    if (picture_id === null) continue
    const { agent_id, holder_id } = session
    const picture = { id: picture_id, agent_id, holder_id, mimetype, size, created_at: timestamp(now) }
    await store.add(session.id, { ...picture, data_base64 })
  }
  if (notes.some(({ picture_id }) => picture_id !== null)) {
    await store.remove(overLimit(await store.sizesOf(session.agent_id, session.holder_id)))
  }
  return notes
}

/** The ids of the oldest pictures above the limits; `newestFirst` has all. */
export function overLimit(newestFirst: readonly { id: string; size: number }[]): string[] {
  let bytes = 0
  return newestFirst
    .filter(({ size }, index) => {
      bytes += size
      return index >= pictureLimits.count || bytes > pictureLimits.bytes
    })
    .map(({ id }) => id)
}

/** Throws `file_not_found` for a picture that the conversation does not show, or that was deleted. */
export async function pictureAnswer(on: Executor, sessionId: string, id: string): Promise<StreamAnswer> {
  const picture = await pictureStore(on).find(sessionId, id)
  if (!picture || !isPictureType(picture.mimetype)) throw new Fault('file_not_found')
  const bytes = Buffer.from(picture.data_base64, 'base64')
  const headers = { ...safeHeaders, 'content-length': String(bytes.length) }
  return streamAnswer(picture.mimetype, piecesOf(bytes), { headers })
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes
}

/** No other type is ever delivered: browsers run none of these. */
function isPictureType(mimetype: string): boolean {
  return imageTypes.some((type) => type === mimetype)
}
