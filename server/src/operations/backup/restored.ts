import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** In the data folder until the next start: the database may name container engines of another machine. */
export const restoredFile = 'restored-engines'

export async function markRestored(dataDir: string): Promise<void> {
  await writeFile(join(dataDir, restoredFile), '')
}
