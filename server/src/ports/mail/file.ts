import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import { checkMail, type Mailer, MailFailed } from './port.ts'

/**
 * Writes each mail to its own file `<time>-<id>.eml`, readable only by its owner. Loads the library with the
 * first mail.
 */
export function fileMailer(folder: string, from: string, clock: Pick<Clock, 'now'>): Mailer {
  return {
    kind: 'file',
    async send(mail) {
      checkMail(mail)
      try {
        const { createTransport } = await import('nodemailer')
        const composer = createTransport({ streamTransport: true, buffer: true })
        const { message } = await composer.sendMail({ from, ...mail, date: clock.now() })
        const name = `${clock.now().toISOString().replaceAll(':', '-')}-${newId()}.eml`
        await mkdir(folder, { recursive: true, mode: 0o700 })
        // Renamed when complete, because somebody may be watching the folder.
        const written = join(folder, `.${name}`)
        await writeFile(written, message, { mode: 0o600 })
        await rename(written, join(folder, name))
      } catch (cause) {
        throw new MailFailed(`The mail could not be written to ${folder}.`, { cause })
      }
    },
    async close() {},
  }
}
