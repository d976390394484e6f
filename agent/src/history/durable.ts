import { mkdir, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Replaces a file of this program; after a crash it has the old or the new content. */
export async function replaceFile(file: string, parts: readonly (string | Buffer)[]): Promise<void> {
  const part = `${file}.part`
  await mkdir(dirname(file), { recursive: true })
  {
    await using written = await open(part, 'w', 0o600)
    for (const each of parts) await written.writeFile(each)
    await written.sync()
  }
  await rename(part, file)
  await using folder = await open(dirname(file), 'r')
  await folder.sync()
}
