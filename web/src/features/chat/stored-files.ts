import type { StoredFile } from '@roost/contracts/conversations/chat'
import { newKey } from '../../lib/new-key.ts'
import { type Attachment, addFiles } from './attachments.ts'
import type { PictureSource } from './stored-picture.tsx'

/** The files of a stored message, to send them again. Null unless all are pictures that are still stored. */
export async function storedFiles(
  pictures: PictureSource,
  notes: readonly StoredFile[],
): Promise<File[] | null> {
  const files = notes.map(async ({ name, mimetype, picture_id }) => {
    if (picture_id === null) throw new Error(`“${name}” is not stored.`)
    const response = await pictures.open(picture_id)
    return new File([await response.blob()], name, { type: mimetype })
  })
  return Promise.all(files).catch(() => null)
}

export async function attachmentsOf(files: readonly File[]): Promise<readonly Attachment[]> {
  const none = { attachments: [], workspaceFiles: [] }
  return (await addFiles(none, files, { newId: newKey, mayWrite: false })).attachments
}
