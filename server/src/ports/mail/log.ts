import type { Log } from '../log.ts'
import { checkMail, type Mailer } from './port.ts'

/** Writes mail to the log, text and all: for work on the platform, where nobody else reads it. */
export function logMailer(log: Pick<Log, 'info'>, from: string): Mailer {
  return {
    kind: 'log',
    async send(mail) {
      checkMail(mail)
      log.info({ from, to: mail.to, subject: mail.subject, text: mail.text }, 'mail')
    },
    async close() {},
  }
}
