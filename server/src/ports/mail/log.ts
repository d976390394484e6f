import type { Log } from '../log.ts'
import { checkMail, type Mailer } from './port.ts'

/** Logs mail including its text, for development. */
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
