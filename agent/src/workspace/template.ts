import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { maxTemplateArchiveBytes } from '@roost/contracts/link/template'
import { type Link, LinkDown, LinkFault } from '../link/link.ts'
import type { Identities } from '../processes/identity.ts'
import { startTar } from '../transfer/tar.ts'

export type TemplateSource = {
  link: Pick<Link, 'call'>
  /** Resolves when the link is up. */
  untilLinked(): Promise<void>
}

/** The platform may have to fetch the template's repository first. */
const answerTimeoutSeconds = 180
/** Mount point for folders of other agents. */
const mountedFolder = 'shared-in'

/**
 * Receives the archive of the agent's template into `file`, and continues after a lost link. Returns false when the
 * agent has no template. Throws the platform's fault when it cannot deliver now.
 */
export async function receiveTemplate(file: string, source: TemplateSource): Promise<boolean> {
  await using archive = await open(file, 'w', 0o600)
  let version: string | null = null
  let received = 0
  for (;;) {
    const answer = await ask(source, version, received)
    if (answer === null || answer.version === null) return false
    if (answer.version !== version) received = 0
    version = answer.version
    const bytes = Buffer.from(answer.data_base64, 'base64')
    if (answer.size > maxTemplateArchiveBytes || bytes.length === 0)
      throw new Error('the archive of the template is not valid')
    await writeAt(archive, bytes, received)
    received += bytes.length
    if (received < answer.size) continue
    await archive.truncate(received)
    return true
  }
}

/** Null from platforms up to 0.1.0, which put the template into the container. */
async function ask({ link, untilLinked }: TemplateSource, version: string | null, offset: number) {
  for (;;) {
    await untilLinked()
    try {
      return await link.call('template', { version, offset }, answerTimeoutSeconds)
    } catch (fault) {
      if (fault instanceof LinkFault && fault.code === 'unknown_message') return null
      if (!(fault instanceof LinkDown)) throw fault
    }
  }
}

async function writeAt(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}

/** Unpacks the archive as the owner of the workspace, with the modes of the template and the present time. */
export async function unpackTemplate(file: string, home: string, identities: Identities): Promise<void> {
  const tar = startTar(identities, home, [
    '--extract',
    '--same-permissions',
    '--no-same-owner',
    '--touch',
    '--delay-directory-restore',
    '--anchored',
    `--exclude=${mountedFolder}`,
  ])
  tar.output.resume()
  // Why tar ended before the end of its input is in its errors.
  await pipeline(createReadStream(file), tar.process.stdin).catch(() => {})
  const { code, errors } = await tar.ended
  if (code !== 0) throw new Error(errors || 'tar was ended')
}
